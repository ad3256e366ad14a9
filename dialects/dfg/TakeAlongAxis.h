//===- TakeAlongAxis.h - Elements of each line at computed places ---------===//
//
// What taking elements along an axis shares with sorting and running extremes.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Builders.h"

namespace tfc::dfg {

/// The elements of `x` at `places` along an axis (counted from 0), which have the sizes of `x` but
/// there; 0 for places outside.
mlir::Value takeAlongAxis(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value places,
                          int64_t axis);

/// d take(x, places) = zeros like x, with `grad` added at the places.
mlir::Value takeAlongAxisGradient(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                                  mlir::Value places, int64_t axis, mlir::Value grad);

} // namespace tfc::dfg
