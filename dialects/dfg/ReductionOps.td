//===- ReductionOps.td - Reductions over axes -----------------------------===//

#ifndef TFC_DIALECTS_DFG_REDUCTIONOPS_TD
#define TFC_DIALECTS_DFG_REDUCTIONOPS_TD

include "dialects/dfg/DfgBase.td"

/// `axis` lists the axes to reduce, negative ones counted from the end; by default all are reduced.
class Dfg_ReductionOp<string mnemonic, string dtypes, list<Trait> traits = [Dfg_Differentiable]> :
    Dfg_PureOp<mnemonic, !listconcat([Dfg_ReductionRole], traits)> {
  let arguments = (ins Dfg_TensorNamed<dtypes>.type:$x, OptionalAttr<DenseI64ArrayAttr>:$axis,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$keep_dims);
  let results = (outs Dfg_TensorNamed<dtypes>.type:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        $cppClass::Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      return inferReduction(location, "}] # mnemonic # [{", Dtypes::}] # dtypes # [{,
                            adaptor.getX().getType(), adaptor.getAxisAttr(),
                            adaptor.getKeepDims(), results);
    }
  }];
}

def Dfg_SumOp : Dfg_ReductionOp<"sum", "Numeric", [Dfg_Differentiable, Dfg_SizeEvaluation]> {
  let summary = "Sums over axes";
  let description = [{
    f16 and bf16 accumulate in f32; integers wrap. NaN and infinities of both
    signs result in NaN. The sum of no elements is 0.

    ```mlir
    %y = dfg.sum %x {axis = array<i64: 1>} : tensor<4x8xf32>
    ```
  }];
}

def Dfg_MeanOp : Dfg_ReductionOp<"mean", "Float", [Dfg_Differentiable, Dfg_Composite]> {
  let summary = "Averages over axes";
  let description = [{
    f16 and bf16 are summed in f32. The mean of no elements is NaN.

    ```mlir
    %y = dfg.mean %x : tensor<4x8xf32>
    ```
  }];
  let specialValues = "NaN and infinities of both signs result in NaN.";
}

def Dfg_MaxOp : Dfg_ReductionOp<"max", "Numeric", [Dfg_Differentiable, Dfg_SizeEvaluation]> {
  let summary = "Takes the largest element along axes";
  let description = [{
    NaN if any element is NaN; for 0 and -0 either. The maximum of no elements is minus
    infinity, or the smallest integer. Equal extremes share the gradient equally.

    ```mlir
    %y = dfg.max %x {axis = array<i64: -1>, keep_dims = true} : tensor<4x8xf32>
    ```
  }];
}

def Dfg_MinOp : Dfg_ReductionOp<"min", "Numeric", [Dfg_Differentiable, Dfg_SizeEvaluation]> {
  let summary = "Takes the smallest element along axes";
  let description = [{
    NaN if any element is NaN; for 0 and -0 either. The minimum of no elements is infinity,
    or the largest integer. Equal extremes share the gradient equally.

    ```mlir
    %y = dfg.min %x {axis = array<i64: -1>, keep_dims = true} : tensor<4x8xf32>
    ```
  }];
}

def Dfg_ProdOp : Dfg_ReductionOp<"prod", "Numeric", [Dfg_Differentiable, Dfg_SizeEvaluation]> {
  let summary = "Multiplies over axes";
  let description = [{
    f16 and bf16 accumulate in f32; integers wrap. NaN, and 0 with an infinity,
    result in NaN. The product of no elements is 1.

    ```mlir
    %y = dfg.prod %x {axis = array<i64: 1>} : tensor<4x8xf32>
    ```
  }];
}

def Dfg_AllOp : Dfg_ReductionOp<"all", "Bool", [Dfg_SizeEvaluation]> {
  let summary = "Tests whether all elements along axes are true";
  let description = [{
    True for no elements.

    ```mlir
    %y = dfg.all %x {axis = array<i64: 1>} : tensor<4x8xi1>
    ```
  }];
  let specialValues = "None: bool tensors have no special values.";
}

def Dfg_AnyOp : Dfg_ReductionOp<"any", "Bool", [Dfg_SizeEvaluation]> {
  let summary = "Tests whether any element along axes is true";
  let description = [{
    False for no elements.

    ```mlir
    %y = dfg.any %x {axis = array<i64: 1>} : tensor<4x8xi1>
    ```
  }];
  let specialValues = "None: bool tensors have no special values.";
}

def Dfg_LogsumexpOp : Dfg_ReductionOp<"logsumexp", "Float", [Dfg_Differentiable, Dfg_Composite]> {
  let summary = "Takes the logarithm of a sum of exponentials over axes";
  let description = [{
    `log(sum(exp(x)))`, without overflow; minus infinity for no elements or if
    all are, infinity if one is, NaN if one is NaN.

    ```mlir
    %y = dfg.logsumexp %x {axis = array<i64: 1>} : tensor<4x8xf32>
    ```
  }];
}

/// The position of an extreme element along one axis.
class Dfg_ArgReductionOp<string mnemonic> : Dfg_PureOp<mnemonic, [Dfg_Composite, Dfg_Numbering]> {
  let arguments = (ins Dfg_NumericTensor:$x, Dfg_Axis<"-1">:$axis, OptionalAttr<Dfg_Dtype>:$dtype,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$keep_dims);
  let results = (outs Dfg_IndexTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        $cppClass::Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      return inferArgReduction(location, "}] # mnemonic # [{", adaptor.getX().getType(),
                               adaptor.getAxis(), adaptor.getDtype(), adaptor.getKeepDims(),
                               results);
    }
    ::tfc::dfg::Numbers $cppClass::getNumbers() {
      return {{sizeOfAxis(getX().getType(), getAxis()), elementTypeOf(getType())}};
    }
  }];
}

def Dfg_ArgmaxOp : Dfg_ArgReductionOp<"argmax"> {
  let summary = "Finds the largest element along an axis";
  let description = [{
    The position, i32 by default, of the first of equal elements, or of the
    first NaN if there is one; 0 for no elements.

    ```mlir
    %y = dfg.argmax %x {axis = 1 : i64} : tensor<4x8xf32>
    ```
  }];
}

def Dfg_ArgminOp : Dfg_ArgReductionOp<"argmin"> {
  let summary = "Finds the smallest element along an axis";
  let description = [{
    The position, i32 by default, of the first of equal elements, or of the
    first NaN if there is one; 0 for no elements.

    ```mlir
    %y = dfg.argmin %x {axis = 1 : i64} : tensor<4x8xf32>
    ```
  }];
}

def Dfg_MaxWithIndexOp : Dfg_PureOp<"max_with_index",
    [Dfg_ReductionRole, Dfg_Differentiable, Dfg_Composite, Dfg_Numbering]> {
  let summary = "Finds the largest elements over axes, and their positions";
  let description = [{
    `y` is the result of `max`, and `index` the position, i32 by default, of the
    first of equal elements, or of the first NaN if there is one; 0 for no
    elements. Positions count the elements of the axes in row-major order. The
    gradient of `y` goes to these positions.

    ```mlir
    %y, %index = dfg.max_with_index %x {axis = array<i64: 1, 2>} : tensor<4x3x3x8xf32>
    ```
  }];
  let arguments = (ins Dfg_NumericTensor:$x, OptionalAttr<DenseI64ArrayAttr>:$axis,
                       OptionalAttr<Dfg_Dtype>:$dtype);
  let results = (outs Dfg_NumericTensor:$y, Dfg_IndexTensor:$index);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

#endif // TFC_DIALECTS_DFG_REDUCTIONOPS_TD
