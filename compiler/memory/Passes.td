//===- Passes.td - Places of values, host functions -----------------------===//

#ifndef TFC_COMPILER_MEMORY_PASSES_TD
#define TFC_COMPILER_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanMemory : Pass<"tfc-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Order the launches of entries and choose where their results go";
  let description = [{
    Before: entries hold launches of kernels in linalg form (with
    `tfc.may_share`), reads of variables, then assignments, checks, constants
    and reshapes. After: the launches are in the order in which they run, and
    `tfc.places` of each says for every result: a unit for the arena, a
    variable's symbol, `{fetch = i}`, or `{operand = k}` for the memory of an
    operand, in which case the kernel's result has `tfc.inplace = k`. No
    variable changes before all checks have passed. Errors: operations that
    have no place in an entry at this stage, a variable assigned twice or read
    after its assignment.
  }];
  let statistics = [
    Statistic<"inPlaceCount", "in-place", "Number of results written over an operand">,
    Statistic<"cloneCount", "clones", "Number of kernels cloned to write in place in some launches">
  ];
}

def EmitHost : Pass<"tfc-emit-host", "::mlir::ModuleOp"> {
  let summary = "Turn entries into host functions";
  let description = [{
    Before: entries planned by `tfc-plan-memory`, kernels as `llvm.func` with
    `tfc.extent`, `tfc.grain` and `tfc.scratch`. After: for entry number i (the
    initializer's is the last) the functions `tfc_entry_<i>_run`, `_shapes` and
    `_arena` that runtime/Model.h describes, in the LLVM dialect, and
    `tfc.weights`: the constants that they address. Entries and variables are
    gone. Errors: a launch of something that is no generated kernel.
  }];
  let options = [
    Option<"printReport", "report", "bool", /*default=*/"false",
           "Print what each entry needs to standard error">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // TFC_COMPILER_MEMORY_PASSES_TD
