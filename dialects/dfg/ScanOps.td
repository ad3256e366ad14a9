//===- ScanOps.td - Reductions that keep every step -----------------------===//

#ifndef TFC_DIALECTS_DFG_SCANOPS_TD
#define TFC_DIALECTS_DFG_SCANOPS_TD

include "dialects/dfg/DfgBase.td"

/// Combines the elements before each element along an axis.
class Dfg_ScanOp<string mnemonic> : Dfg_PureOp<mnemonic, [Dfg_Differentiable]> {
  let arguments = (ins Dfg_Tensor:$x, Dfg_Axis<"0">:$axis,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$exclusive,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$reverse);
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        $cppClass::Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      return inferScan(location, "}] # mnemonic # [{", adaptor.getX().getType(),
                       adaptor.getAxis(), results);
    }
  }];
}

def Dfg_CumsumOp : Dfg_ScanOp<"cumsum"> {
  let summary = "Sums the elements up to each one along an axis";
  let description = [{
    With `exclusive` without the element itself, with `reverse` from the last
    element on. Integers wrap.

    ```mlir
    %y = dfg.cumsum %x {axis = 1 : i64} : tensor<4x8xf32>
    ```
  }];
}

def Dfg_CumprodOp : Dfg_ScanOp<"cumprod"> {
  let summary = "Multiplies the elements up to each one along an axis";
  let description = [{
    With `exclusive` without the element itself, with `reverse` from the last
    element on. Integers wrap. The gradient divides by the elements: it is not
    finite where one is 0.

    ```mlir
    %y = dfg.cumprod %x {axis = 1 : i64} : tensor<4x8xf32>
    ```
  }];
}

#endif // TFC_DIALECTS_DFG_SCANOPS_TD
