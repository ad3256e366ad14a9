#include "compiler/cpu/ContractionEmitter.h"
#include "compiler/cpu/Polynomial.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace tfc::cpu {
namespace {

/// Bytes of the packed panel of b.
constexpr int64_t kPanelBytes = 96 << 10;
/// Operations of an epilogue, over all copies for one tile, above which it runs in a loop of its
/// own.
constexpr int64_t kInlineEpilogue = 600;
/// Rows of a product that pay for a packed copy of b whose rows do not suit the cache.
constexpr int64_t kPackingRows = 48;

/// Stand-ins for the counters m, n and k (and those of the separate loops along k) while addresses
/// are analysed; the emitter's own dims count from zero.
constexpr unsigned kFirstCounter = 1u << 20;

AffineDimExpr counter(MLIRContext *context, unsigned index) {
  return cast<AffineDimExpr>(getAffineDimExpr(kFirstCounter + index, context));
}

bool usesAnyDim(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr inner) { found |= isa<AffineDimExpr>(inner); });
  return found;
}

/// The address of an input's element at a point of the loops, in elements.
AffineExpr addressOf(const Buffer &buffer, AffineMap map, ArrayRef<AffineExpr> point) {
  AffineExpr address = getAffineConstantExpr(0, map.getContext());
  for (auto [result, stride] : llvm::zip_equal(map.getResults(), buffer.strides))
    address = address + result.replaceDims(point) * stride;
  return normalize(address);
}

/// The stride of `counter` in an address, which becomes the rest; fails where it is not constant.
LogicalResult takeStride(AffineExpr &address, AffineDimExpr counter, AffineExpr &stride) {
  AffineExpr rest;
  if (!Polynomial(address).split(counter, stride, rest) || usesAnyDim(stride))
    return failure();
  address = rest;
  return success();
}

int64_t epilogueOperations(const ContractionNest &nest) {
  int64_t operations = nest.storesProduct ? 1 : 0;
  for (linalg::GenericOp op : nest.epilogues)
    for (Operation &inner : op.getBody()->without_terminator())
      operations += inner.getDialect()->getNamespace() == "math" ? 15 : 1;
  return operations + nest.epilogues.size();
}

} // namespace

ContractionEmitter::ContractionEmitter(KernelEmitter &emitter, const ContractionNest &nest,
                                       const ContractionPlan &plan, ContractionForm form)
    : emitter(emitter), b(emitter.builder()), loc(emitter.loc()), nest(nest), plan(plan),
      form(std::move(form)) {}

void ContractionEmitter::emit(Value begin, Value end) {
  auto toIndex = [&](Value value) -> Value {
    return value.getType().isIndex() ? value
                                     : arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
  };
  forLoop(toIndex(begin), toIndex(end), 1, [&](Value unit) { emitUnit(unit); });
}

/// Cuts the unit's number into outer indices, a block of rows and a panel of columns; panels change
/// fastest, so that the block of a stays in the cache.
void ContractionEmitter::emitUnit(Value unit) {
  Value panels = emitter.indexValue(normalize(form.nSize().ceilDiv(tileColumns())));
  Value blocks = emitter.indexValue(normalize(form.mSize().ceilDiv(plan.unitRows)));
  auto [rest, panel] = divide(unit, panels);
  auto [outer, block] = divide(rest, blocks);
  outerIndices.assign(form.outer.size(), AffineExpr());
  for (unsigned i = form.outer.size(); i-- > 0;) {
    Value index = outer;
    if (i > 0)
      std::tie(outer, index) = divide(outer, emitter.indexValue(form.loopSizes[form.outer[i]]));
    outerIndices[i] = emitter.addDim(index);
  }
  m0 = mul(block, plan.unitRows);
  Value mSize = emitter.indexValue(form.mSize());
  std::optional<int64_t> m = constantOf(form.mSize());
  mCount = m && *m % plan.unitRows == 0 ? constant(plan.unitRows)
                                        : minimum(constant(plan.unitRows), sub(mSize, m0));
  n0 = mul(panel, tileColumns());
  analyzeOperands();
  emitPanels(panel);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

ContractionOperand ContractionEmitter::analyzeOperand(const ContractionFactor &factor, bool isA) {
  ContractionOperand operand;
  operand.factor = &factor;
  operand.converts = !isa<BlockArgument>(factor.root) || form.factorType != form.computeType;
  if (factor.inputs.size() != 1)
    return operand;
  linalg::GenericOp op = nest.op;
  OpOperand *input = op.getDpsInputOperand(factor.inputs.front());
  operand.tensor = input->get();
  operand.elementType = getElementTypeOrSelf(operand.tensor.getType());
  const Buffer *buffer = emitter.buffer(operand.tensor);
  if (!buffer || operand.elementType.isInteger(1))
    return operand;
  MLIRContext *context = b.getContext();
  SmallVector<AffineExpr> point =
      form.point(outerIndices, counter(context, 0), counter(context, 1), counter(context, 2));
  AffineExpr address = addressOf(*buffer, op.getMatchingIndexingMap(input), point);
  AffineExpr across, k;
  if (failed(takeStride(address, counter(context, isA ? 0 : 1), across)) ||
      failed(takeStride(address, counter(context, 2), k)))
    return operand;
  operand.isLinear = true;
  operand.base = address;
  auto toStride = [&](AffineExpr expr) {
    std::optional<int64_t> fixed = constantOf(expr);
    return fixed ? Stride{*fixed, {}} : Stride{0, emitter.indexValue(expr)};
  };
  operand.across = toStride(across);
  operand.k = toStride(k);
  return operand;
}

void ContractionEmitter::analyzeOperands() {
  a = analyzeOperand(form.a, true);
  bOperand = analyzeOperand(form.b, false);
  choosePacking();
}

/// Tiles read an operand in place where it is cheap: anything that is converted, gathered or spread
/// over too many cache lines is copied to the stack once per unit (b) or tile (a).
void ContractionEmitter::choosePacking() {
  a.packed = !a.isLinear || a.converts || (!a.across.isFixed() && plan.tile.rows > 1);
  bOperand.packed = !bOperand.isLinear || !bOperand.across.isFixed() || bOperand.across.fixed != 1;
  std::optional<int64_t> m = constantOf(form.mSize()), k = constantOf(form.kSize());
  if (!bOperand.packed && bOperand.k.isFixed() && m.value_or(kPackingRows) >= kPackingRows) {
    int64_t bytes = bOperand.k.fixed * (bOperand.elementType.getIntOrFloatBitWidth() / 8);
    int64_t sets = 64 / std::max<int64_t>(1, std::gcd<int64_t>(bytes, 4096) / 64);
    int64_t linesPerRow = llvm::divideCeil(tileColumns() * computeBytes(), 64);
    int64_t lines = linesPerRow * k.value_or(kPanelBytes);
    int64_t capacity = std::min<int64_t>(64, sets * linesPerRow) * (emitter.target().l1Bytes >> 12);
    bOperand.packed = bytes >= 1024 && lines * 2 > capacity;
  }

  int64_t largest = kPanelBytes / (tileColumns() * computeBytes()) / plan.lanes * plan.lanes;
  largest = std::max(largest, plan.lanes);
  bool packs = a.packed || bOperand.packed;
  kBlock = 0;
  packedKCapacity = k ? llvm::alignTo(*k, plan.lanes) : largest;
  if (packs && (!k || *k > largest)) {
    int64_t blocks = llvm::divideCeil(k.value_or(largest), largest);
    kBlock = k ? llvm::alignTo(llvm::divideCeil(*k, blocks), plan.lanes) : largest;
    packedKCapacity = kBlock;
  }
  int64_t copies = plan.tile.rows * plan.tile.vectors;
  buffered = kBlock != 0 || epilogueOperations(nest) * copies > kInlineEpilogue;

  packedRowStride = packedKCapacity + plan.lanes;
  if (packedRowStride * computeBytes() % 1024 == 0)
    packedRowStride += plan.lanes;
  if (a.packed && !packedA)
    packedA = stackBuffer(plan.tile.rows * packedRowStride + plan.lanes);
  if (bOperand.packed && !packedB)
    packedB = stackBuffer((packedKCapacity + plan.lanes) * tileColumns());
  if (buffered && !sumBuffer)
    sumBuffer = stackBuffer(plan.unitRows * tileColumns());
}

Value ContractionEmitter::linearPointer(const ContractionOperand &operand, Value across, Value k) {
  Value pointer = emitter.buffer(operand.tensor)->pointer;
  pointer = advance(b, loc, pointer, operand.elementType, emitter.indexValue(operand.base),
                    Stride{1, {}});
  pointer = advance(b, loc, pointer, operand.elementType, across, operand.across);
  return advance(b, loc, pointer, operand.elementType, k, operand.k);
}

//===----------------------------------------------------------------------===//
// Loops of a unit
//===----------------------------------------------------------------------===//

void ContractionEmitter::emitPanels(Value panelIndex) {
  std::optional<int64_t> n = constantOf(form.nSize());
  Panel full{plan.tile.vectors, SmallVector<Value>(plan.tile.vectors), constant(tileColumns())};
  if (n) {
    int64_t fullPanels = *n / tileColumns(), columns = *n % tileColumns();
    Panel tail{int64_t(llvm::divideCeil(columns, plan.lanes)), {}, constant(columns)};
    tail.masks.resize(tail.vectors);
    if (columns % plan.lanes)
      tail.masks.back() = laneMask(constant(columns % plan.lanes));
    if (columns == 0)
      return emitPanel(full);
    if (fullPanels == 0)
      return emitPanel(tail);
    Value isFull =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, panelIndex, constant(fullPanels));
    return ifElse(isFull, [&] { emitPanel(full); }, [&] { emitPanel(tail); });
  }
  Value columns = sub(emitter.indexValue(form.nSize()), n0);
  Value isFull =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, columns, constant(tileColumns()));
  ifElse(
      isFull, [&] { emitPanel(full); },
      [&] {
        Panel tail{plan.tile.vectors, {}, columns};
        for (int64_t v = 0; v < tail.vectors; ++v)
          tail.masks.push_back(laneMask(sub(columns, constant(v * plan.lanes))));
        emitPanel(tail);
      });
}

void ContractionEmitter::emitPanel(const Panel &panel) {
  Value kSize = emitter.indexValue(form.kSize());
  if (!kBlock) {
    emitRows(panel, constant(0), kSize);
  } else {
    Value zero = zeroOf(b, loc, VectorType::get({plan.lanes}, form.computeType));
    Value elements = mul(mCount, tileColumns());
    forLoop(constant(0), elements, plan.lanes, [&](Value i) {
      storeLanes(b, loc, zero, advance(b, loc, sumBuffer, form.computeType, i, Stride{1, {}}));
    });
    forLoop(constant(0), kSize, kBlock,
            [&](Value k0) { emitRows(panel, k0, minimum(constant(kBlock), sub(kSize, k0))); });
  }
  if (buffered)
    emitBufferedResults(panel);
}

void ContractionEmitter::emitRows(const Panel &panel, Value k0, Value kCount) {
  if (bOperand.packed)
    packB(panel, k0, kCount);
  int64_t rows = plan.tile.rows;
  std::optional<int64_t> m = constantOf(form.mSize());
  Value whole = mCount;
  bool hasRest = !m || *m % rows != 0;
  if (hasRest)
    whole = mul(divide(mCount, constant(rows)).first, rows);
  if (!m || *m >= rows)
    forLoop(constant(0), whole, rows, [&](Value row) { emitTile(panel, row, rows, k0, kCount); });
  if (!hasRest)
    return;
  Value rest = sub(mCount, whole);
  if (m) {
    Value hasRows = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, rest, constant(0));
    return ifElse(hasRows, [&] { emitTile(panel, whole, *m % rows, k0, kCount); }, nullptr);
  }
  for (int64_t part = llvm::PowerOf2Ceil(rows) / 2; part > 0; part /= 2) {
    Value bit = arith::AndIOp::create(b, loc, rest, constant(part));
    Value isSet = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, constant(0));
    ifElse(isSet, [&] { emitTile(panel, whole, part, k0, kCount); }, nullptr);
    whole = add(whole, bit);
  }
}

/// Rows [row, row + rows) of the unit.
void ContractionEmitter::emitTile(const Panel &panel, Value row, int64_t rows, Value k0,
                                  Value kCount) {
  KernelEmitter::Scope scope(emitter);
  Value m = add(m0, row);
  MicroTile tile;
  tile.shape = {rows, panel.vectors};
  tile.lanes = plan.lanes;
  tile.computeType = form.computeType;
  ReductionLoop loop{kCount, a.k, bOperand.k};
  if (a.packed)
    tile.a = packA(m, rows, k0, kCount, loop.a);
  else
    tile.a = {linearPointer(a, m, k0), a.elementType, a.across, nullptr};
  if (bOperand.packed) {
    tile.b = {packedB, form.computeType, {}, nullptr};
    loop.b = {panel.vectors * plan.lanes, {}};
  } else {
    tile.b = {linearPointer(bOperand, n0, k0), bOperand.elementType, {}, conversion(bOperand)};
    tile.masks = panel.masks;
  }
  tile.loops.push_back(loop);

  SmallVector<Value> initial;
  auto bufferPointer = [&](int64_t i, int64_t v) {
    Value position = add(mul(add(row, i), tileColumns()), v * plan.lanes);
    return advance(b, loc, sumBuffer, form.computeType, position, Stride{1, {}});
  };
  for (int64_t i = 0; kBlock && i < rows; ++i)
    for (int64_t v = 0; v < panel.vectors; ++v)
      initial.push_back(
          loadLanes(b, loc, bufferPointer(i, v), form.computeType, plan.lanes, nullptr));
  SmallVector<Value> sums = emitMicroTile(b, loc, emitter.target(), tile, initial);
  LoopDim mDim = emitter.addDim(m), nDim = emitter.addDim(n0);
  for (int64_t v = 0; v < panel.vectors; ++v) {
    // One mode for all rows: what the epilogue reads for these columns is read once.
    KernelEmitter::VectorMode mode(emitter, nDim, plan.lanes, panel.masks[v]);
    for (int64_t i = 0; i < rows; ++i) {
      Value sum = sums[i * panel.vectors + v];
      if (buffered)
        storeLanes(b, loc, sum, bufferPointer(i, v));
      else
        storeProduct(mDim + i, nDim + v * plan.lanes, sum);
    }
  }
}

void ContractionEmitter::emitBufferedResults(const Panel &panel) {
  auto emitVector = [&](LoopDim mDim, Value row, Value column, Value mask) {
    KernelEmitter::Scope scope(emitter);
    Value pointer = advance(b, loc, sumBuffer, form.computeType,
                            add(mul(row, tileColumns()), column), Stride{1, {}});
    Value sum = loadLanes(b, loc, pointer, form.computeType, plan.lanes, nullptr);
    LoopDim nDim = emitter.addDim(add(n0, column));
    KernelEmitter::VectorMode mode(emitter, nDim, plan.lanes, mask);
    storeProduct(mDim, nDim, sum);
  };
  forLoop(constant(0), mCount, 1, [&](Value row) {
    KernelEmitter::Scope scope(emitter);
    LoopDim mDim = emitter.addDim(add(m0, row));
    auto [count, rest] = divide(panel.columns, constant(plan.lanes));
    Value whole = mul(count, plan.lanes);
    forLoop(constant(0), whole, plan.lanes,
            [&](Value column) { emitVector(mDim, row, column, nullptr); });
    if (llvm::none_of(panel.masks, [](Value mask) { return mask; }))
      return;
    Value hasRest = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, rest, constant(0));
    ifElse(hasRest, [&] { emitVector(mDim, row, whole, laneMask(rest)); }, nullptr);
  });
}

/// Stores a vector of sums at (m, n), in the vector mode of n.
void ContractionEmitter::storeProduct(AffineExpr m, AffineExpr n, Value sum) {
  linalg::GenericOp op = nest.op;
  SmallVector<AffineExpr> point = form.point(outerIndices, m, n, emitter.constantExpr(0));
  SmallVector<AffineExpr> indices;
  OpOperand *init = op.getDpsInitOperand(0);
  for (AffineExpr result : op.getMatchingIndexingMap(init).getResults())
    indices.push_back(result.replaceDims(point));
  auto fill = init->get().getDefiningOp<linalg::FillOp>();
  bool startsAtZero = init->get().getDefiningOp<tensor::EmptyOp>() ||
                      (fill && (matchPattern(fill.value(), m_AnyZeroFloat()) ||
                                matchPattern(fill.value(), m_Zero())));
  if (!startsAtZero) {
    Value start = emitter.broadcast(emitter.element(init->get(), indices));
    sum = addValues(b, loc, sum, convertNumber(b, loc, start, form.computeType));
  }
  sum = convertNumber(b, loc, sum, getElementTypeOrSelf(init->get().getType()));
  storeContractionResults(emitter, nest, indices, sum);
}

//===----------------------------------------------------------------------===//
// Small helpers
//===----------------------------------------------------------------------===//

Value ContractionEmitter::stackBuffer(int64_t elements) {
  OpBuilder::InsertionGuard guard(b);
  Operation *function = b.getInsertionBlock()->getParentOp();
  while (!isa<FunctionOpInterface>(function))
    function = function->getParentOp();
  b.setInsertionPointToStart(&function->getRegion(0).front());
  Value count = LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(elements));
  return LLVM::AllocaOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()),
                                form.computeType, count, 64);
}

Value ContractionEmitter::laneMask(Value count) {
  auto type = VectorType::get({plan.lanes}, b.getI32Type());
  Value narrow =
      arith::IndexCastOp::create(b, loc, b.getI32Type(), minimum(count, constant(plan.lanes)));
  SmallVector<int32_t> numbers(plan.lanes);
  std::iota(numbers.begin(), numbers.end(), 0);
  Value lanes = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  Value splat = vector::BroadcastOp::create(b, loc, type, narrow);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lanes, splat);
}

void ContractionEmitter::forLoop(Value begin, Value end, int64_t step,
                                 function_ref<void(Value)> body) {
  Value stepValue = constant(step);
  auto loop = scf::ForOp::create(b, loc, begin, end, stepValue);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  KernelEmitter::Scope scope(emitter);
  body(loop.getInductionVar());
}

void ContractionEmitter::ifElse(Value condition, function_ref<void()> then,
                                function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(b, loc, condition, static_cast<bool>(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  {
    KernelEmitter::Scope scope(emitter);
    then();
  }
  if (!otherwise)
    return;
  b.setInsertionPointToStart(branch.elseBlock());
  KernelEmitter::Scope scope(emitter);
  otherwise();
}

Value ContractionEmitter::add(Value lhs, Value rhs) {
  return b.createOrFold<arith::AddIOp>(loc, lhs, rhs);
}

Value ContractionEmitter::add(Value lhs, int64_t rhs) { return add(lhs, constant(rhs)); }

Value ContractionEmitter::sub(Value lhs, Value rhs) {
  return b.createOrFold<arith::SubIOp>(loc, lhs, rhs);
}

Value ContractionEmitter::mul(Value lhs, int64_t rhs) {
  return b.createOrFold<arith::MulIOp>(loc, lhs, constant(rhs));
}

Value ContractionEmitter::minimum(Value lhs, Value rhs) {
  return b.createOrFold<arith::MinSIOp>(loc, lhs, rhs);
}

std::pair<Value, Value> ContractionEmitter::divide(Value lhs, Value rhs) {
  return {b.createOrFold<arith::DivUIOp>(loc, lhs, rhs),
          b.createOrFold<arith::RemUIOp>(loc, lhs, rhs)};
}

Value convertNumber(OpBuilder &b, Location loc, Value value, Type elementType) {
  Type from = getElementTypeOrSelf(value);
  if (from == elementType)
    return value;
  Type type = elementType;
  if (auto vectorType = dyn_cast<VectorType>(value.getType()))
    type = vectorType.clone(elementType);
  bool widens = from.getIntOrFloatBitWidth() < elementType.getIntOrFloatBitWidth();
  if (isa<FloatType>(elementType))
    return widens ? arith::ExtFOp::create(b, loc, type, value).getResult()
                  : arith::TruncFOp::create(b, loc, type, value).getResult();
  return widens ? arith::ExtSIOp::create(b, loc, type, value).getResult()
                : arith::TruncIOp::create(b, loc, type, value).getResult();
}

} // namespace tfc::cpu
