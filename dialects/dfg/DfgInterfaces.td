//===- DfgInterfaces.td - What passes ask of an operation -----------------===//

#ifndef TFC_DIALECTS_DFG_DFGINTERFACES_TD
#define TFC_DIALECTS_DFG_DFGINTERFACES_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Dfg_Failure : I32EnumAttr<"Failure", "The status of a call whose data are refused", [
    I32EnumAttrCase<"OutOfRange", 0, "out_of_range">,
    I32EnumAttrCase<"InvalidArgument", 1, "invalid_argument">,
    I32EnumAttrCase<"FailedPrecondition", 2, "failed_precondition">]> {
  let cppNamespace = "::tfc::dfg";
}

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

def Dfg_CompositeOpInterface : OpInterface<"CompositeOpInterface"> {
  let cppNamespace = "::tfc::dfg";
  let description = [{
    An operation that is a shorthand for a few others. It stays whole as long
    as that serves gradients and fusion; the lowering takes it apart.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the operation of simpler `dfg` operations. Returns one value per
      result, of the result's type.
    }], "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mlir::OpBuilder &":$b)>
  ];
}

def Dfg_CheckedOpInterface : OpInterface<"CheckedOpInterface"> {
  let cppNamespace = "::tfc::dfg";
  let description = [{
    An operation whose data can make the call fail: an index out of range, an
    integer division by zero. A `dfg.check` is built for it before any effect.
    The operation itself must not trap or touch memory out of bounds, since
    it may run before the check is evaluated.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds, of `dfg` operations, a scalar of type bool that tells whether the
      data are valid; null if they are known to be.
    }], "::mlir::Value", "buildCheck", (ins "::mlir::OpBuilder &":$b)>,
    InterfaceMethod<[{
      What the call's error message says if the data are not valid.
    }], "::mlir::StringAttr", "getCheckMessage">,
    InterfaceMethod<[{
      The status of that call.
    }], "::tfc::dfg::Failure", "getCheckStatus", (ins), "", [{
      return ::tfc::dfg::Failure::OutOfRange;
    }]>
  ];
}

def Dfg_NumberingOpInterface : OpInterface<"NumberingOpInterface"> {
  let cppNamespace = "::tfc::dfg";
  let description = [{
    An operation that makes numbers of sizes: a size itself, or positions along
    an axis. A call in which one of them does not fit its type is refused.
  }];
  let methods = [
    InterfaceMethod<[{
      The largest of these numbers, each with the integer type that holds it.
    }], "::tfc::dfg::Numbers", "getNumbers">
  ];
}

def Dfg_RandomOpInterface : OpInterface<"RandomOpInterface"> {
  let cppNamespace = "::tfc::dfg";
  let description = "An operation that draws each element from a counter-based generator.";
  let methods = [
    InterfaceMethod<[{
      Builds the draw of one element with `arith` and `math`. `counter` and
      `index`, the element's row-major position, are i64; the result is
      signless, f32 for f16 and bf16.
    }], "::mlir::Value", "buildDraw",
    (ins "::mlir::OpBuilder &":$b, "::mlir::Value":$counter, "::mlir::Value":$index)>
  ];
}

def Dfg_RowGatherOpInterface : OpInterface<"RowGatherOpInterface"> {
  let cppNamespace = "::tfc::dfg";
  let description = [{
    An operation that may take whole rows of its first operand, so that the
    operand's gradient has few rows.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether it does: along the first axis.
    }], "bool", "takesRows">,
    InterfaceMethod<[{
      Builds the indices (i64[r]) of the touched rows and their gradients
      ([r, ...]), rows possibly repeated.
    }], "std::pair<::mlir::Value, ::mlir::Value>", "buildRowGradient",
    (ins "::mlir::OpBuilder &":$b, "::mlir::Value":$resultGrad)>
  ];
}

#endif // TFC_DIALECTS_DFG_DFGINTERFACES_TD
