//===- Gradients.h - Queries about gradients ------------------------------===//

#pragma once

#include "dialects/dfg/DimExpr.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace tfc::dfg {

/// The operations on which a value depends, by the values that they read: one search answers the
/// questions about the gradients of all variables.
class ReadersTowards {
public:
  explicit ReadersTowards(mlir::Value y);

  /// The operations between `x` and `y` that read `x` itself, perhaps in their regions.
  llvm::ArrayRef<mlir::Operation *> of(mlir::Value x) const;

  /// Returns true if the gradient of `y` with respect to `x` is sparse: `y` depends on `x` only
  /// through operations that gather its rows. The gradient then has `sparseRowCount` rows.
  bool isSparseGradient(mlir::Value x) const;

  /// The number of rows of a sparse gradient, including repeated ones.
  DimExpr sparseRowCount(mlir::Value x) const;

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Operation *, 1>> readers;
};

} // namespace tfc::dfg
