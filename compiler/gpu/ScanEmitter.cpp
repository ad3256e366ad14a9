//===- ScanEmitter.cpp - Scans by groups of threads -----------------------===//
//
// The threads of a warp exchange what their elements add up to, log2(32) times (Hillis and Steele,
// "Data parallel algorithms", 1986); warps and steps follow one after the other.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/ScanEmitter.h"
#include "compiler/gpu/TileMultiplier.h"
#include "compiler/kernels/ContractionForm.h"
#include "compiler/kernels/Polynomial.h"
#include "compiler/kernels/emit/SpecialEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tfc::gpu;
using namespace tfc::kernels;
using tfc::linalg_ext::ScanOp;

/// The neighbours of a thread in a step.
static constexpr int64_t kNeighbours = 4;
/// Lines of up to this many elements are scanned by a warp, if they are not scanned by a thread;
/// longer ones by blocks.
static constexpr int64_t kWarpLine = 1024;
/// So many lines keep a GPU busy with a thread for each if neighbouring threads access neighbours,
/// and with a block for each in any case.
static constexpr int64_t kManyLines = 1 << 14, kManyBlocks = 512;
/// The most parts of a line, whose extents are multiples of a step.
static constexpr int64_t kMostParts = 128;

std::optional<ScanShape> tfc::gpu::shapeOfScan(KernelShapes &shapes, ScanOp op) {
  if (!op.getAssociative())
    return std::nullopt;
  ArrayRef<AffineExpr> sizes = shapes.shapeOf(op.getResult());
  MLIRContext *context = op.getContext();
  AffineExpr length = sizes[op.getDimension()], lines = getAffineConstantExpr(1, context);
  for (AffineExpr size : lineSizes(shapes, op))
    lines = normalize(lines * size);
  std::optional<int64_t> known = constantOf(lines), extent = constantOf(length);
  bool isAcross = op.getDimension() + 1 < sizes.size();
  bool isShort = extent && *extent <= 2 * kNeighbours;
  if (isShort || (isAcross && known.value_or(kManyLines) >= kManyLines))
    return std::nullopt;
  if (extent && *extent <= kWarpLine)
    return ScanShape{kWarpThreads, {}, length};
  constexpr int64_t kStep = kBlockThreads * kNeighbours;
  if (known.value_or(1) >= kManyBlocks || (extent && *extent <= 4 * kStep))
    return ScanShape{kBlockThreads, {}, length};
  AffineExpr partExtent = normalize((length.floorDiv(kMostParts * kStep) + 1) * kStep);
  return ScanShape{kBlockThreads, normalize(length.ceilDiv(partExtent)), partExtent};
}

/// The bytes for a value of any type.
static constexpr int64_t kValueBytes = 8;

AffineExpr ScanEmitter::totalBytes(KernelShapes &shapes, ScanOp op, const ScanShape &shape) {
  AffineExpr count = shape.parts * kValueBytes;
  for (AffineExpr size : lineSizes(shapes, op))
    count = count * size;
  return normalize(count);
}

ScanEmitter::ScanEmitter(KernelEmitter &emitter, ScanOp op, const ScanShape &shape,
                         ThreadGroup &group, Value totals)
    : IndexArithmetic(emitter), e(emitter), op(op), shape(shape), group(group), totals(totals),
      length(e.shapes().shapeOf(op.getResult())[op.getDimension()]), init(e.scalar(op.getInit())) {}

/// The indices of an element, given its number in the order of the scan.
SmallVector<AffineExpr> ScanEmitter::placeOf(AffineExpr position) {
  SmallVector<AffineExpr> place(line);
  place.insert(place.begin() + op.getDimension(),
               op.getReverse() ? length - 1 - position : position);
  return place;
}

/// Combines what two runs of elements add up to. The region takes an element, which it may widen to
/// the type of states first.
Value ScanEmitter::combineStates(Value earlier, Value later) {
  Block &region = op.getCombine().front();
  IRMapping mapping;
  mapping.map(region.getArgument(0), earlier);
  BlockArgument element = region.getArgument(1);
  bool isWidened = element.getType() != later.getType();
  if (!isWidened)
    mapping.map(element, later);
  auto resolve = [&](Value operand) {
    if (operand.getParentBlock() != &region)
      mapping.map(operand, e.scalar(operand));
  };
  for (Operation &inner : region.without_terminator()) {
    llvm::for_each(inner.getOperands(), resolve);
    if (isWidened && llvm::is_contained(inner.getOperands(), Value(element)))
      mapping.map(inner.getResult(0), later);
    else
      b.clone(inner, mapping);
  }
  return mapping.lookupOrDefault(region.getTerminator()->getOperand(0));
}

/// The state after an element alone; the initial one, which is neutral, unless there is one.
Value ScanEmitter::stateAt(AffineExpr position, Value isThere) {
  AffineExpr last = length - 1;
  Value inside = minimum(e.indexValue(position), e.indexValue(last));
  SmallVector<Value> scalars = {init};
  for (Value input : op.getInputs())
    scalars.push_back(e.element(input, placeOf(e.addSymbol(inside))));
  Value state = e.inlineRegion(op.getCombine(), scalars);
  return arith::SelectOp::create(b, loc, isThere, state, init);
}

/// Returns what the threads before this one add up to, and the whole group.
Value ScanEmitter::scanGroup(Value own, Value &total) {
  auto [warp, lane] = divide(group.lane(), kWarpThreads);
  auto isAtLeast = [&](Value number, int64_t least) {
    return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::uge, number, constant(least));
  };
  Value sum = own;
  for (int64_t distance = 1; distance < kWarpThreads; distance *= 2) {
    Value next = combineStates(group.fromLaneBefore(sum, distance), sum);
    sum = arith::SelectOp::create(b, loc, isAtLeast(lane, distance), next, sum);
  }
  Value before = group.fromLaneBefore(sum, 1);
  before = arith::SelectOp::create(b, loc, isAtLeast(lane, 1), before, init);
  if (group.size() == kWarpThreads) {
    total = group.fromLastLane(sum);
    return before;
  }
  int64_t warps = group.size() / kWarpThreads;
  auto slot = [&](Value number) { return elementAt(b, loc, exchange, b.getI64Type(), number); };
  Value isLast = isAtLeast(lane, kWarpThreads - 1);
  emitIf(e, isLast, [&] { storeNumber(b, loc, sum, slot(warp)); });
  group.wait();
  Value ofWarps = init;
  total = init;
  for (int64_t number = 0; number < warps; ++number) {
    Value part = loadNumber(b, loc, own.getType(), slot(constant(number)));
    total = combineStates(total, part);
    Value isBefore = isAtLeast(warp, number + 1);
    ofWarps = arith::SelectOp::create(b, loc, isBefore, total, ofWarps);
  }
  group.wait(); // for the readers of the slots
  return combineStates(ofWarps, before);
}

/// Scans the elements from `from` to `to`, and returns what all of them add up to.
Value ScanEmitter::scanParts(Value carry, Value from, Value to, bool stores) {
  int64_t step = group.size() * kNeighbours;
  Values carried = {carry};
  carried = e.forLoop(from, to, step, carried, [&](LoopDim dim, Values inner) {
    Value first = add(e.indexValue(dim), mul(group.lane(), kNeighbours));
    AffineExpr position = e.addDim(first);
    Values sums, areThere;
    for (int64_t i = 0; i < kNeighbours; ++i) {
      Value isThere =
          b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, add(first, i), to);
      Value state = stateAt(position + i, isThere);
      sums.push_back(i == 0 ? state : combineStates(sums.back(), state));
      areThere.push_back(isThere);
    }
    Value total;
    Value before = scanGroup(sums.back(), total);
    Value last = combineStates(inner.front(), before);
    for (int64_t i = 0; stores && i < kNeighbours; ++i) {
      Value sum = combineStates(combineStates(inner.front(), before), sums[i]);
      emitIf(e, areThere[i], [&] {
        e.store(op.getResult(), placeOf(position + i), op.getExclusive() ? last : sum);
      });
      last = sum;
    }
    return Values{combineStates(inner.front(), total)};
  });
  return carried.front();
}

/// The address of what a part adds up to.
Value ScanEmitter::totalAt(AffineExpr part) {
  AffineExpr position = e.constantExpr(0);
  for (auto [size, index] : llvm::zip_equal(lineSizes(e.shapes(), op), line))
    position = position * size + index;
  position = position * shape.parts + part;
  return elementAt(b, loc, totals, b.getI64Type(), e.indexValue(normalize(position)));
}

void ScanEmitter::emitTotal(ArrayRef<AffineExpr> point) {
  line.assign(point.begin(), point.end() - 1);
  exchange = group.sharedMemory(kBlockThreads / kWarpThreads * kValueBytes);
  Value from = e.indexValue(normalize(point.back() * shape.partExtent));
  Value to = minimum(add(from, e.indexValue(shape.partExtent)), e.indexValue(length));
  Value total = scanParts(init, from, to, /*stores=*/false);
  emitIf(e, group.isFirst(), [&] { storeNumber(b, loc, total, totalAt(point.back())); });
}

/// Returns what the parts before one add up to. There is a thread for each.
Value ScanEmitter::carryInto(AffineExpr part) {
  static_assert(kMostParts <= kBlockThreads);
  AffineExpr own = e.addDim(minimum(group.lane(), e.indexValue(normalize(shape.parts - 1))));
  Value isBefore = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, group.lane(),
                                                 e.indexValue(part));
  Value total = loadNumber(b, loc, init.getType(), totalAt(own));
  total = arith::SelectOp::create(b, loc, isBefore, total, init);
  Value all;
  scanGroup(total, all);
  return all;
}

void ScanEmitter::emitElements(ArrayRef<AffineExpr> point) {
  Value carry = init, from = constant(0), to = e.indexValue(length);
  if (group.size() == kBlockThreads)
    exchange = group.sharedMemory(kBlockThreads / kWarpThreads * kValueBytes);
  if (shape.parts) {
    line.assign(point.begin(), point.end() - 1);
    carry = carryInto(point.back());
    from = e.indexValue(normalize(point.back() * shape.partExtent));
    to = minimum(add(from, e.indexValue(shape.partExtent)), to);
  } else {
    line.assign(point.begin(), point.end());
  }
  scanParts(carry, from, to, /*stores=*/true);
}
