//===- Gradients.h - Queries about gradients ------------------------------===//

#pragma once

#include "dialects/dfg/DimExpr.h"
#include "mlir/IR/Value.h"

namespace tfc::dfg {

/// The operations between `x` and `y` that read `x` itself.
llvm::SmallVector<mlir::Operation *> readersTowards(mlir::Value y, mlir::Value x);

/// Returns true if the gradient of `y` with respect to `x` is sparse: `y` depends on `x` only
/// through operations that gather its rows. The gradient then has `sparseRowCount` rows.
bool isSparseGradient(mlir::Value y, mlir::Value x);

/// The number of rows of a sparse gradient, including repeated ones.
DimExpr sparseRowCount(mlir::Value y, mlir::Value x);

} // namespace tfc::dfg
