//===- ReductionOps.td - Fewer elements out than in -----------------------===//

#ifndef TFC_DIALECTS_DFG_REDUCTIONOPS_TD
#define TFC_DIALECTS_DFG_REDUCTIONOPS_TD

include "dialects/dfg/DfgBase.td"

/// `axis` lists the axes to reduce, negative ones counted from the end; without it all are reduced.
class Dfg_ReductionOp<string mnemonic, string dtypes, list<Trait> traits = [Dfg_Differentiable]> :
    Dfg_PureOp<mnemonic, traits> {
  let arguments = (ins Dfg_Tensor:$x, OptionalAttr<DenseI64ArrayAttr>:$axis,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$keep_dims);
  let results = (outs Dfg_Tensor:$y);
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

def Dfg_SumOp : Dfg_ReductionOp<"sum", "Numeric"> {
  let summary = "Sums over axes";
  let description = [{
    f16 and bf16 accumulate in f32; integers wrap. The sum of nothing is 0.

    ```mlir
    %y = dfg.sum %x {axis = array<i64: 1>} : tensor<4x8xf32>
    ```
  }];
}

def Dfg_MeanOp : Dfg_ReductionOp<"mean", "Float"> {
  let summary = "Averages over axes";
  let description = [{
    The mean of nothing is NaN.

    ```mlir
    %y = dfg.mean %x : tensor<4x8xf32>
    ```
  }];
}

def Dfg_MaxOp : Dfg_ReductionOp<"max", "Numeric"> {
  let summary = "Takes the largest element along axes";
  let description = [{
    NaN if any element is NaN. The maximum of nothing is minus infinity, or
    the smallest integer. Elements that tie share the gradient equally.

    ```mlir
    %y = dfg.max %x {axis = array<i64: -1>, keep_dims = true} : tensor<4x8xf32>
    ```
  }];
}

#endif // TFC_DIALECTS_DFG_REDUCTIONOPS_TD
