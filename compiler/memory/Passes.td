//===- Passes.td - Places of values ---------------------------------------===//

#ifndef TFC_COMPILER_MEMORY_PASSES_TD
#define TFC_COMPILER_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanMemory : Pass<"tfc-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Order the launches of entries and choose where their results go";
  let description = [{
    Before: entries hold launches of kernels in linalg form (with
    `kernel.may_share`), reads of variables, then assignments, checks, constants
    and reshapes. After: the launches are in the order in which they run, and
    `places` of each (`#dfg.place`) says for every result whose memory it is
    in. For that of an operand the kernel's result has `kernel.in_place`. No
    variable changes before all checks have passed. Errors: operations that
    have no place in an entry at this stage, a variable assigned twice or read
    after its assignment.
  }];
  let statistics = [
    Statistic<"inPlaceCount", "in-place", "Number of results written over an operand">,
    Statistic<"cloneCount", "clones", "Number of kernels cloned to write in place in some launches">
  ];
}

def AllocateArena : Pass<"tfc-allocate-arena", "::mlir::ModuleOp"> {
  let summary = "Give the values of entries their places in the arena and in chunks";
  let description = [{
    Before: entries planned by `tfc-plan-memory`, kernels as `llvm.func` with a
    `#kernel.abi`. After: for entry number i (the
    initializer's is the last) the functions `tfc_entry_<i>_run`, `_shapes` and
    `_arena` that runtime/Model.h describes, in the LLVM dialect, and
    `dfg.weights`: the constants that they address. Entries and variables are
    gone. Errors: a launch of something that is no generated kernel.
  }];
  let dependentDialects = ["::tfc::rt::RtDialect"];
}

#endif // TFC_COMPILER_MEMORY_PASSES_TD
