//===- Passes.td - Host functions -----------------------------------------===//

#ifndef TFC_COMPILER_HOST_PASSES_TD
#define TFC_COMPILER_HOST_PASSES_TD

include "mlir/Pass/PassBase.td"

def BuildHost : Pass<"tfc-build-host", "::mlir::ModuleOp"> {
  let summary = "Builds the function that runs each entry";
  let description = [{
    Before: entries planned by `tfc-plan-memory`, with the attributes of
    `tfc-allocate-arena`, and kernels as `llvm.func` with a `#kernel.abi`.
    After: for entry number i (the initializer's is the last) the functions
    `tfc_entry_<i>_run`, `_shapes`, `_arena` and `_found` that runtime/Model.h
    describes, as `llvm.func` of `scf`, `arith`, `rt` and operations on LLVM
    pointers, and `dfg.weights`: the constants that they address. Entries,
    variables, tapes and queues are gone. Errors: a launch of a function that is
    not a generated kernel; a value without memory; a symbol with the name of a
    generated function.
  }];
  let options = [
    Option<"printReport", "report", "bool", /*default=*/"false",
           "Print the resources that each entry needs to standard error">,
    Option<"trace", "trace", "bool", /*default=*/"false",
           "Record when kernels, messages and waits begin and end (runtime/Model.h)">
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::tfc::rt::RtDialect"
  ];
}

def SplitHost : Pass<"tfc-split-host", "::mlir::ModuleOp"> {
  let summary = "Splits long functions of entries into several";
  let description = [{
    Before: functions of entries as `tfc-build-host` writes them. After: one that
    was longer than `limit` calls functions `<name>.part<i>`, each with
    consecutive operations of one of its blocks. They are cut where the fewest
    values pass; these are in an array on the stack of the function. The time
    and memory of LLVM's passes grow faster than the length of a function.
  }];
  let options = [
    Option<"limit", "limit", "unsigned", /*default=*/"512",
           "The length of a block, in operations and operands of calls, that is not split">
  ];
  let statistics = [
    Statistic<"partCount", "parts", "Number of functions that were split off">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::tfc::rt::RtDialect"];
}

def LowerRt : Pass<"tfc-lower-rt", "::mlir::ModuleOp"> {
  let summary = "Turns operations of the rt dialect into calls of the runtime";
  let description = [{
    Before: operations of `rt` are in `llvm.func`, and those that may end the
    call are outside of structured control flow. After: they are operations of
    the LLVM dialect; the block of an operation that may end the call is split
    after it, with a branch to a block that returns the status. Errors: an
    operation in a place where it cannot be lowered; a symbol of the module with
    the name of a function of the runtime.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // TFC_COMPILER_HOST_PASSES_TD
