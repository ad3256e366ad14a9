//===- Paths.h - How values reach a loss ----------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc {

using OperationSet = llvm::DenseSet<mlir::Operation *>;

/// Starts the error that no gradient flows through `blocking`; its notes show the path to it:
/// `steps` are the operations in between, the last one first, and `start` is the value.
mlir::InFlightDiagnostic reportBlocked(dfg::GradientsOp op, mlir::Operation *blocking,
                                       llvm::ArrayRef<mlir::Operation *> steps, mlir::Value start);

/// Fails with an error for each x that reaches y, but only through operations without a gradient.
///
/// The condition of a `select` and the operand of a `stop_gradient` are not part of a path to y,
/// and neither are values that the operations `ofGradients` treat as constant: the slope of `relu`
/// depends on x only by a comparison, so its gradient is rightly zero. Piecewise constant functions
/// such as `floor` have a gradient: zeros.
mlir::LogicalResult checkPaths(dfg::GradientsOp op, const OperationSet &ofGradients);

} // namespace tfc
