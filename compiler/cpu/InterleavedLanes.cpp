// Holds the part of NestEmitter for results whose rows are a few elements long, such as images with
// three channels that are the last axis. Lanes run along the loop around the rows: the vectors of
// all elements of a row are interleaved in registers and stored one after the other.

#include "compiler/cpu/ContractionMicro.h"
#include "compiler/cpu/NestEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc::cpu;

/// The longest rows that are interleaved.
static constexpr int64_t kMostElements = 4;
/// Bits of the elements that are interleaved: lanes of other types would not be as many.
static constexpr unsigned kElementBits = 32;

/// Lets lanes run along the loop around short rows, if the results of the sweep have such.
void NestEmitter::interleaveRows(const LoopSweep &sweep, Lanes &lanes) const {
  SmallVector<unsigned> order = loopOrder(sweep);
  auto size = dyn_cast<AffineConstantExpr>(nest.sizes[*sweep.laneLoop]);
  if (order.size() < 2 || !size || size.getValue() < 2 || size.getValue() > kMostElements)
    return;
  unsigned outer = order.end()[-2], inner = order.back();
  auto outerSize = dyn_cast<AffineConstantExpr>(nest.sizes[outer]);
  if (inner != *sweep.laneLoop || !outerSize || outerSize.getValue() < target.lanes(kElementBits))
    return;
  auto strideOf = [&](AffineExpr offset, unsigned loop) {
    AffineExpr stride, rest;
    auto dim = cast<AffineDimExpr>(getAffineDimExpr(loop, b.getContext()));
    return Polynomial(offset).split(dim, stride, rest) ? stride : AffineExpr();
  };
  AffineExpr one = e.constantExpr(1);
  for (const LoopStage *stage : sweep.stages) {
    if (!stage->isParallel())
      return;
    for (const Access &read : stage->footprint.reads) {
      AffineExpr offset = denseOffset(e.shapes(), read.tensor, Schedule::readIndices(*stage, read));
      if (strideOf(offset, inner) == one)
        return;
    }
    for (OpResult result : stage->op->getResults()) {
      AffineExpr offset = denseOffset(e.shapes(), result,
                                      Schedule::resultIndices(*stage, result.getResultNumber()));
      Type type = getElementTypeOrSelf(result.getType());
      if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() != kElementBits ||
          strideOf(offset, inner) != one || strideOf(offset, outer) != size)
        return;
    }
  }
  lanes.interleaved = outer;
}

/// Returns vectors with the first elements of all vectors, then the second ones, and so on.
static SmallVector<Value> interleaveVectors(OpBuilder &b, Location loc, ArrayRef<Value> vectors) {
  int64_t count = vectors.size();
  int64_t width = cast<VectorType>(vectors.front().getType()).getNumElements();
  SmallVector<Value> results;
  for (int64_t part = 0; part < count; ++part) {
    Value result = vectors.front();
    for (int64_t number = 1; number < count; ++number) {
      SmallVector<int64_t> lanes;
      for (int64_t lane = 0; lane < width; ++lane) {
        int64_t position = part * width + lane, source = position % count;
        int64_t first = number == 1 ? position / count : lane;
        lanes.push_back(source == number ? width + position / count : first);
      }
      result = vector::ShuffleOp::create(b, loc, result, vectors[number], lanes);
    }
    results.push_back(result);
  }
  return results;
}

/// Emits the points of a parallel sweep row by row, several rows along the lanes.
void NestEmitter::emitInterleaved(const LoopSweep &sweep, const Lanes &lanes) {
  SmallVector<unsigned> order = loopOrder(sweep);
  unsigned outer = *lanes.interleaved;
  int64_t width = target.lanes(kElementBits);
  emitLoops(ArrayRef(order).drop_back(2), {}, [&](Values) -> Values {
    auto [lower, upper] = bounds(outer);
    std::optional<int64_t> first = getConstantIntValue(lower), last = getConstantIntValue(upper);
    if (!first || !last) {
      emitRowsAlongLanes(sweep, lower, upper, std::nullopt);
      return {};
    }
    SmallVector<int64_t> cuts = cutsOf(sweep, outer, 1);
    for (auto [from, to] : llvm::zip(cuts, llvm::drop_begin(cuts))) {
      int64_t whole = from + (to - from) / width * width;
      IndexRange range{from, to - 1};
      emitRowsAlongLanes(sweep, e.indexConstant(from), e.indexConstant(whole), range);
      emitRowsAlongLanes(sweep, e.indexConstant(whole), e.indexConstant(to), range);
    }
    return {};
  });
}

/// Emits rows [from, to), whose numbers are in `range`.
void NestEmitter::emitRowsAlongLanes(const LoopSweep &sweep, Value from, Value to,
                                     std::optional<IndexRange> range) {
  unsigned outer = loopOrder(sweep).end()[-2], inner = *sweep.laneLoop;
  int64_t width = target.lanes(kElementBits);
  int64_t length = cast<AffineConstantExpr>(nest.sizes[inner]).getValue();
  std::optional<int64_t> first = getConstantIntValue(from), last = getConstantIntValue(to);
  bool masked = !first || !last || (*last - *first) % width != 0;
  e.forLoop(from, to, width, {}, [&](LoopDim dim, Values) -> Values {
    if (range)
      e.setRange(dim, *range);
    loops[outer] = dim;
    Value index = e.indexValue(dim);
    Value mask = masked ? e.tailMask(index, to, width) : Value();
    DenseMap<Value, SmallVector<Value>> vectors;
    {
      KernelEmitter::VectorMode mode(e, dim, width, mask);
      for (int64_t i = 0; i < length; ++i) {
        loops[inner] = e.constantExpr(i);
        for (const LoopStage *stage : sweep.stages) {
          evaluateParallel(*stage);
          for (OpResult result : stage->op->getResults())
            if (e.buffer(result))
              vectors[result].push_back(
                  e.broadcast(e.element(result, resultAt(*stage, result.getResultNumber()))));
        }
      }
    }
    loops[inner] = e.constantExpr(0);
    Value left = arith::SubIOp::create(b, loc, to, index);
    left = arith::MulIOp::create(b, loc, left, e.indexConstant(length));
    for (const LoopStage *stage : sweep.stages)
      for (OpResult result : stage->op->getResults()) {
        if (!e.buffer(result))
          continue;
        Value pointer = e.addressOf(result, resultAt(*stage, result.getResultNumber()));
        Type type = getElementTypeOrSelf(result.getType());
        for (auto [part, value] : llvm::enumerate(interleaveVectors(b, loc, vectors[result]))) {
          Value place = advance(b, loc, pointer, type, part * width, Stride{1, {}});
          if (!masked)
            storeLanes(b, loc, value, place);
          else
            LLVM::MaskedStoreOp::create(b, loc, value, place,
                                        e.tailMask(e.indexConstant(part * width), left, width),
                                        kElementBits / 8);
        }
      }
    return {};
  });
}
