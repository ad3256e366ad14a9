// Emits the loops of a nest: how they are split, vectorized and tiled. Reduction.cpp emits the
// computations of the sweeps in them.

#include "compiler/cpu/NestEmitter.h"
#include "compiler/cpu/AttentionEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc::cpu;

/// Estimate for sizes that are not known at compile time.
static constexpr int64_t kTypicalSize = 256;
/// Operations of products that take the time of a simple one without vectors.
static constexpr int64_t kOperationsOfCost = 6;

NestEmitter::NestEmitter(KernelEmitter &emitter, const KernelPlan &plan, const Nest &nest)
    : StageEmitter(emitter, nest), target(plan.getTarget()), schedule(plan.getSchedule()),
      product(plan.productOf(nest)), attention(plan.getAttention()) {}

//===--- shape of the loops -----------------------------------------------===//

/// Returns the sweep's loops from the outermost to the innermost: the vectorized loop comes last
/// among the parallel or the reduction loops.
SmallVector<unsigned> NestEmitter::loopOrder(const LoopSweep &sweep) const {
  SmallVector<unsigned> order(sweep.loops);
  if (!sweep.laneLoop)
    return order;
  auto *place = llvm::find(order, *sweep.laneLoop);
  bool prefix = place - order.begin() < sweep.numParallel;
  auto *partEnd = prefix ? order.begin() + sweep.numParallel : order.end();
  std::rotate(place, place + 1, partEnd);
  return order;
}

/// Returns the bits of the type that determines the number of lanes: floats before integers.
static int64_t dominantBits(const LoopSweep &sweep) {
  int64_t floats = 0, integers = 0;
  auto count = [&](Type type) {
    type = getElementTypeOrSelf(type);
    if (auto real = dyn_cast<FloatType>(type))
      floats = std::max<int64_t>(floats, std::max(32u, real.getWidth()));
    else if (auto integer = dyn_cast<IntegerType>(type); integer && integer.getWidth() > 1)
      integers = std::max<int64_t>(integers, integer.getWidth());
  };
  for (const LoopStage *stage : sweep.stages) {
    for (Type type : stage->op->getResultTypes())
      count(type);
    for (const Access &read : stage->footprint.reads)
      if (read.tensor.getType() && floats == 0)
        count(read.tensor.getType());
    stage->op->walk([&](Operation *inner) {
      if (inner != stage->op)
        for (Type type : inner->getResultTypes())
          count(type);
    });
  }
  return floats ? floats : integers ? integers : 8;
}

NestEmitter::Lanes NestEmitter::lanesOf(const LoopSweep &sweep) const {
  Lanes lanes;
  if (!sweep.laneLoop)
    return lanes;
  lanes.width = std::min<int64_t>(64, target.lanes(dominantBits(sweep)));
  std::optional<int64_t> size = constantOf(nest.sizes[*sweep.laneLoop]);
  if (size)
    lanes.width = std::min<int64_t>(lanes.width, llvm::PowerOf2Ceil(std::max<int64_t>(*size, 1)));
  int64_t cost = 0;
  for (const LoopStage *stage : sweep.stages)
    cost += stage->footprint.cost;
  lanes.unroll = cost > 120 ? 1 : cost > 50 ? 2 : 4;
  if (size)
    lanes.unroll = std::min<int64_t>(lanes.unroll, std::max<int64_t>(*size / lanes.width, 1));
  if (sweep.kind == LoopSweep::Kind::Column && !tileWindows(sweep, lanes) &&
      !tileRows(sweep, lanes))
    widenColumns(sweep, lanes, size);
  if (sweep.kind == LoopSweep::Kind::Pointwise) {
    interleaveRows(sweep, lanes);
    if (!lanes.interleaved)
      tileTransposed(sweep, lanes);
  }
  return lanes;
}

/// Lets a cheap reduction read long pieces of each row: next rows are far away, often in other
/// pages, and short pieces of many of them are not fetched ahead.
void NestEmitter::widenColumns(const LoopSweep &sweep, Lanes &lanes,
                               std::optional<int64_t> size) const {
  const LoopStage &stage = *sweep.stages.front();
  if (sweep.stages.size() != 1 || stage.footprint.cost > 12)
    return;
  int64_t vectors = target.vectorRegisters / 2 / stage.op->getNumResults();
  lanes.unroll = std::max(lanes.unroll, vectors);
  if (size)
    lanes.unroll = std::min<int64_t>(lanes.unroll, std::max<int64_t>(*size / lanes.width, 1));
}

/// Computes several rows per block if a reduction reads the same elements for each row.
bool NestEmitter::tileRows(const LoopSweep &sweep, Lanes &lanes) const {
  unsigned results = 0;
  for (const LoopStage *stage : sweep.stages)
    results += stage->isParallel() ? 0 : stage->op->getNumResults();
  const LoopStage &stage = *sweep.stages.front();
  for (unsigned loop : llvm::reverse(sweep.around())) {
    if (loop == *sweep.laneLoop || results != 1)
      continue;
    auto dim = cast<AffineDimExpr>(getAffineDimExpr(loop, b.getContext()));
    bool reused = llvm::any_of(stage.footprint.reads, [&](const Access &read) {
      return llvm::none_of(Schedule::readIndices(stage, read),
                           [&](AffineExpr index) { return usesDim(index, dim); });
    });
    if (!reused)
      continue;
    int64_t size = constantOf(nest.sizes[loop]).value_or(kTypicalSize);
    bool many = target.vectorRegisters >= 32;
    lanes.unroll = std::min<int64_t>(lanes.unroll, many ? 4 : 2);
    lanes.rows = std::clamp<int64_t>(size, 1, many ? 5 : 4);
    lanes.rowLoop = loop;
    return true;
  }
  return false;
}

/// Returns the loop that is split into units, if any.
std::optional<unsigned> NestEmitter::unitLoop() const {
  if (!nest.outer.empty())
    return nest.outer.front();
  if (nest.sweeps.size() != 1)
    return std::nullopt;
  const LoopSweep &sweep = nest.sweeps.front();
  if (sweep.loops.empty() || sweep.kind == LoopSweep::Kind::Special)
    return std::nullopt;
  bool parallel = llvm::all_of(sweep.stages, [](LoopStage *s) { return s->isParallel(); });
  if (!parallel && sweep.numParallel == 0)
    return std::nullopt;
  return loopOrder(sweep).front();
}

AffineExpr NestEmitter::units() const {
  if (product)
    return product->units;
  if (attention)
    return attention->units;
  std::optional<unsigned> loop = unitLoop();
  if (!loop)
    return e.constantExpr(1);
  return normalize(nest.sizes[*loop].ceilDiv(pointsPerUnit(*loop)));
}

/// Returns the number of a loop's points that are one unit if it is split into units: a block along
/// the lanes, some tiles that are transposed, those with all remainders, or one.
int64_t NestEmitter::pointsPerUnit(unsigned loop) const {
  static constexpr int64_t kTiles = 4;
  for (const LoopSweep &sweep : nest.sweeps) {
    if (sweep.laneLoop == loop)
      return lanesOf(sweep).block();
    Lanes lanes = lanesOf(sweep);
    if (lanes.transposes && lanes.tileLoop == loop)
      return kTiles * lanes.width;
    if (lanes.unrollsTaps && lanes.rowLoop != loop)
      return periodOf(sweep, loop);
  }
  return 1;
}

int64_t NestEmitter::unitCost() const {
  if (product)
    return std::max<int64_t>(1, (32 << 10) / product->grain);
  if (attention)
    return std::max<int64_t>(1, attention->unitOperations / kOperationsOfCost);
  std::optional<unsigned> unit = unitLoop();
  int64_t total = 0;
  for (const LoopSweep &sweep : nest.sweeps) {
    int64_t points = 1;
    SmallVector<unsigned> all(nest.outer);
    all.append(sweep.loops);
    for (unsigned loop : all)
      points *=
          loop == unit ? pointsPerUnit(loop) : constantOf(nest.sizes[loop]).value_or(kTypicalSize);
    int64_t cost = 0;
    for (const LoopStage *stage : sweep.stages)
      cost += stage->footprint.cost + stage->footprint.reads.size() + 1;
    total += points * cost / 2;
  }
  return std::max<int64_t>(total, 1);
}

//===--- loops ------------------------------------------------------------===//

/// Returns the range of a loop, restricted to the units if it is the loop that they split.
std::pair<Value, Value> NestEmitter::bounds(unsigned loop) {
  Value upper = e.indexValue(nest.sizes[loop]);
  if (loop != unitLoop() || !unitBegin)
    return {e.indexConstant(0), upper};
  int64_t points = pointsPerUnit(loop);
  if (points == 1)
    return {unitBegin, unitEnd};
  Value block = e.indexConstant(points);
  Value first = arith::MulIOp::create(b, loc, unitBegin, block);
  Value last = arith::MulIOp::create(b, loc, unitEnd, block);
  return {first, arith::MinSIOp::create(b, loc, last, upper)};
}

NestEmitter::Values NestEmitter::emitLoops(ArrayRef<unsigned> numbers, Values carried, Body body) {
  if (numbers.empty())
    return body(carried);
  unsigned number = numbers.front();
  auto [lower, upper] = bounds(number);
  return e.forLoop(lower, upper, 1, carried, [&](LoopDim dim, Values inner) {
    loops[number] = dim;
    return emitLoops(numbers.drop_front(), inner, body);
  });
}

/// Emits loops around a block, several rows at a time if `lanes` says so.
void NestEmitter::emitRows(const Lanes &lanes, ArrayRef<unsigned> numbers,
                           function_ref<void(int64_t)> body) {
  if (numbers.empty())
    return body(1);
  unsigned number = numbers.front();
  auto [lower, upper] = bounds(number);
  auto loop = [&](Value from, Value to, int64_t rows) {
    e.forLoop(from, to, rows, {}, [&](LoopDim dim, Values) -> Values {
      loops[number] = dim;
      if (rows == 1)
        emitRows(lanes, numbers.drop_front(), body);
      else
        emitRows(lanes, numbers.drop_front(), [&](int64_t) { body(rows); });
      return {};
    });
  };
  if (number != lanes.rowLoop || lanes.rows == 1)
    return loop(lower, upper, 1);
  Value rows = e.indexConstant(lanes.rows);
  Value count = arith::SubIOp::create(b, loc, upper, lower);
  Value rest = arith::RemSIOp::create(b, loc, count, rows);
  Value split = b.createOrFold<arith::SubIOp>(loc, upper, rest);
  if (auto first = getConstantIntValue(lower), last = getConstantIntValue(upper); first && last)
    split = e.indexConstant(*first + (*last - *first) / lanes.rows * lanes.rows);
  loop(lower, split, lanes.rows);
  loop(split, upper, 1);
}

/// Returns the indices of a loop in (first, last), in order, from which on a condition in the
/// bodies may have another value.
SmallVector<int64_t> NestEmitter::changesAlong(const LoopSweep &sweep, unsigned loop, int64_t first,
                                               int64_t last) const {
  SmallVector<int64_t> changes;
  AffineExpr dim = getAffineDimExpr(loop, b.getContext());
  auto addZero = [&](const LoopStage &stage, AffineExpr expr) {
    auto index = dyn_cast<AffineConstantExpr>(normalize(dim - expr.replaceDims(stage.loops)));
    if (index && index.getValue() > first && index.getValue() < last)
      changes.push_back(index.getValue());
  };
  for (const LoopStage *stage : sweep.stages)
    for (const BoundsCheck &check : stage->footprint.checks) {
      addZero(*stage, check.index);
      if (check.size)
        addZero(*stage, check.index - check.size);
    }
  llvm::sort(changes);
  changes.erase(llvm::unique(changes), changes.end());
  return changes;
}

/// Emits `body` for blocks along the vectorized loop, then for the remainder. Stretches in which
/// conditions have the same values are apart.
NestEmitter::Values NestEmitter::emitLanes(const LoopSweep &sweep, const Lanes &lanes,
                                           Values carried, LaneBody body) {
  if (!sweep.laneLoop)
    return body(1, carried);
  unsigned number = *sweep.laneLoop;
  auto [lower, upper] = laneBlock ? *laneBlock : bounds(number);
  auto stretch = [&](Value from, Value to, int64_t unroll, bool masked,
                     std::optional<IndexRange> range) {
    carried = e.forLoop(from, to, unroll * lanes.width, carried, [&](LoopDim dim, Values inner) {
      loops[number] = dim;
      if (range)
        e.setRange(dim, *range);
      Value mask = masked ? e.tailMask(e.indexValue(dim), to, lanes.width) : Value();
      KernelEmitter::VectorMode mode(e, dim, lanes.width, mask);
      return body(unroll, inner);
    });
  };
  // The range of the first vector of a block is that of all lanes.
  auto stretchOver = [&](int64_t from, int64_t to, int64_t unroll, bool masked) {
    int64_t last = masked ? to - 1 : to - (unroll - 1) * lanes.width - 1;
    if (from < to)
      stretch(e.indexConstant(from), e.indexConstant(to), unroll, masked, IndexRange{from, last});
  };
  std::optional<int64_t> first = getConstantIntValue(lower), last = getConstantIntValue(upper);
  if (first && last) {
    SmallVector<int64_t> ends = changesAlong(sweep, number, *first, *last);
    ends.push_back(*last);
    int64_t begin = *first;
    for (int64_t end : ends) {
      int64_t blocks = begin + (end - begin) / lanes.block() * lanes.block();
      int64_t vectors = begin + (end - begin) / lanes.width * lanes.width;
      stretchOver(begin, blocks, lanes.unroll, false);
      stretchOver(blocks, vectors, std::max<int64_t>((vectors - blocks) / lanes.width, 1), false);
      stretchOver(vectors, end, 1, true);
      begin = end;
    }
    return carried;
  }
  Value block = e.indexConstant(lanes.block());
  Value count = arith::SubIOp::create(b, loc, upper, lower);
  Value blocks = arith::DivUIOp::create(b, loc, count, block);
  blocks = arith::MulIOp::create(b, loc, blocks, block);
  Value split = arith::AddIOp::create(b, loc, lower, blocks);
  stretch(lower, split, lanes.unroll, false, std::nullopt);
  stretch(split, upper, 1, true, std::nullopt);
  return carried;
}

//===--- sweeps -----------------------------------------------------------===//

void NestEmitter::emit(Value begin, Value end) {
  unitBegin = begin;
  unitEnd = end;
  emitLoops(nest.outer, {}, [&](Values) -> Values {
    for (const LoopSweep &sweep : nest.sweeps)
      emitSweep(sweep);
    return {};
  });
}

void NestEmitter::emitSweep(const LoopSweep &sweep) {
  switch (sweep.kind) {
  case LoopSweep::Kind::Pointwise:
    return emitPointwise(sweep);
  case LoopSweep::Kind::Column:
    return emitColumn(sweep);
  case LoopSweep::Kind::Contraction:
    return emitContractionSweep(sweep);
  case LoopSweep::Kind::Attention:
    return AttentionEmitter(e, target, *attention).emit(unitBegin, unitEnd);
  case LoopSweep::Kind::Special:
    if (mlir::failed(emitSpecial(e, sweep.stages.front()->op)))
      e.fail();
  }
}

void NestEmitter::emitContractionSweep(const LoopSweep &sweep) {
  ContractionNest stored = *sweep.product;
  stored.storesProduct = e.buffer(stored.op->getResult(0)) != nullptr;
  KernelEmitter::Scope scope(e);
  emitContraction(e, target, stored, *product, unitBegin, unitEnd);
}
