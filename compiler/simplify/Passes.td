//===- Passes.td - Simplifying entries ------------------------------------===//

#ifndef TFC_COMPILER_SIMPLIFY_PASSES_TD
#define TFC_COMPILER_SIMPLIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def ResolveState : Pass<"tfc-resolve-state", "::mlir::ModuleOp"> {
  let summary = "Makes the values of variables explicit";
  let description = [{
    Before: entries read and assign variables anywhere. After: an entry reads
    each variable at most once, at its start, and assigns it at most once, at
    its end; in between the variable is a value like any other: captured by
    regions that only read it, a result of branches and a carried value of loops
    that assign it. So a failing
    call can be refused before its first effect, and every other pass may
    ignore state.
  }];
}

def FoldConstants : Pass<"tfc-fold-constants", "::mlir::ModuleOp"> {
  let summary = "Computes elementwise operations on constants";
  let description = [{
    An elementwise operation whose operands hold one value everywhere becomes a
    constant, as far as its scalar computation folds.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def SimplifyAlgebra : Pass<"tfc-simplify-algebra", "::mlir::ModuleOp"> {
  let summary = "Applies identities across operations";
  let description = [{
    Folds and the identities that need two operations: broadcasts and
    transposes go into the operations that read them. Results keep their bits.
  }];
}

def HoistInvariants : Pass<"tfc-hoist-invariants", "::mlir::ModuleOp"> {
  let summary = "Moves what does not change out of loops";
  let description = [{
    An operation without effects whose operands come from outside of a loop is
    computed before it. Checks stay where they are, and so do views, which cost
    nothing where they are read.
  }];
}

def DropTapes : Pass<"tfc-drop-tapes", "::mlir::ModuleOp"> {
  let summary = "Removes tapes whose values nobody reads";
  let description = [{
    Before: tapes may be pushed and never popped, or popped for nobody. After:
    those are gone, with what was computed only for them.
  }];
}

def InsertChecks : Pass<"tfc-insert-checks", "::mlir::ModuleOp"> {
  let summary = "Checks the data of operations that can fail";
  let description = [{
    Before: operations with `CheckedOpInterface` trust their operands. After:
    each has a `dfg.check` of its own before it.
  }];
}

def DecomposeComposites : Pass<"tfc-decompose-composites", "::mlir::ModuleOp"> {
  let summary = "Replaces composite operations by the simple ones they stand for";
  let description = [{
    Before: operations with `CompositeOpInterface` are whole, as autodiff wants
    them. After: none is left, and fusion sees their parts.
  }];
}

def LimitSizes : Pass<"tfc-limit-sizes", "::mlir::ModuleOp"> {
  let summary = "Refuses tensors that no memory holds";
  let description = [{
    Before: products of sizes may not fit 64 bits. After: no tensor has more
    bytes than a processor can address in every call, which is an error, and
    an entry lists in `tfc.limits` the sizes and byte counts that a call has
    to check, because the bounds of its names allow that they are too large,
    and in `tfc.limits.i32` and the like the sizes and last positions that
    become numbers of the type.
  }];
}

#endif // TFC_COMPILER_SIMPLIFY_PASSES_TD
