// How the accesses of stages move through memory.
#pragma once

#include "compiler/kernels/Schedule.h"

namespace tfc::gpu {

/// The bytes of an element in memory.
int64_t bytesOf(mlir::Type element);
inline int64_t bytesOf(mlir::Value tensor) { return bytesOf(mlir::getElementTypeOrSelf(tensor)); }

/// Returns how far an offset moves from one point of a loop to the next; null if that differs from
/// point to point.
mlir::AffineExpr strideOf(mlir::AffineExpr offset, unsigned loop);
/// Returns true if neighbours along a loop are neighbours in memory.
bool isContiguous(mlir::AffineExpr offset, unsigned loop);

/// The offset of a stage's result in memory, over the loops of its nest.
mlir::AffineExpr offsetOf(kernels::KernelShapes &shapes, const kernels::LoopStage &stage,
                          mlir::OpResult result);

} // namespace tfc::gpu
