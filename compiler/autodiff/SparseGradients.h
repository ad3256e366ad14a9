//===- SparseGradients.h - Gradients that are rows ------------------------===//

#pragma once

#include "compiler/autodiff/BackwardSweep.h"

namespace tfc {

/// The gradients of values that are only gathered from: the touched rows, in the order of the
/// gathers.
class SparseGradients {
public:
  explicit SparseGradients(BackwardSweep &sweep);

  /// Takes the gradient of a gather of such a value; false for other operations.
  bool collect(mlir::Operation *forward);
  /// Appends the indices and the rows of a gradient; an error if its type has fewer rows than the
  /// gathers take.
  mlir::LogicalResult join(mlir::Value x, llvm::SmallVectorImpl<mlir::Value> &results);

private:
  struct Parts {
    llvm::SmallVector<mlir::Value> indices, rows;
  };

  BackwardSweep &sweep;
  llvm::DenseMap<mlir::Value, Parts> parts; // by the value
};

} // namespace tfc
