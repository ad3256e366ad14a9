//===- Gradients.h - Queries about gradients ------------------------------===//

#pragma once

#include "dialects/dfg/DimExpr.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace tfc::dfg {

class ReadOp;

/// Returns true if `op` reads a floating value only to take rows of it.
bool gathersRows(mlir::Operation *op);

/// The operations on which a value depends, by the values that they read: one search answers the
/// questions about the gradients of all variables.
class ReadersTowards {
public:
  explicit ReadersTowards(mlir::Value y);

  /// The operations between `x` and `y` that read `x` itself, perhaps in their regions. The reads
  /// of a variable in one block are one value up to an assignment.
  llvm::SmallVector<mlir::Operation *, 1> of(mlir::Value x) const;

  /// Returns true if the gradient of `y` with respect to `x` is sparse: `y` depends on `x` only
  /// through operations that gather its rows. The gradient then has `sparseRowCount` rows. If `x`
  /// is a variable, no path may lead through a read of it elsewhere, which may be the same value,
  /// and no other variable may have been assigned the value.
  bool isSparseGradient(mlir::Value x) const;

  /// The number of rows of a sparse gradient, including repeated ones.
  DimExpr sparseRowCount(mlir::Value x) const;

private:
  llvm::ArrayRef<ReadOp> readsOf(mlir::Value x) const;

  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Operation *, 1>> readers;
  llvm::DenseMap<mlir::Attribute, llvm::SmallVector<ReadOp, 1>> readsOfVariable;
};

} // namespace tfc::dfg
