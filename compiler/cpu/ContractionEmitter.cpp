// The loops of a contraction around its register tiles: units, blocks along k, panels of columns
// and rows of tiles. Tiles are emitted by ContractionMicro.cpp and ContractionLanes.cpp, copies by
// ContractionPack.cpp, streams of rows by ContractionRows.cpp.

#include "compiler/cpu/ContractionEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;

namespace tfc::cpu {
namespace {

/// Maximum number of epilogue operations, over all copies for one tile, that are emitted inline.
/// Larger epilogues run in a separate loop.
constexpr int64_t kInlineEpilogue = 600;

int64_t epilogueOperations(const ContractionNest &nest) {
  int64_t operations = nest.storesProduct ? 1 : 0;
  for (linalg::GenericOp op : nest.epilogues) {
    // Other inputs take registers, which accumulators need.
    operations += llvm::count_if(op.getDpsInputs(), [&](Value input) {
      return !llvm::is_contained(nest.epilogues, input.getDefiningOp()) &&
             input.getDefiningOp() != nest.op;
    });
    for (Operation &inner : op.getBody()->without_terminator()) {
      bool isFunction =
          isa<math::MathDialect>(inner.getDialect()) && !isa<math::RoundEvenOp>(inner);
      if (!inner.hasTrait<OpTrait::ConstantLike>())
        operations += isFunction ? 15 : 1;
    }
  }
  return operations;
}

} // namespace

ContractionEmitter::ContractionEmitter(KernelEmitter &emitter, const Target &target,
                                       const ContractionNest &nest, const ContractionPlan &plan,
                                       ContractionForm form)
    : LoopEmitter(emitter), emitter(emitter), target(target), nest(nest), plan(plan),
      form(std::move(form)) {}

void ContractionEmitter::emit(Value begin, Value end) {
  forLoop(toIndex(begin), toIndex(end), 1, [&](Value unit) { emitUnit(unit); });
}

/// Opens loops whose indices are given by the linear index `number`.
void ContractionEmitter::fixIndices(ArrayRef<unsigned> loops, Value number) {
  for (unsigned loop : llvm::reverse(loops)) {
    Value index = number;
    if (loop != loops.front())
      std::tie(number, index) = divide(number, emitter.indexValue(form.loopSizes[loop]));
    fixedIndices[loop] = emitter.addDim(index);
  }
}

/// Returns how many of `most` numbers from `first` on are less than `size`.
Value ContractionEmitter::countFrom(Value first, int64_t most, AffineExpr size) {
  std::optional<int64_t> all = constantOf(size);
  return all && *all % most == 0 ? constant(most)
                                 : minimum(constant(most), sub(emitter.indexValue(size), first));
}

/// Splits the unit's number into outer indices, points of mOuter, a block of rows and a group of
/// panels. Panels vary fastest, so that the block of a stays in the cache.
void ContractionEmitter::emitUnit(Value unit) {
  Value groups =
      emitter.indexValue(normalize(form.nSize().ceilDiv(tileColumns() * plan.unitPanels)));
  Value blocks = emitter.indexValue(normalize(form.mSize().ceilDiv(plan.unitRows)));
  auto [rest, group] = divide(unit, groups);
  auto [outer, block] = divide(rest, blocks);
  if (!form.mOuter.empty()) {
    Value points = emitter.indexValue(normalize(form.mOuterSize().ceilDiv(plan.unitPoints)));
    std::tie(outer, firstPoint) = divide(outer, points);
    firstPoint = mul(firstPoint, plan.unitPoints);
    pointCount = countFrom(firstPoint, plan.unitPoints, normalize(form.mOuterSize()));
  }
  fixedIndices.assign(form.loopSizes.size(), AffineExpr());
  fixIndices(form.outer, outer);
  m0 = mul(block, plan.unitRows);
  mCount = countFrom(m0, plan.unitRows, form.mSize());
  firstPanel = mul(group, plan.unitPanels);
  a = analyzeOperand(true);
  bOperand = analyzeOperand(false);
  choosePacking();
  chooseBlocking();
  allocateBuffers();
  emitBlocks();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

ContractionOperand ContractionEmitter::analyzeOperand(bool isA) {
  ContractionOperand operand;
  operand.factor = isA ? &form.a : &form.b;
  operand.converts = form.converts(*operand.factor) && !hasPairs();
  linalg::GenericOp op = nest.op;
  operand.tensor = op.getDpsInputOperand(operand.factor->inputs.front())->get();
  operand.elementType = getElementTypeOrSelf(operand.tensor.getType());
  if (const Buffer *buffer = emitter.buffer(operand.tensor))
    operand.access = linearAccess(op, form, isA, buffer->strides, fixedIndices);
  if (!operand.access)
    return operand;
  auto toStride = [&](AffineExpr expr) {
    std::optional<int64_t> fixed = constantOf(expr);
    return fixed ? Stride{*fixed, {}} : Stride{0, emitter.indexValue(expr)};
  };
  operand.across = toStride(operand.access->across);
  operand.k = toStride(operand.access->k);
  for (AffineExpr stride : operand.access->kOuter)
    operand.kOuter.push_back(toStride(stride));
  return operand;
}

/// Tiles read an operand in place if that is cheap. An operand that is converted, gathered or
/// spread over too many cache lines is packed on the stack, once per unit (b) or per row of tiles
/// (a).
void ContractionEmitter::choosePacking() {
  if (plan.lanesAlongK && a.isContiguousAlongK() && bOperand.isContiguousAlongK())
    return;
  auto bytes = [](const ContractionOperand &operand) {
    return std::max<int64_t>(1, operand.elementType.getIntOrFloatBitWidth() / 8);
  };
  a.packed = packsRows(target, form, a.access, bytes(a), plan);
  if (plan.isPacked)
    return;
  bOperand.packed = form.kOuter.empty()
                        ? hasPairs() || !bOperand.isContiguousAcross() || plan.blockSteps
                        : plan.copiesB;
  int64_t rows = constantOf(form.mSize()).value_or(kPackingRows) * plan.unitPoints;
  if (bOperand.packed || !form.kOuter.empty() || rows < kPackingRows)
    return;
  std::optional<int64_t> rowBytes, k = constantOf(form.kSize());
  if (bOperand.k.isFixed())
    rowBytes = bOperand.k.fixed * bytes(bOperand);
  // Half of the cache is left for other data.
  if (k)
    k = 2 * *k;
  bOperand.packed = rowBytes.value_or(kFarBytes) >= kFarBytes &&
                    !fitsFirstCache(target, rowBytes, k, tileColumns() * bytes(bOperand));
}

/// Splits k into blocks that fit into the packed copies.
void ContractionEmitter::chooseBlocking() {
  AffineExpr steps = wordCount();
  for (unsigned loop : tileLoops())
    steps = steps * form.loopSizes[loop];
  std::optional<int64_t> k = constantOf(normalize(steps));
  if (!tileLoops().empty()) {
    kBlock = 0;
    packedKCapacity = k.value_or(0);
    return;
  }
  int64_t largest = std::numeric_limits<int32_t>::max();
  if (bOperand.packed)
    largest =
        (a.packed ? panelBytes(target) : copyBytes(target)) / (plan.unitColumns() * computeBytes());
  if (a.packed)
    largest = std::min<int64_t>(
        largest, target.l1Bytes / 2 / (llvm::alignTo(plan.tile.rows, plan.lanes) * computeBytes()));
  largest = std::max<int64_t>(largest / plan.lanes, 1) * plan.lanes;
  if (plan.blockSteps)
    largest = a.packed ? std::min(largest, plan.blockSteps) : plan.blockSteps;
  kBlock = 0;
  packedKCapacity = k ? llvm::alignTo(*k, plan.lanes) : largest;
  if ((a.packed || bOperand.packed) && (!k || *k > largest)) {
    int64_t blocks = llvm::divideCeil(k.value_or(largest), largest);
    kBlock = k ? llvm::alignTo(llvm::divideCeil(*k, blocks), plan.lanes) : largest;
    packedKCapacity = kBlock;
  }
  packedRowStride = packedKCapacity + plan.lanes;
  if (packedRowStride * computeBytes() % 1024 == 0)
    packedRowStride += plan.lanes;
}

void ContractionEmitter::allocateBuffers() {
  int64_t copies = plan.tile.rows * plan.tile.vectors;
  buffered = accumulates() || epilogueOperations(nest) * copies > kInlineEpilogue;
  // The packed rows of a unit stay in the second-level cache, beside panels of b and sums.
  int64_t tiles = llvm::divideCeil(plan.unitRows, plan.tile.rows);
  int64_t elements = tiles * packedTileElements();
  packsUnit = a.packed && a.isContiguousAcross() && !a.isContiguousAlongK() && tiles > 1 &&
              form.mOuter.empty() && elements * computeBytes() <= target.l2Bytes / 4;
  if (packsUnit)
    packedA = stackBuffer(elements);
  else if (a.packed)
    packedA = stackBuffer(llvm::alignTo(plan.tile.rows, plan.lanes) * packedRowStride);
  if (bOperand.packed)
    packedB = stackBuffer((packedKCapacity + plan.lanes) * tileColumns() * plan.unitPanels);
  if (buffered)
    sumBuffer = stackBuffer(plan.unitPoints * plan.unitRows * tileColumns() * plan.unitPanels);
}

Value ContractionEmitter::linearPointer(const ContractionOperand &operand, Value across, Value k) {
  Value pointer = emitter.buffer(operand.tensor)->pointer;
  pointer = advance(b, loc, pointer, operand.elementType, emitter.indexValue(operand.access->base),
                    Stride{1, {}});
  pointer = advance(b, loc, pointer, operand.elementType, across, operand.across);
  for (auto [step, stride] : llvm::zip(outerSteps, operand.kOuter))
    pointer = advance(b, loc, pointer, operand.elementType, step, stride);
  return advance(b, loc, pointer, operand.elementType, mul(k, wordSteps()), operand.k);
}

/// The address of a panel of a packed constant, at the open loops of kOuter and k0.
Value ContractionEmitter::constantPointer(const Panel &panel, Value k0) {
  AffineExpr steps = form.kSize();
  Value step = mul(k0, wordSteps());
  for (size_t i = form.kOuter.size(); i-- > 0; steps = steps * form.loopSizes[form.kOuter[i]])
    if (i < outerSteps.size())
      step = add(step, mul(outerSteps[i], *constantOf(normalize(steps))));
  Value pointer = emitter.buffer(bOperand.tensor)->pointer;
  pointer = advance(b, loc, pointer, bOperand.elementType, panel.n0,
                    Stride{*constantOf(normalize(steps)), {}});
  return advance(b, loc, pointer, bOperand.elementType, step, Stride{panel.width, {}});
}

//===----------------------------------------------------------------------===//
// Loops of a unit
//===----------------------------------------------------------------------===//

/// Emits `body` for each of the unit's points of the loops of mOuter.
void ContractionEmitter::forEachPointOfRows(function_ref<void()> body) {
  point = constant(0);
  if (form.mOuter.empty())
    return body();
  forLoop(constant(0), pointCount, 1, [&](Value number) {
    point = number;
    fixIndices(form.mOuter, add(firstPoint, number));
    bool packed = a.packed;
    a = analyzeOperand(true);
    a.packed = packed;
    body();
  });
}

void ContractionEmitter::forEachPanel(PanelBody body) {
  Value count = constant(plan.unitPanels);
  std::optional<int64_t> n = constantOf(form.nSize());
  if (plan.unitPanels > 1 && (!n || *n % (tileColumns() * plan.unitPanels))) {
    Value panels = emitter.indexValue(normalize(form.nSize().ceilDiv(tileColumns())));
    count = minimum(count, sub(panels, firstPanel));
  }
  forLoop(constant(0), count, 1, [&](Value number) { forPanel(number, body); });
}

/// Emits `body` for a full panel and, if there may be one, for a partial last panel.
void ContractionEmitter::forPanel(Value number, PanelBody body) {
  std::optional<int64_t> n = constantOf(form.nSize());
  Value index = add(firstPanel, number), n0 = mul(index, tileColumns());
  Panel full{
      plan.tile.vectors, SmallVector<Value>(plan.tile.vectors), constant(tileColumns()), n0, number,
      tileColumns()};
  if (n) {
    int64_t fullPanels = *n / tileColumns(), columns = *n % tileColumns();
    Panel tail{
        int64_t(llvm::divideCeil(columns, plan.lanes)), {}, constant(columns), n0, number, columns};
    tail.masks.resize(tail.vectors);
    if (columns % plan.lanes)
      tail.masks.back() = firstLanes(plan.lanes, constant(columns % plan.lanes));
    if (columns == 0)
      return body(full);
    if (fullPanels == 0)
      return body(tail);
    Value isFull =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, constant(fullPanels));
    return ifElse(isFull, [&] { body(full); }, [&] { body(tail); });
  }
  Value columns = sub(emitter.indexValue(form.nSize()), n0);
  Value isFull =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, columns, constant(tileColumns()));
  ifElse(
      isFull, [&] { body(full); },
      [&] {
        Panel tail{plan.tile.vectors, {}, columns, n0, number};
        for (int64_t v = 0; v < tail.vectors; ++v)
          tail.masks.push_back(firstLanes(plan.lanes, sub(columns, constant(v * plan.lanes))));
        body(tail);
      });
}

/// Emits `body` for the vectors of the unit's columns [begin, end), with a mask for a partial last
/// one; `begin` is a multiple of the lanes.
void ContractionEmitter::forEachVector(Value begin, Value end,
                                       function_ref<void(Value, Value)> body) {
  Value rest = divide(end, constant(plan.lanes)).second, whole = sub(end, rest);
  forLoop(begin, whole, plan.lanes, [&](Value column) { body(column, nullptr); });
  std::optional<int64_t> n = constantOf(form.nSize());
  if (n && *n % plan.lanes == 0)
    return;
  Value hasRest = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, rest, constant(0));
  ifElse(hasRest, [&] { body(whole, firstLanes(plan.lanes, rest)); }, nullptr);
}

void ContractionEmitter::emitBlocks() {
  if (accumulates()) {
    Value zero = zeroOf(b, loc, VectorType::get({plan.lanes}, form.computeType));
    Value rows = form.mOuter.empty() ? mCount : mul(pointCount, plan.unitRows);
    Value elements = mul(rows, tileColumns() * plan.unitPanels);
    forLoop(constant(0), elements, plan.lanes, [&](Value i) {
      storeLanes(b, loc, zero, advance(b, loc, sumBuffer, form.computeType, i, Stride{1, {}}));
    });
  }
  emitStepsOfBlocks();
  if (buffered)
    forEachPointOfRows([&] { emitBufferedResults(); });
}

/// Emits the loops around tiles that block the reduction.
void ContractionEmitter::emitStepsOfBlocks() {
  if (outerSteps.size() < plan.blockLoops)
    return openOuterStep([&] { emitStepsOfBlocks(); });
  if (readsRowsInPlace())
    return emitRowStream();
  Value kSize = emitter.indexValue(wordCount());
  if (!kBlock)
    return emitRows(constant(0), kSize);
  forLoop(constant(0), kSize, kBlock,
          [&](Value k0) { emitRows(k0, minimum(constant(kBlock), sub(kSize, k0))); });
}

/// Emits the next loop of kOuter around `body`.
void ContractionEmitter::openOuterStep(function_ref<void()> body) {
  unsigned loop = form.kOuter[outerSteps.size()];
  forLoop(constant(0), emitter.indexValue(form.loopSizes[loop]), 1, [&](Value i) {
    outerSteps.push_back(i);
    fixedIndices[loop] = emitter.addDim(i);
    body();
    fixedIndices[loop] = AffineExpr();
    outerSteps.pop_back();
  });
}

void ContractionEmitter::emitRows(Value k0, Value kCount) {
  if (bOperand.packed)
    packB(k0, kCount);
  if (packsUnit)
    packUnitOfA(k0, kCount);
  forEachPointOfRows([&] { emitTiles(k0, kCount); });
}

/// Emits the tiles of all rows of the unit at one point of mOuter.
void ContractionEmitter::emitTiles(Value k0, Value kCount) {
  int64_t rows = plan.tile.rows;
  std::optional<int64_t> m = constantOf(form.mSize());
  Value whole = mCount;
  bool hasRest = !m || *m % rows != 0;
  if (hasRest)
    whole = mul(divide(mCount, constant(rows)).first, rows);
  if (!m || *m >= rows)
    forLoop(constant(0), whole, rows, [&](Value row) { emitRowsOfTile(row, rows, k0, kCount); });
  if (!hasRest)
    return;
  Value rest = sub(mCount, whole);
  if (m) {
    Value hasRows = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, rest, constant(0));
    return ifElse(hasRows, [&] { emitRowsOfTile(whole, *m % rows, k0, kCount); }, nullptr);
  }
  for (int64_t part = llvm::PowerOf2Ceil(rows) / 2; part > 0; part /= 2) {
    Value bit = arith::AndIOp::create(b, loc, rest, constant(part));
    Value isSet = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, constant(0));
    ifElse(isSet, [&] { emitRowsOfTile(whole, part, k0, kCount); }, nullptr);
    whole = add(whole, bit);
  }
}

/// Emits the tiles of rows [row, row + rows) of the unit, for all its panels.
void ContractionEmitter::emitRowsOfTile(Value row, int64_t rows, Value k0, Value kCount) {
  KernelEmitter::Scope scope(emitter);
  Value m = add(m0, row);
  TileSource source;
  SmallVector<ReductionLoop> loops;
  for (unsigned i = plan.blockLoops; i < form.kOuter.size(); ++i)
    loops.push_back(
        {emitter.indexValue(form.loopSizes[form.kOuter[i]]), a.kOuter[i], bOperand.kOuter[i]});
  loops.push_back({kCount, hasPairs() ? Stride{PairSteps::kGroup, {}} : a.k, bOperand.k});
  if (packsUnit) {
    source = {packedRows(row), copyType(), {1, {}}, nullptr};
    loops.back().a = {plan.tile.rows, {}};
  } else if (a.packed)
    source = packA(m, rows, k0, kCount, loops.back().a);
  else
    source = {linearPointer(a, m, k0), a.elementType, a.across, conversion(a)};
  forEachPanel([&](const Panel &panel) {
    prefetchRows(panel, row, rows, k0, kCount);
    emitTile(panel, row, rows, source, loops, k0);
  });
}

/// Sets the strides of the reduction loops in a packed copy of b, in which all steps are
/// consecutive.
void ContractionEmitter::stepThroughPacked(SmallVectorImpl<ReductionLoop> &loops, int64_t columns) {
  int64_t stride = columns;
  for (unsigned i = loops.size(); i-- > 0;) {
    loops[i].b = {stride, {}};
    if (i > 0)
      stride *= *constantOf(i + 1 < loops.size() ? form.loopSizes[tileLoops()[i]]
                            : bOperand.packed    ? wordCount()
                                                 : form.kSize());
  }
}

/// Lets a tile multiply words of two steps. If one is left, operands that are no copies have one
/// step in the last word.
void ContractionEmitter::setPairs(MicroTile &tile, const Panel &panel, Value k0) {
  tile.pairs = PairSteps{a.packed, bOperand.packed, nullptr};
  if (!bOperand.packed)
    tile.loops.back().b = {PairSteps::kGroup * panel.width, {}};
  std::optional<int64_t> steps = constantOf(form.kSize());
  if ((!a.packed || !bOperand.packed) && !(steps && *steps % PairSteps::kGroup == 0))
    tile.pairs->whole = wholeWords(k0, tile.loops.back().count);
}

Value ContractionEmitter::sumPointer(const Panel &panel, Value row, Value column) {
  Value position = add(mul(panel.number, tileColumns()), column);
  if (!form.mOuter.empty())
    row = add(mul(point, plan.unitRows), row);
  position = add(mul(row, tileColumns() * plan.unitPanels), position);
  return advance(b, loc, sumBuffer, form.computeType, position, Stride{1, {}});
}

void ContractionEmitter::emitTile(const Panel &panel, Value row, int64_t rows,
                                  const TileSource &source, ArrayRef<ReductionLoop> loops,
                                  Value k0) {
  KernelEmitter::Scope scope(emitter);
  SmallVector<Value> sums;
  auto sumAt = [&](int64_t i, int64_t v) {
    return sumPointer(panel, add(row, i), constant(v * plan.lanes));
  };
  if (plan.lanesAlongK && !bOperand.packed) {
    sums = emitLaneTile(panel, row);
  } else {
    MicroTile tile{{rows, panel.vectors}, plan.lanes, form.computeType, source, {}, {}, {}};
    tile.loops.assign(loops.begin(), loops.end());
    if (bOperand.packed) {
      tile.b = {packedPanel(panel), copyType(), {}, nullptr};
      stepThroughPacked(tile.loops, panel.vectors * plan.lanes);
    } else if (plan.isPacked) {
      tile.b = {constantPointer(panel, k0), bOperand.elementType, {}, conversion(bOperand)};
      tile.masks = panel.masks;
      stepThroughPacked(tile.loops, panel.width);
      tile.prefetch = prefetchOf(panel, row);
      if (plan.group > 1 && !hasPairs()) {
        tile.bytes = matchBytes(form);
        tile.bytes->columns = panel.width;
      }
    } else {
      tile.b = {
          linearPointer(bOperand, panel.n0, k0), bOperand.elementType, {}, conversion(bOperand)};
      tile.masks = panel.masks;
    }
    if (hasPairs())
      setPairs(tile, panel, k0);
    SmallVector<Value> initial;
    for (int64_t i = 0; accumulates() && i < rows; ++i)
      for (int64_t v = 0; v < panel.vectors; ++v)
        initial.push_back(loadLanes(b, loc, sumAt(i, v), form.computeType, plan.lanes, nullptr));
    prefetchEpilogue(panel, row, rows);
    sums = emitMicroTile(b, loc, target, tile, initial);
  }
  LoopDim mDim = emitter.addDim(add(m0, row)), nDim = emitter.addDim(panel.n0);
  for (int64_t v = 0; v < panel.vectors; ++v) {
    // All rows share one mode, so that the epilogue's operands for these columns are read once.
    KernelEmitter::VectorMode mode(emitter, nDim, plan.lanes, panel.masks[v]);
    for (int64_t i = 0; i < rows; ++i) {
      Value sum = sums[i * panel.vectors + v];
      if (buffered)
        storeLanes(b, loc, sum, sumAt(i, v));
      else
        storeProduct(mDim + i, nDim + v * plan.lanes, sum);
    }
  }
}

/// Stores the results of a unit row by row, so that what the epilogue reads and writes is
/// consecutive.
void ContractionEmitter::emitBufferedResults() {
  Value n0 = mul(firstPanel, tileColumns());
  Value columns = countFrom(n0, plan.unitColumns(), form.nSize());
  Panel first{1, {}, columns, n0, constant(0)};
  auto emitVector = [&](LoopDim mDim, Value row, Value column, Value mask) {
    KernelEmitter::Scope scope(emitter);
    Value sum =
        loadLanes(b, loc, sumPointer(first, row, column), form.computeType, plan.lanes, nullptr);
    LoopDim nDim = emitter.addDim(add(n0, column));
    KernelEmitter::VectorMode mode(emitter, nDim, plan.lanes, mask);
    storeProduct(mDim, nDim, sum);
  };
  forLoop(constant(0), mCount, 1, [&](Value row) {
    KernelEmitter::Scope scope(emitter);
    LoopDim mDim = emitter.addDim(add(m0, row));
    forEachVector(constant(0), columns,
                  [&](Value column, Value mask) { emitVector(mDim, row, column, mask); });
  });
}

/// Stores a vector of sums at (m, n); the emitter must be in the vector mode of n.
void ContractionEmitter::storeProduct(AffineExpr m, AffineExpr n, Value sum) {
  SmallVector<AffineExpr> point = form.point(fixedIndices, m, n, emitter.constantExpr(0));
  kernels::storeProduct(emitter, nest, form, point, sum);
}

Value ContractionEmitter::stackBuffer(int64_t elements) {
  return stackMemory(b, loc, form.computeType, elements);
}

} // namespace tfc::cpu
