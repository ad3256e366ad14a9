// How the accesses of stages move through memory.

#include "compiler/gpu/Accesses.h"
#include "compiler/kernels/Polynomial.h"

using namespace mlir;
using namespace tfc::gpu;
using namespace tfc::kernels;

int64_t tfc::gpu::bytesOf(Type element) {
  return std::max(1u, element.getIntOrFloatBitWidth() / 8);
}

AffineExpr tfc::gpu::strideOf(AffineExpr offset, unsigned loop) {
  AffineExpr stride, rest;
  auto dim = cast<AffineDimExpr>(getAffineDimExpr(loop, offset.getContext()));
  return Polynomial(offset).split(dim, stride, rest) ? normalize(stride) : AffineExpr();
}

bool tfc::gpu::isContiguous(AffineExpr offset, unsigned loop) {
  AffineExpr stride = strideOf(offset, loop);
  return stride && constantOf(stride) == 1;
}

AffineExpr tfc::gpu::offsetOf(KernelShapes &shapes, const LoopStage &stage, OpResult result) {
  return denseOffset(shapes, result, Schedule::resultIndices(stage, result.getResultNumber()));
}
