//===- DfgInterfaces.td - Interfaces that passes query --------------------===//

#ifndef TFC_DIALECTS_DFG_DFGINTERFACES_TD
#define TFC_DIALECTS_DFG_DFGINTERFACES_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Dfg_Failure : I32EnumAttr<"Failure", "The status of a call whose data are rejected", [
    I32EnumAttrCase<"OutOfRange", 0, "out_of_range">,
    I32EnumAttrCase<"InvalidArgument", 1, "invalid_argument">,
    I32EnumAttrCase<"FailedPrecondition", 2, "failed_precondition">]> {
  let cppNamespace = "::tfc::dfg";
}

/// The use of a size, which limits it: memory, or a number of an element type.
def Dfg_SizeUse : I32EnumAttr<"SizeUse", "The use that limits a size of a call", [
    I32EnumAttrCase<"Memory", 0, "memory">, I32EnumAttrCase<"I8", 1, "i8">,
    I32EnumAttrCase<"U8", 2, "u8">, I32EnumAttrCase<"I16", 3, "i16">,
    I32EnumAttrCase<"I32", 4, "i32">, I32EnumAttrCase<"I64", 5, "i64">,
    I32EnumAttrCase<"U16", 6, "u16">, I32EnumAttrCase<"U32", 7, "u32">,
    I32EnumAttrCase<"U64", 8, "u64">]> {
  let cppNamespace = "::tfc::dfg";
  let genSpecializedAttr = 0;
}

def Dfg_MemoryKind : I32EnumAttr<"MemoryKind", "The owner of the memory of a launch's result", [
    I32EnumAttrCase<"Arena", 0, "arena">, I32EnumAttrCase<"Variable", 1, "variable">,
    I32EnumAttrCase<"Fetch", 2, "fetch">, I32EnumAttrCase<"Operand", 3, "operand">,
    I32EnumAttrCase<"Result", 4, "result">]> {
  let cppNamespace = "::tfc::dfg";
  let genSpecializedAttr = 0;
}

def Dfg_Outside : I32EnumAttr<"Outside", "The treatment of an index out of range", [
    I32EnumAttrCase<"Fail", 0, "fail">, I32EnumAttrCase<"Skip", 1, "skip">]> {
  let cppNamespace = "::tfc::dfg";
  let genSpecializedAttr = 0;
}

def Dfg_ScatterMode : I32EnumAttr<"ScatterMode", "The function that combines a row and its update", [
    I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Min", 1, "min">,
    I32EnumAttrCase<"Mul", 2, "mul">]> {
  let cppNamespace = "::tfc::dfg";
  let genSpecializedAttr = 0;
}

def Dfg_PaddingMode : I32EnumAttr<"PaddingMode", "The zeros around images that windows read", [
    I32EnumAttrCase<"Valid", 0, "valid">, I32EnumAttrCase<"Same", 1, "same">,
    I32EnumAttrCase<"Causal", 2, "causal">]> {
  let cppNamespace = "::tfc::dfg";
  let genSpecializedAttr = 0;
}

def Dfg_QueueKind : I32EnumAttr<"QueueKind", "The order in which a queue returns its elements", [
    I32EnumAttrCase<"Fifo", 0, "fifo">, I32EnumAttrCase<"Shuffle", 1, "shuffle">,
    I32EnumAttrCase<"Priority", 2, "priority">]> {
  let cppNamespace = "::tfc::dfg";
  let genSpecializedAttr = 0;
}

def Dfg_DatasetFormat : I32EnumAttr<"DatasetFormat", "The form of the files of a dataset", [
    I32EnumAttrCase<"Csv", 0, "csv">, I32EnumAttrCase<"Npy", 1, "npy">,
    I32EnumAttrCase<"Safetensors", 2, "safetensors">, I32EnumAttrCase<"Tfrecord", 3, "tfrecord">,
    I32EnumAttrCase<"Raw", 4, "raw">]> {
  let cppNamespace = "::tfc::dfg";
  let genSpecializedAttr = 0;
}

def Dfg_Recompute : I32EnumAttr<"Recompute", "The values that autodiff recomputes", [
    I32EnumAttrCase<"All", 0, "all">, I32EnumAttrCase<"Sqrt", 1, "sqrt">]> {
  let cppNamespace = "::tfc::dfg";
  let genSpecializedAttr = 0;
}

def Dfg_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::tfc::dfg";
  let description = "An operation that knows the gradients of its operands.";
  let methods = [
    InterfaceMethod<[{
      Builds the gradient of each operand from those of the results, using only
      `dfg` operations, so that it can be differentiated again. `resultGrads`
      holds one value per result, which is null if the loss does not depend on
      it. Returns one value per operand, null where no gradient flows (indices,
      conditions). A gradient may still have the broadcast shape of the result:
      the caller sums it down to the operand's shape.
    }], "::llvm::SmallVector<::mlir::Value>", "buildOperandGradients",
    (ins "::mlir::OpBuilder &":$b, "::mlir::ValueRange":$resultGrads)>
  ];
}

def Dfg_ScalarOpInterface : OpInterface<"ScalarOpInterface"> {
  let cppNamespace = "::tfc::dfg";
  let description = [{
    An elementwise operation: an element of its result depends only on the
    operands' elements at the same (broadcast) position.
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
    An operation that can be decomposed into a few others. It is kept as long as
    that is better for gradients and fusion, and then decomposed.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the operation from simpler `dfg` operations. Returns one value per
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
      Builds, of `dfg` operations, the condition that the data are valid, and
      what the call's error message says if they are not; nothing if they are
      known to be.
    }], "::std::optional<::tfc::dfg::DataCheck>", "buildCheck", (ins "::mlir::OpBuilder &":$b)>,
    InterfaceMethod<[{
      Returns the status of that call.
    }], "::tfc::dfg::Failure", "getCheckStatus", (ins), "", [{
      return ::tfc::dfg::Failure::OutOfRange;
    }]>
  ];
}

def Dfg_NumberingOpInterface : OpInterface<"NumberingOpInterface"> {
  let cppNamespace = "::tfc::dfg";
  let description = [{
    An operation that turns sizes into numbers: the size itself, or positions
    along an axis. A call in which one of them does not fit its type fails.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns the largest of these numbers, each with the integer type that
      holds it.
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
      Returns true if it takes rows, along the first axis.
    }], "bool", "takesRows">,
    InterfaceMethod<[{
      Builds the indices (i64[r]) of the touched rows and their gradients
      ([r, ...]), rows possibly repeated.
    }], "std::pair<::mlir::Value, ::mlir::Value>", "buildRowGradient",
    (ins "::mlir::OpBuilder &":$b, "::mlir::Value":$resultGrad)>
  ];
}

def Dfg_SizeEvaluationOpInterface : OpInterface<"SizeEvaluationOpInterface"> {
  let cppNamespace = "::tfc::dfg";
  let description = [{
    An operation whose result can be evaluated if the elements of its operands
    are known as sizes. Graphs compute shapes with small integer tensors;
    readers evaluate these through this interface and create no operations for
    them.
  }];
  let methods = [
    StaticInterfaceMethod<[{
      Returns the result for operands with these elements, or std::nullopt if it
      is unknown or if the operation would reject such operands.
    }], "::std::optional<::tfc::dfg::SizeTensor>", "evaluateSizes",
    (ins "::tfc::dfg::SizeOperands":$operands, "::mlir::DictionaryAttr":$attributes)>
  ];
}

def Dfg_TapeAccessOpInterface : OpInterface<"TapeAccessOpInterface"> {
  let cppNamespace = "::tfc::dfg";
  let description = "An operation that uses a tape.";
  let methods = [
    InterfaceMethod<"Returns the name of the tape.", "::mlir::FlatSymbolRefAttr", "getTapeAttr">
  ];
}

#endif // TFC_DIALECTS_DFG_DFGINTERFACES_TD
