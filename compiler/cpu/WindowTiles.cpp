// Holds the part of NestEmitter that tiles reductions over windows, as depthwise convolutions and
// pooling are. Windows of neighbouring points overlap: a tile computes several points of a row with
// all taps unrolled, so that each element is loaded once. Loops are cut where windows begin to lie
// inside of the operand, so that tiles between the cuts check no bounds. Where elements were placed
// at a stride, as the gradients of windows at a stride are, the points of each remainder are code
// of their own, which has the taps of that remainder alone.

#include "compiler/cpu/NestEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace tfc::cpu;

/// Maximum number of taps that are unrolled: windows of 7 x 7, which take a second to compile.
static constexpr int64_t kMaxTaps = 64;
/// Points that a tile computes, enough to hide the latency of multiply-adds.
static constexpr int64_t kTilePoints = 8;
/// Maximum number of remainders with code of their own.
static constexpr int64_t kMaxPeriod = 4;
/// Maximum number of tiles before and after the cuts that are emitted one by one.
static constexpr int64_t kMaxEdgeTiles = 2;

/// Returns the range of an expression over the loops of a nest, with `loop` fixed at 0.
static std::optional<IndexRange> rangeWithout(const Nest &nest, AffineExpr expr, unsigned loop) {
  return rangeOf(expr, [&](AffineDimExpr dim) -> std::optional<IndexRange> {
    std::optional<int64_t> size = constantOf(nest.sizes[dim.getPosition()]);
    if (dim.getPosition() == loop)
      return IndexRange{0, 0};
    return size && *size > 0 ? std::optional(IndexRange{0, *size - 1}) : std::nullopt;
  });
}

/// Returns the constant factor of a loop in an expression, or 0.
static int64_t factorOf(AffineExpr expr, unsigned loop) {
  AffineExpr factor, rest;
  auto dim = cast<AffineDimExpr>(getAffineDimExpr(loop, expr.getContext()));
  if (!Polynomial(expr).split(dim, factor, rest))
    return 0;
  return constantOf(factor).value_or(0);
}

/// Calls `visit` with each index of a sweep that is computed from several loops: those of reads,
/// and those that are checked.
static void forEachIndex(const LoopSweep &sweep, function_ref<void(AffineExpr)> visit) {
  for (const LoopStage *stage : sweep.stages) {
    for (const Access &read : stage->footprint.reads)
      for (AffineExpr index : Schedule::readIndices(*stage, read))
        visit(index);
    for (const BoundsCheck &check : stage->footprint.checks)
      visit(normalize(check.index.replaceDims(stage->loops)));
  }
}

/// The elements along an axis that one point and each further point of a loop read.
struct Reach {
  int64_t first = 0, next = 0;
};

/// Returns the reach of a loop of points around a sweep's reductions; 0 if none of them reads
/// windows along it.
static Reach reachOf(const Nest &nest, const LoopSweep &sweep, unsigned loop) {
  Reach reach;
  forEachIndex(sweep, [&](AffineExpr index) {
    int64_t step = std::abs(factorOf(index, loop));
    for (unsigned inner : sweep.inside())
      if (int64_t dilation = std::abs(factorOf(index, inner)); step != 0 && dilation != 0) {
        int64_t taps = constantOf(nest.sizes[inner]).value_or(1);
        reach.first = std::max(reach.first, dilation * (taps - 1) + 1);
        reach.next = std::max(reach.next, step);
      }
  });
  return reach;
}

/// Returns the number of points of a loop after which divisions of its number in indices have the
/// same remainders, if there are few; else 1.
int64_t NestEmitter::periodOf(const LoopSweep &sweep, unsigned loop) const {
  auto dim = cast<AffineDimExpr>(getAffineDimExpr(loop, b.getContext()));
  int64_t period = 1;
  forEachIndex(sweep, [&](AffineExpr index) {
    index.walk([&](AffineExpr part) {
      auto division = dyn_cast<AffineBinaryOpExpr>(part);
      if (!division || !isa<AffineConstantExpr>(division.getRHS()) ||
          division.getKind() == AffineExprKind::Add || division.getKind() == AffineExprKind::Mul)
        return;
      int64_t divisor = cast<AffineConstantExpr>(division.getRHS()).getValue();
      if (divisor > 1 && period <= kMaxPeriod && usesDim(division.getLHS(), dim))
        period = std::lcm(period, std::min(divisor, kMaxPeriod + 1));
    });
  });
  return period <= kMaxPeriod ? period : 1;
}

/// Chooses a tile of a reduction over windows: points along the innermost loop that is not
/// vectorized. Returns false if the sweep is none, or if its taps are too many or unknown.
bool NestEmitter::tileWindows(const LoopSweep &sweep, Lanes &lanes) const {
  int64_t taps = 1;
  for (unsigned loop : sweep.inside())
    taps *= constantOf(nest.sizes[loop]).value_or(kMaxTaps + 1);
  unsigned results = 0;
  for (const LoopStage *stage : sweep.stages)
    results += stage->isParallel() ? 0 : stage->op->getNumResults();
  SmallVector<unsigned> points(sweep.around());
  llvm::erase(points, *sweep.laneLoop);
  if (taps > kMaxTaps || points.empty() || !constantOf(nest.sizes[points.back()]))
    return false;
  Reach row = reachOf(nest, sweep, points.back());
  if (row.next == 0)
    return false;
  // The results of each point, the elements of a row of taps, a weight and a temporary.
  int64_t most = (target.vectorRegisters - 2 - row.first + row.next) / (results + row.next);
  most = std::clamp<int64_t>(most, 1, kTilePoints);
  int64_t size = *constantOf(nest.sizes[points.back()]);
  lanes.rows = llvm::divideCeil(size, llvm::divideCeil(size, most));
  lanes.rowLoop = points.back();
  if (int64_t period = periodOf(sweep, points.back()); period > 1 && period <= size)
    lanes.rows = std::max<int64_t>(1, lanes.rows / period) * period;
  lanes.unroll = std::clamp<int64_t>(kTilePoints / lanes.rows / 2, 1, lanes.unroll);
  lanes.unrollsTaps = true;
  return true;
}

/// Returns the dividend and the divisor of a quotient by a constant that is rounded down.
static std::optional<std::pair<AffineExpr, int64_t>> matchQuotient(AffineExpr expr) {
  auto division = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!division || division.getKind() != AffineExprKind::FloorDiv)
    return std::nullopt;
  auto divisor = dyn_cast<AffineConstantExpr>(division.getRHS());
  return divisor ? std::optional(std::pair(division.getLHS(), divisor.getValue())) : std::nullopt;
}

/// Returns the numbers at which a loop in steps of `step` is cut: its first, one past its last, and
/// those between which all windows lie inside of what they read.
SmallVector<int64_t> NestEmitter::cutsOf(const LoopSweep &sweep, unsigned loop,
                                         int64_t step) const {
  int64_t size = *constantOf(nest.sizes[loop]), whole = size / step * step;
  int64_t first = 0, end = size;
  for (const LoopStage *stage : sweep.stages)
    for (const BoundsCheck &check : stage->footprint.checks) {
      AffineExpr index = normalize(check.index.replaceDims(stage->loops));
      std::optional<int64_t> bound = check.size ? constantOf(check.size) : std::nullopt;
      // x floordiv n is in [0, size) where x is in [0, n * size).
      while (auto quotient = matchQuotient(index)) {
        index = quotient->first;
        if (bound)
          *bound *= quotient->second;
      }
      int64_t factor = factorOf(index, loop);
      std::optional<IndexRange> rest = rangeWithout(nest, index, loop);
      if (factor <= 0 || !rest)
        continue;
      first = std::max(first, llvm::divideCeilSigned(-rest->first, factor));
      if (!bound)
        continue;
      end = std::min(end, llvm::divideFloorSigned(*bound - 1 - rest->last, factor) + 1);
    }
  first = std::min(llvm::divideCeil(first, step) * step, uint64_t(whole));
  end = std::clamp<int64_t>(end / step * step, first, whole);
  SmallVector<int64_t> cuts{0};
  auto cutAt = [&](int64_t number) {
    bool single = (number - cuts.back()) / step <= kMaxEdgeTiles && cuts.back() != first;
    for (int64_t next = cuts.back() + step; single && next < number; next += step)
      cuts.push_back(next);
    if (number != cuts.back())
      cuts.push_back(number);
  };
  for (int64_t number : {first, end, whole, size})
    cutAt(number);
  return cuts;
}

/// Emits the loops of a reduction over windows. All channels of a block of rows are computed one
/// vector after the other, so that what overlapping windows of a vector read stays in the
/// first-level cache.
void NestEmitter::emitWindows(const LoopSweep &sweep, const Lanes &lanes) {
  SmallVector<unsigned> points(sweep.around());
  llvm::erase(points, *sweep.laneLoop);
  // Lanes run around points here: counts of elements by which an average divides are those of one.
  e.setDivisorsVary(true);
  llvm::scope_exit restore([&] { e.setDivisorsVary(false); });
  auto emitBlock = [&](ArrayRef<unsigned> around) {
    emitLanes(sweep, lanes, {}, [&](int64_t unroll, Values) -> Values {
      emitWindowRows(sweep, lanes, around, /*rows=*/1,
                     [&](int64_t rows) { columnBlock(sweep, rows, unroll); });
      return {};
    });
  };
  if (points.size() == 1)
    return emitBlock(points);
  ArrayRef<unsigned> outer = ArrayRef(points).drop_back(2), inner = ArrayRef(points).take_back(2);
  Reach row = reachOf(nest, sweep, inner.back()), column = reachOf(nest, sweep, inner.front());
  int64_t width = row.first + (*constantOf(nest.sizes[inner.back()]) - 1) * row.next;
  int64_t rows = target.l1Bytes / 2 / (width * lanes.unroll * target.vectorBits / 8);
  int64_t step = std::max<int64_t>(rows - column.first, 0) / std::max<int64_t>(column.next, 1) + 1;
  step = llvm::alignTo(step, periodOf(sweep, inner.front()));
  emitLoops(outer, {}, [&](Values) -> Values {
    auto [lower, upper] = bounds(inner.front());
    return e.forLoop(lower, upper, step, {}, [&, upper = upper](LoopDim dim, Values) -> Values {
      Value from = e.indexValue(dim);
      Value to = b.createOrFold<arith::AddIOp>(loc, from, e.indexConstant(step));
      to = b.createOrFold<arith::MinSIOp>(loc, to, upper);
      rowBlock = {from, to};
      emitBlock(inner);
      rowBlock.reset();
      return {};
    });
  });
}

/// Emits the loops around the tiles of windows, between the cuts of each.
void NestEmitter::emitWindowRows(const LoopSweep &sweep, const Lanes &lanes,
                                 ArrayRef<unsigned> numbers, int64_t rows,
                                 function_ref<void(int64_t)> body) {
  if (numbers.empty())
    return body(rows);
  unsigned number = numbers.front();
  bool tiled = number == lanes.rowLoop;
  auto [lower, upper] = tiled || !rowBlock ? bounds(number) : *rowBlock;
  auto emitAt = [&](AffineExpr point, int64_t step) {
    loops[number] = point;
    emitWindowRows(sweep, lanes, numbers.drop_front(), tiled ? step : rows, body);
  };
  auto loop = [&](Value from, Value to, int64_t step, std::optional<IndexRange> range) {
    e.forLoop(from, to, step, {}, [&](LoopDim dim, Values) -> Values {
      if (range)
        e.setRange(dim, *range);
      emitAt(dim, step);
      return {};
    });
  };
  std::optional<int64_t> first = getConstantIntValue(lower), last = getConstantIntValue(upper);
  // Units of tiles would not begin where tiles do.
  if (!constantOf(nest.sizes[number]) || (tiled && !(first && last)))
    return loop(lower, upper, 1, std::nullopt);
  int64_t period = periodOf(sweep, number), step = tiled ? lanes.rows : period;
  bool hasRemainders = period > 1 && step % period == 0;
  // Runs over [from, to) in steps, whose remainders are known.
  auto loopOverSteps = [&](Value from, Value to, IndexRange range) {
    e.forLoop(from, to, 1, {}, [&](LoopDim dim, Values) -> Values {
      e.setRange(dim, range);
      if (tiled)
        emitAt(dim * step, step);
      else
        for (int64_t i = 0; i < step; ++i)
          emitAt(dim * step + i, 1);
      return {};
    });
  };
  SmallVector<int64_t> cuts = cutsOf(sweep, number, step);
  for (auto [from, to] : llvm::zip(cuts, llvm::drop_begin(cuts))) {
    int64_t width = std::min(step, to - from);
    Value begin, end;
    if (first && last) {
      begin = e.indexConstant(std::max(from, *first));
      end = e.indexConstant(std::min(to, *last));
    } else {
      begin = arith::MaxSIOp::create(b, loc, lower, e.indexConstant(from));
      end = arith::MinSIOp::create(b, loc, upper, e.indexConstant(to));
    }
    if (hasRemainders && width == step) {
      Value count = e.indexConstant(step);
      begin = b.createOrFold<arith::DivSIOp>(loc, begin, count);
      end = b.createOrFold<arith::DivSIOp>(loc, end, count);
      loopOverSteps(begin, end, IndexRange{from / step, to / step - 1});
    } else if (hasRemainders && tiled) {
      emitAt(e.constantExpr(from), width);
    } else {
      int64_t single = tiled ? width : 1;
      loop(begin, end, single, IndexRange{from, to - single});
    }
  }
}

/// Emits `body` at all points of loops with constant extents, one after the other.
NestEmitter::Values NestEmitter::unrollLoops(ArrayRef<unsigned> numbers, Values carried,
                                             Body body) {
  if (numbers.empty())
    return body(carried);
  int64_t size = *constantOf(nest.sizes[numbers.front()]);
  for (int64_t i = 0; i < size; ++i) {
    loops[numbers.front()] = e.constantExpr(i);
    carried = unrollLoops(numbers.drop_front(), carried, body);
  }
  return carried;
}
