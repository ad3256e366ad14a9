//===- DfgInterfaces.td - What passes ask of an operation -----------------===//

#ifndef TFC_DIALECTS_DFG_DFGINTERFACES_TD
#define TFC_DIALECTS_DFG_DFGINTERFACES_TD

include "mlir/IR/OpBase.td"

def Dfg_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::tfc::dfg";
  let description = "An operation that knows the gradients of its operands.";
  let methods = [
    InterfaceMethod<[{
      Builds the gradient of each operand from those of the results, in `dfg`
      operations alone, so that it can be differentiated again. `resultGrads`
      holds one value per result; null where the loss does not depend on it.
      Returns one value per operand, null where no gradient flows (indices,
      conditions). A gradient may still have the broadcast shape of the
      result: the caller sums it down to the operand's shape.
    }], "::llvm::SmallVector<::mlir::Value>", "buildOperandGradients",
    (ins "::mlir::OpBuilder &":$b, "::mlir::ValueRange":$resultGrads)>
  ];
}

def Dfg_ScalarOpInterface : OpInterface<"ScalarOpInterface"> {
  let cppNamespace = "::tfc::dfg";
  let description = [{
    An elementwise operation: its result's element depends on the operands'
    elements at the same (broadcast) position alone.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the computation of one element with `arith` and `math`. Scalars
      are signless; those of f16 and bf16 tensors arrive and leave as f32.
    }], "::mlir::Value", "buildScalar",
    (ins "::mlir::OpBuilder &":$b, "::mlir::ValueRange":$scalars)>
  ];
}

#endif // TFC_DIALECTS_DFG_DFGINTERFACES_TD
