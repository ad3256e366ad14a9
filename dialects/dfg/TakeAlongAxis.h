//===- TakeAlongAxis.h - Gathers along an axis ----------------------------===//
//
// Used by `take_along_axis`, sorts and running extremes.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Builders.h"

namespace tfc::dfg {

/// Returns the elements of `x` at the nonnegative positions `places` along an axis; the other sizes
/// of `places` are those of `x`. Positions out of range yield 0.
mlir::Value takeAlongAxis(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value places,
                          int64_t axis);

/// d take(x, places) = zeros like x, with `grad` added at the positions.
mlir::Value takeAlongAxisGradient(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                                  mlir::Value places, int64_t axis, mlir::Value grad);

} // namespace tfc::dfg
