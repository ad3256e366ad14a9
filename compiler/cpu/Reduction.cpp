// Holds the part of NestEmitter that emits the sweeps: points, row reductions and column
// reductions.

#include "compiler/cpu/NestEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc::cpu;

/// Broadcasts `value` to all lanes.
static Value splat(OpBuilder &b, Location loc, Value value, int64_t lanes) {
  if (lanes == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, value.getType()), value);
}

//===--- points and row reductions ----------------------------------------===//

/// Emits loops over points at which parallel stages are stored and reductions along the lanes
/// accumulate.
void NestEmitter::emitPointwise(const LoopSweep &sweep) {
  Lanes lanes = lanesOf(sweep);
  int64_t width = sweep.laneLoop ? lanes.width : 1;
  SmallVector<unsigned> order = loopOrder(sweep);
  ArrayRef<unsigned> all(order);
  ArrayRef<unsigned> around = all.take_front(sweep.numParallel);
  ArrayRef<unsigned> inside = all.drop_front(sweep.numParallel);
  if (sweep.laneLoop)
    inside = inside.drop_back();
  if (lanes.interleaved)
    return emitInterleaved(sweep, lanes);
  if (lanes.tileLoop)
    return emitTiles(sweep, lanes, SmallVector<unsigned>(all.drop_back()));
  emitLoops(around, {}, [&](Values) -> Values {
    Values accumulators;
    for (const LoopStage *stage : sweep.stages)
      if (!stage->isParallel())
        for (unsigned i = 0; i < stage->op->getNumResults(); ++i)
          for (int64_t u = 0; u < lanes.unroll; ++u) {
            Operation *combiner = combinerOf(stage->generic(), i);
            Value neutral = arith::ConstantOp::create(b, loc, *arith::getNeutralElement(combiner));
            accumulators.push_back(splat(b, loc, neutral, width));
          }
    accumulators = emitLoops(inside, accumulators, [&](Values carried) {
      return emitLanes(sweep, lanes, carried, [&](int64_t unroll, Values inner) {
        return pointwiseBlock(sweep, lanes, unroll, inner);
      });
    });
    finishRowReductions(sweep, lanes, accumulators);
    return {};
  });
}

/// Emits one block of `unroll` vectors and returns the new accumulators.
NestEmitter::Values NestEmitter::pointwiseBlock(const LoopSweep &sweep, const Lanes &lanes,
                                                int64_t unroll, Values carried) {
  AffineExpr base = sweep.laneLoop ? loops[*sweep.laneLoop] : AffineExpr();
  for (int64_t u = 0; u < unroll; ++u) {
    if (sweep.laneLoop)
      loops[*sweep.laneLoop] = base + u * lanes.width;
    unsigned first = 0;
    for (const LoopStage *stage : sweep.stages) {
      if (stage->isParallel()) {
        evaluateParallel(*stage);
        continue;
      }
      unsigned count = stage->op->getNumResults();
      Values old;
      for (unsigned i = 0; i < count; ++i)
        old.push_back(carried[first + i * lanes.unroll + u]);
      Values values = e.body(stage->generic(), loopsAt(*stage), old);
      for (unsigned i = 0; i < count; ++i) {
        Value value = e.broadcast(values[i]);
        if (e.mask())
          value = arith::SelectOp::create(b, loc, e.mask(), value, old[i]);
        carried[first + i * lanes.unroll + u] = value;
      }
      first += count * lanes.unroll;
    }
    for (const LoopStage *stage : sweep.stages)
      if (stage->isParallel())
        storeStage(*stage);
  }
  if (sweep.laneLoop)
    loops[*sweep.laneLoop] = base;
  return carried;
}

/// Combines the accumulators of the lanes with the initial values.
void NestEmitter::finishRowReductions(const LoopSweep &sweep, const Lanes &lanes, Values carried) {
  unsigned first = 0;
  for (const LoopStage *stage : sweep.stages) {
    if (stage->isParallel())
      continue;
    linalg::GenericOp op = stage->generic();
    for (OpResult result : op->getResults()) {
      unsigned number = result.getResultNumber();
      Values parts(carried.begin() + first, carried.begin() + first + lanes.unroll);
      first += lanes.unroll;
      Operation *combiner = combinerOf(op, number);
      SmallVector<AffineExpr> indices = resultAt(*stage, number);
      Value init = e.element(op.getDpsInits()[number], indices);
      Value total = combineTree(b, loc, combiner, parts);
      e.bind(result, indices, combine(b, loc, combiner, init, total));
    }
    storeStage(*stage);
  }
}

//===--- column reductions ------------------------------------------------===//

/// Emits reductions in which every lane is a different element of the result, accumulated in
/// registers in sequential order.
void NestEmitter::emitColumn(const LoopSweep &sweep) {
  Lanes lanes = lanesOf(sweep);
  if (lanes.unrollsTaps)
    return emitWindows(sweep, lanes);
  SmallVector<unsigned> order = loopOrder(sweep);
  ArrayRef<unsigned> around = ArrayRef(order).take_front(sweep.numParallel);
  if (sweep.laneLoop)
    around = around.drop_back();
  emitRows(lanes, around, [&](int64_t rows) {
    emitLanes(sweep, lanes, {}, [&](int64_t unroll, Values) -> Values {
      columnBlock(sweep, rows, unroll);
      return {};
    });
  });
}

/// Returns the number of points of loops, or std::nullopt if it is not a constant.
static std::optional<int64_t> countPoints(ArrayRef<AffineExpr> sizes, ArrayRef<unsigned> loops) {
  int64_t count = 1;
  for (unsigned loop : loops) {
    auto size = dyn_cast<AffineConstantExpr>(sizes[loop]);
    if (!size)
      return std::nullopt;
    count *= size.getValue();
  }
  return count;
}

/// Like `emitLoops`, but sums restart for each block of points and the sums of blocks are added up,
/// so that the error grows with the number of blocks rather than with the number of points.
NestEmitter::Values NestEmitter::emitSums(ArrayRef<unsigned> numbers,
                                          ArrayRef<Operation *> combiners, Values carried,
                                          Body body) {
  static constexpr int64_t kBlock = 64;
  std::optional<int64_t> all = countPoints(nest.sizes, numbers);
  if (all && *all <= kBlock)
    return emitLoops(numbers, carried, body);
  unsigned number = numbers.front();
  ArrayRef<unsigned> rest = numbers.drop_front();
  std::optional<int64_t> inside = countPoints(nest.sizes, rest);
  int64_t step = inside ? std::max<int64_t>(kBlock / std::max<int64_t>(*inside, 1), 1) : 1;
  auto [lower, upper] = bounds(number);
  return e.forLoop(lower, upper, step, carried, [&, upper = upper](LoopDim block, Values totals) {
    Values sums;
    for (auto [combiner, total] : llvm::zip_equal(combiners, totals)) {
      Value neutral = arith::ConstantOp::create(b, loc, *arith::getNeutralElement(combiner));
      auto type = dyn_cast<VectorType>(total.getType());
      sums.push_back(splat(b, loc, neutral, type ? type.getNumElements() : 1));
    }
    if (step == 1) {
      loops[number] = block;
      sums = emitSums(rest, combiners, sums, body);
    } else {
      Value from = e.indexValue(block);
      Value to = arith::AddIOp::create(b, loc, from, e.indexConstant(step));
      to = arith::MinSIOp::create(b, loc, to, upper);
      sums = e.forLoop(from, to, 1, sums, [&](LoopDim dim, Values inner) {
        loops[number] = dim;
        return emitLoops(rest, inner, body);
      });
    }
    for (auto [combiner, total, sum] : llvm::zip_equal(combiners, totals, sums))
      total = combine(b, loc, combiner, total, sum);
    return totals;
  });
}

void NestEmitter::columnBlock(const LoopSweep &sweep, int64_t rows, int64_t unroll) {
  Lanes lanes = lanesOf(sweep);
  AffineExpr base = sweep.laneLoop ? loops[*sweep.laneLoop] : AffineExpr();
  AffineExpr row = rows > 1 ? loops[*lanes.rowLoop] : AffineExpr();
  auto forEachVector = [&](function_ref<void()> visit) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t u = 0; u < unroll; ++u) {
        if (row)
          loops[*lanes.rowLoop] = row + r;
        if (base)
          loops[*sweep.laneLoop] = base + u * lanes.width;
        visit();
      }
    if (row)
      loops[*lanes.rowLoop] = row;
    if (base)
      loops[*sweep.laneLoop] = base;
  };

  Values accumulators;
  SmallVector<Operation *> sums = sumsOf(sweep), combiners;
  forEachVector([&] {
    combiners.append(sums);
    for (const LoopStage *stage : sweep.stages)
      if (!stage->isParallel())
        for (auto [number, init] : llvm::enumerate(stage->generic().getDpsInits()))
          accumulators.push_back(e.broadcast(e.element(init, resultAt(*stage, number))));
  });
  auto reduction = sweep.inside();
  auto addPoint = [&](Values carried) {
    unsigned next = 0;
    forEachVector([&] {
      for (const LoopStage *stage : sweep.stages) {
        if (stage->isParallel())
          continue;
        ArrayRef<Value> old = ArrayRef(carried).slice(next, stage->op->getNumResults());
        Values values = e.body(stage->generic(), loopsAt(*stage), llvm::to_vector(old));
        for (Value value : values)
          carried[next++] = e.broadcast(value);
      }
    });
    return carried;
  };
  accumulators = lanes.unrollsTaps ? unrollLoops(reduction, accumulators, addPoint)
                 : sums.empty()    ? emitLoops(reduction, accumulators, addPoint)
                                   : emitSums(reduction, combiners, accumulators, addPoint);
  unsigned next = 0;
  forEachVector([&] {
    for (const LoopStage *stage : sweep.stages) {
      if (stage->isParallel()) {
        evaluateParallel(*stage);
        continue;
      }
      for (OpResult result : stage->op->getResults())
        e.bind(result, resultAt(*stage, result.getResultNumber()), accumulators[next++]);
    }
    for (const LoopStage *stage : sweep.stages)
      storeStage(*stage);
  });
}
