//===- Passes.td - Simplifying entries ------------------------------------===//

#ifndef TFC_COMPILER_SIMPLIFY_PASSES_TD
#define TFC_COMPILER_SIMPLIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def ResolveState : Pass<"tfc-resolve-state", "::mlir::ModuleOp"> {
  let summary = "Makes the values of variables explicit";
  let description = [{
    Before: entries read and assign variables anywhere. After: an entry reads
    each variable at most once, at its start, and assigns it at most once, at
    its end; in between the variable is an ordinary value: captured by regions
    that only read it, a result of branches and a carried value of loops that
    assign it. A call can therefore fail before its first effect, and every
    later pass may ignore state.
  }];
}

def FoldConstants : Pass<"tfc-fold-constants", "::mlir::ModuleOp"> {
  let summary = "Computes operations on constants";
  let description = [{
    An elementwise operation whose operands are splats becomes a constant if its
    scalar computation folds. A transpose of a constant becomes a constant if
    nothing else reads it, a constant of f32 that is only cast to bf16 is one of
    bf16, and slices become constants if they have no more elements together than
    the constant.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def SimplifyAlgebra : Pass<"tfc-simplify-algebra", "::mlir::ModuleOp"> {
  let summary = "Applies identities across operations";
  let description = [{
    Folds, and identities that involve several operations: broadcasts and
    transposes are merged into the operations that read them, and many parts are
    concatenated in steps. Transposes move towards results, so that operations
    between two convolutions have the channels last, as these do. Sums over rows
    and columns may be rounded differently then, other results are the same.
  }];
}

def IntegerProducts : Pass<"tfc-integer-products", "::mlir::ModuleOp"> {
  let summary = "Computes products of quantised tensors in integers";
  let description = [{
    Before: operations have their devices; quantised tensors are f32, `scale * (x - zero)` with
    `x` of 8 bits, where products and convolutions with constant weights read them. After: these
    are, on CPUs, sums of products of bytes in i32, which are exact, scaled once. Depthwise
    convolutions sum the same integers in f32, which is exact for their few terms. Quantised
    tensors stay integers in memory, and a quantisation of the result of a product needs no
    division.
  }];
}

def WinogradVariables : Pass<"tfc-winograd-variables", "::mlir::ModuleOp"> {
  let summary = "Computes trained convolutions by Winograd's algorithm";
  let description = [{
    Before: operations have their devices. After: convolutions of f32 along one or two axes on
    CPUs, whose weights are not constants, and gradients of such weights are products of
    transformed tiles and weights, where the multiplications that this saves take longer than
    the transforms. Their errors are some 1e-5 of the largest element, instead of 1e-6.
  }];
}

def DivideProducts : Pass<"tfc-divide-products", "::mlir::ModuleOp"> {
  let summary = "Multiplies by the parts of concatenations";
  let description = [{
    Before: operations have their devices. After: products of few rows with concatenations that
    only products read, on CPUs, are products with each part, whose results are joined or
    added up, so that the parts need not be copied. Sums may be rounded differently.
  }];
}

def StoreWeights : Pass<"tfc-store-weights", "::mlir::ModuleOp"> {
  let summary = "Stores constant factors with fewer bits";
  let description = [{
    Before: operations have their devices. After: constants of f32 that only products
    and gathers on CPUs read are constants of bf16, or of i8 with a scale for each
    channel, followed by casts, which products compute where they read a factor.
  }];
  let options = [Option<"bytes", "bytes", "bool", "false", "Stores i8 instead of bf16">];
}

def HoistInvariants : Pass<"tfc-hoist-invariants", "::mlir::ModuleOp"> {
  let summary = "Hoists invariant operations out of loops";
  let description = [{
    An operation without effects whose operands are defined outside of a loop
    moves before it. Checks stay in place, and so do views, which cost nothing
    where they are read.
  }];
}

def HoistProducts : Pass<"tfc-hoist-products", "::mlir::ModuleOp"> {
  let summary = "Multiplies the steps of a loop at once before it";
  let description = [{
    Before: a loop may multiply an element of a list, or a concatenation of such elements and
    carried rows, by a matrix that does not change. After: one product before the loop
    multiplies all elements, and each iteration reads its result. A row that is added to
    such a product is added there, too. Sums may be rounded differently. Runs before
    gradients are built; loops with `@recompute` stay.
  }];
}

def SumAfterLoops : Pass<"tfc-sum-after-loops", "::mlir::ModuleOp"> {
  let summary = "Adds up products of all iterations after a loop";
  let description = [{
    Before: loops, as gradients of loops, may add a product of two matrices with few rows
    to a carried value. After: such a loop keeps the factors of each iteration in lists, and
    one product of all their rows follows it. The sum may be rounded differently.
  }];
}

def DropTapes : Pass<"tfc-drop-tapes", "::mlir::ModuleOp"> {
  let summary = "Removes tapes with unused values";
  let description = [{
    Before: tapes may be pushed and never popped, or popped values may be
    unused. After: such tapes are gone, with computations that only they used.
  }];
}

def InsertChecks : Pass<"tfc-insert-checks", "::mlir::ModuleOp"> {
  let summary = "Inserts checks of the data of operations that can fail";
  let description = [{
    Before: operations with `CheckedOpInterface` trust their operands. After:
    each is preceded by a `dfg.check` of its data.
  }];
}

def DecomposeComposites : Pass<"tfc-decompose-composites", "::mlir::ModuleOp"> {
  let summary = "Decomposes composite operations";
  let description = [{
    Before: there are operations with `CompositeOpInterface`, as autodiff needs
    them. After: none is left, and fusion sees their parts.
  }];
}

def LimitSizes : Pass<"tfc-limit-sizes", "::mlir::ModuleOp"> {
  let summary = "Rejects tensors that exceed any memory";
  let description = [{
    Before: products of sizes may exceed 64 bits. After: a tensor that has more
    bytes than a processor can address in every call has been reported as an
    error. An entry lists in `limits` the values that a call has to check,
    because the bounds of its names allow them to be too large: sizes and byte
    counts of tensors, and sizes and last positions that become numbers of a type.
  }];
}

#endif // TFC_COMPILER_SIMPLIFY_PASSES_TD
