// Emits the factors and the results of sums of products at a point, for the emitters of their
// loops.
#pragma once

#include "compiler/kernels/ContractionForm.h"
#include "compiler/kernels/emit/KernelEmitter.h"

namespace tfc::kernels {

/// Converts a number to a wider or narrower element type of the same kind.
mlir::Value convertNumber(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                          mlir::Type elementType);

/// Adds floats or integers, or vectors of them.
mlir::Value addValues(mlir::OpBuilder &b, mlir::Location loc, mlir::Value lhs, mlir::Value rhs);

/// Computes `root`, the value of a factor in the body of a contraction, from the elements of the
/// contraction's inputs, some of which may be vectors.
mlir::Value evaluateFactor(mlir::OpBuilder &b, mlir::Location loc, mlir::Value root,
                           llvm::function_ref<mlir::Value(unsigned)> element);

/// Returns a factor at a point of the contraction's loops, in the type in which products are
/// accumulated.
mlir::Value factorAt(KernelEmitter &emitter, mlir::linalg::GenericOp op,
                     const ContractionForm &form, const ContractionFactor &factor,
                     llvm::ArrayRef<mlir::AffineExpr> point);

/// Returns the indices of a contraction's result at a point of its loops.
llvm::SmallVector<mlir::AffineExpr> productIndices(mlir::linalg::GenericOp op,
                                                   llvm::ArrayRef<mlir::AffineExpr> point);
/// Adds `sum` to the initial value of the result at some indices, in the result's element type.
mlir::Value productValue(KernelEmitter &emitter, mlir::linalg::GenericOp op,
                         const ContractionForm &form, llvm::ArrayRef<mlir::AffineExpr> indices,
                         mlir::Value sum);

/// Adds `sum` to the initial value at a point of the contraction's loops, and stores the result and
/// those of the epilogues where they have memory. In vector mode, `sum` is a vector.
void storeProduct(KernelEmitter &emitter, const ContractionNest &nest, const ContractionForm &form,
                  llvm::ArrayRef<mlir::AffineExpr> point, mlir::Value sum);

} // namespace tfc::kernels
