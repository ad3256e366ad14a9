//===- TakeAlongAxis.h - Elements of each line at computed positions ------===//
//
// Shared by `take_along_axis`, sorting and running extremes.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Builders.h"

namespace tfc::dfg {

/// The elements of `x` at `places` along an axis (not negative), whose other sizes are those of
/// `x`; 0 for positions out of range.
mlir::Value takeAlongAxis(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value places,
                          int64_t axis);

/// d take(x, places) = zeros like x, with `grad` added at the positions.
mlir::Value takeAlongAxisGradient(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                                  mlir::Value places, int64_t axis, mlir::Value grad);

} // namespace tfc::dfg
