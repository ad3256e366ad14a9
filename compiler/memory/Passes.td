//===- Passes.td - Memory of values ---------------------------------------===//

#ifndef TFC_COMPILER_MEMORY_PASSES_TD
#define TFC_COMPILER_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanMemory : Pass<"tfc-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Orders the launches of entries and chooses the memory of their results";
  let description = [{
    Before: entries hold launches of kernels in linalg form (with
    `kernel.may_share`), reads of variables, then assignments, checks, constants
    and reshapes. After: the launches are in execution order, and `memory` of
    each launch (`#dfg.memory`) specifies the memory of every result. If that is
    the memory of an operand, the kernel's result has `kernel.in_place`. No
    variable changes before all checks have passed. Errors: operations that
    cannot occur in an entry at this stage; a variable that is assigned twice or
    read after its assignment.
  }];
  let statistics = [
    Statistic<"inPlaceCount", "in-place", "Number of results written over an operand">,
    Statistic<"cloneCount", "clones", "Number of kernels cloned to write in place in some launches">
  ];
}

def GuardUpdates : Pass<"tfc-guard-updates", "::mlir::ModuleOp"> {
  let summary = "Lets devices test checks before they change variables";
  let description = [{
    To check what a device with memory of its own has computed, the host waits for
    it. Before: entries planned by `tfc-plan-memory`. After: if only launches and
    received messages follow such checks, those that write variables have a guard,
    whether all checks pass, their kernels are `guarded`, and the checks come last.
    So the call has one wait, at its end, and changes no variable if a check fails.
    Checks before commits, sends, operations on queues, branches and loops remain
    where they are.
    Launches between the updates and the checks may read what a guarded one has not
    written: kernels bound the indices that they read.
  }];
  let statistics = [
    Statistic<"guardedCount", "guarded", "Number of launches that test checks">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def AllocateArena : Pass<"tfc-allocate-arena", "::mlir::ModuleOp"> {
  let summary = "Assigns the values of entries to the arena and to chunks";
  let description = [{
    Before: entries planned by `tfc-plan-memory`, kernels as `llvm.func` with a
    `#kernel.abi`. After: entries have `rt.arena` and `rt.tapes`, and their
    operations `rt.memory`, `rt.alternate` and `rt.scratch` if they need memory.
    Errors: a launch of a kernel that does not exist; operations that cannot
    occur in an entry at this stage; an arena that is too large for the sizes
    that the bounds of an entry allow.
  }];
  let dependentDialects = ["::tfc::rt::RtDialect"];
}

def PackConstants : Pass<"tfc-pack-constants", "::mlir::ModuleOp"> {
  let summary = "Brings constants into the order in which kernels read them";
  let description = [{
    Before: arguments of kernels may have a `kernel.packing`, and launches pass
    constants in row-major order. After: the elements of these constants are in that
    order.
  }];
}

#endif // TFC_COMPILER_MEMORY_PASSES_TD
