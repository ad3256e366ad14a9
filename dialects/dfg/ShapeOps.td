//===- ShapeOps.td - The same elements in another shape -------------------===//

#ifndef TFC_DIALECTS_DFG_SHAPEOPS_TD
#define TFC_DIALECTS_DFG_SHAPEOPS_TD

include "dialects/dfg/DfgBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

def Dfg_ConstantOp : Dfg_Op<"constant", [Pure, ConstantLike, InferTypeOpAdaptor, Dfg_SourceRole,
    Dfg_SizeEvaluation]> {
  let summary = "Holds a tensor known at compile time";
  let description = [{
    Large values are dense resources: they are not part of the IR's text, and
    are emitted as a separate section.

    ```mlir
    %c = dfg.constant dense<1.0> : tensor<4xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Dfg_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Dfg_SizeOp : Dfg_PureOp<"size", [Dfg_ViewRole, Dfg_Numbering, Dfg_SourceRole, Dfg_SizeEvaluation]> {
  let summary = "Returns a size as a scalar";
  let description = [{
    The value of an expression over named dimensions, as i64 (or i32).

    ```mlir
    %n = dfg.size {value = #dfg.dims<n>, dtype = i64}
    ```
  }];
  let arguments = (ins Dfg_NumberDims:$value, Dfg_Dtype:$dtype);
  let results = (outs Dfg_IndexTensor:$result);
  let assemblyFormat = "attr-dict";
  let hasFolder = 1;
}

def Dfg_BroadcastOp : Dfg_PureOp<"broadcast", [Dfg_ViewRole, Dfg_Differentiable, Dfg_SizeEvaluation]> {
  let summary = "Repeats a tensor along new axes and axes of size 1";
  let description = [{
    ```mlir
    %y = dfg.broadcast %x {shape = #dfg.dims<n, 8>} : tensor<8xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Dfg_Tensor:$x, Dfg_DimsAttr:$shape);
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasFolder = 1;
}

def Dfg_ReshapeOp : Dfg_PureOp<"reshape", [Dfg_AliasRole, Dfg_SelectionRole, Dfg_Differentiable, Dfg_SizeEvaluation]> {
  let summary = "Changes the shape, keeping the elements in row-major order";
  let description = [{
    The number of elements must be provably the same. One size may be -1: it is
    computed from the others.

    ```mlir
    %y = dfg.reshape %x {shape = #dfg.dims<n, 8>} : tensor<?x2x4xf32, #dfg.dims<n, 2, 4>>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Dfg_Tensor:$x, Dfg_DimsAttr:$shape);
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasFolder = 1;
}

def Dfg_TransposeOp : Dfg_PureOp<"transpose", [Dfg_ViewRole, Dfg_SelectionRole, Dfg_Differentiable,
    Dfg_SizeEvaluation]> {
  let summary = "Permutes the axes";
  let description = [{
    Axis `i` of the result is axis `permutation[i]` of `x`. Without a
    permutation the order of the axes is reversed.

    ```mlir
    %y = dfg.transpose %x {permutation = array<i64: 1, 0>} : tensor<4x8xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Dfg_Tensor:$x, OptionalAttr<DenseI64ArrayAttr>:$permutation);
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The permutation with nonnegative axes; the reversal if none is given.
    ::llvm::SmallVector<int64_t> getPermutationVector();
  }];
}

#endif // TFC_DIALECTS_DFG_SHAPEOPS_TD
