//===- Paths.h - How values reach a loss ----------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc {

using OperationSet = llvm::DenseSet<mlir::Operation *>;

/// Starts the error that no gradient flows through `blocking`; its notes show how a value gets
/// there: `steps` are the operations in between, the last one first, `start` is the value.
mlir::InFlightDiagnostic reportBlocked(dfg::GradientsOp op, mlir::Operation *blocking,
                                       llvm::ArrayRef<mlir::Operation *> steps, mlir::Value start);

/// Fails with an error for each x that reaches y, but only through operations without a gradient.
///
/// The condition of a `select` and the operand of a `stop_gradient` are no way to y, and neither is
/// what the operations `ofGradients` hold constant: the slope of `relu` depends on x by a
/// comparison only, and is rightly flat. Steps such as `floor` have a gradient: zeros.
mlir::LogicalResult checkPaths(dfg::GradientsOp op, const OperationSet &ofGradients);

} // namespace tfc
