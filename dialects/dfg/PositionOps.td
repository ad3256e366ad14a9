//===- PositionOps.td - Tensors made from positions -----------------------===//

#ifndef TFC_DIALECTS_DFG_POSITIONOPS_TD
#define TFC_DIALECTS_DFG_POSITIONOPS_TD

include "dialects/dfg/DfgBase.td"

def Dfg_IotaOp : Dfg_PureOp<"iota", [Dfg_ViewRole, Dfg_Numbering]> {
  let summary = "Counts from 0";
  let description = [{
    `[0, 1, ..., size - 1]` of the given dtype, by default i32. An integer type
    must hold all of these numbers, otherwise the call fails.

    ```mlir
    %y = dfg.iota {size = #dfg.dims<n>, dtype = i64}
    ```
  }];
  let specialValues = "Numbers are rounded to a floating-point type.";
  let arguments = (ins Dfg_DimsAttr:$size, OptionalAttr<Dfg_Dtype>:$dtype);
  let results = (outs Dfg_NumericTensor:$y);
  let assemblyFormat = "attr-dict";
}

def Dfg_OneHotOp : Dfg_PureOp<"one_hot", [Dfg_Composite]> {
  let summary = "Encodes indices as one-hot rows";
  let description = [{
    A new last axis of size `depth` holds `on_value` at the index and
    `off_value` elsewhere, everywhere for an index that is out of range. The
    dtype is f32 by default.

    ```mlir
    %y = dfg.one_hot %i {depth = #dfg.dims<10>} : tensor<4xi32>
    ```
  }];
  let arguments = (ins Dfg_IndexTensor:$indices, Dfg_DimsAttr:$depth,
                       DefaultValuedOptionalAttr<F64Attr, "1.0">:$on_value,
                       DefaultValuedOptionalAttr<F64Attr, "0.0">:$off_value,
                       OptionalAttr<Dfg_Dtype>:$dtype);
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$indices attr-dict `:` type($indices)";
}

def Dfg_EyeOp : Dfg_PureOp<"eye", [Dfg_Composite]> {
  let summary = "Creates an identity matrix";
  let description = [{
    f32 by default.

    ```mlir
    %y = dfg.eye {size = #dfg.dims<4>}
    ```
  }];
  let arguments = (ins Dfg_DimsAttr:$size, OptionalAttr<Dfg_Dtype>:$dtype);
  let results = (outs Dfg_NumericTensor:$y);
  let assemblyFormat = "attr-dict";
}

/// Keeps the elements of matrices on one side of a diagonal.
class Dfg_TriangleOp<string mnemonic, string dtypes, dag extra> :
    Dfg_PureOp<mnemonic, [Dfg_Differentiable, Dfg_Composite]> {
  let arguments = !con((ins Dfg_TensorNamed<dtypes>.type:$x), extra);
  let results = (outs Dfg_TensorNamed<dtypes>.type:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        $cppClass::Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      return inferTriangle(location, "}] # mnemonic # [{", Dtypes::}] # dtypes # [{,
                           adaptor.getX().getType(), results);
    }
  }];
}

def Dfg_TrilOp : Dfg_TriangleOp<"tril", "Numeric",
    (ins DefaultValuedOptionalAttr<I64Attr, "0">:$diagonal)> {
  let summary = "Keeps the lower triangle of matrices";
  let description = [{
    Elements of the last two axes with `column > row + diagonal` become 0.

    ```mlir
    %y = dfg.tril %x : tensor<4x4xf32>
    ```
  }];
  let specialValues =
      "The others pass as they are; NaN and infinities that are dropped leave no trace.";
}

def Dfg_TriuOp : Dfg_TriangleOp<"triu", "Numeric",
    (ins DefaultValuedOptionalAttr<I64Attr, "0">:$diagonal)> {
  let summary = "Keeps the upper triangle of matrices";
  let description = [{
    Elements of the last two axes with `column < row + diagonal` become 0.

    ```mlir
    %y = dfg.triu %x : tensor<4x4xf32>
    ```
  }];
  let specialValues =
      "The others pass as they are; NaN and infinities that are dropped leave no trace.";
}

def Dfg_CausalMaskOp : Dfg_TriangleOp<"causal_mask", "Float", (ins)> {
  let summary = "Masks scores of later positions";
  let description = [{
    Elements of the last two axes with `column > row` become minus infinity, so
    that `softmax` assigns them no weight.

    ```mlir
    %y = dfg.causal_mask %x : tensor<2x4x4xf32>
    ```
  }];
  let specialValues = "Other elements pass as they are; masked elements may be NaN.";
}

#endif // TFC_DIALECTS_DFG_POSITIONOPS_TD
