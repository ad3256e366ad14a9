// Tiles of a contraction whose operands are both contiguous along k: a lane is a step along k, and
// each column of the result has a vector of partial sums.

#include "compiler/cpu/ContractionEmitter.h"
#include "compiler/kernels/emit/SpecialEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tfc::cpu {

/// The sums of one column, so that the latency of an addition is hidden.
static constexpr int64_t kSumsOfColumn = 4;
/// How far ahead a stream is fetched: beyond the page in which processors do so themselves.
static constexpr int64_t kStreamBytes = 8 << 10;

/// Loads a vector of steps of an operand, in the type in which the product is computed.
Value ContractionEmitter::loadSteps(const ContractionOperand &operand, Value pointer, Value k,
                                    Value mask) {
  pointer = advance(b, loc, pointer, operand.elementType, k, Stride{1, {}});
  Value value = loadLanes(b, loc, pointer, operand.elementType, stepLanes(), mask);
  return operand.converts ? conversion(operand)(value) : value;
}

Value ContractionEmitter::multiplySteps(Value lhs, Value rhs, Value sum) {
  return hasPairs() ? multiplyPairs(b, loc, target, lhs, rhs, sum)
                    : multiplyAdd(b, loc, target, lhs, rhs, sum);
}

/// Fetches what the stream reads after step k, of vector `number` of an iteration, unless a vector
/// before it has fetched the line.
void ContractionEmitter::prefetchStream(Value column, Value k, int64_t number) {
  Type type = bOperand.elementType;
  if (number * stepLanes() * elementBytes(type) % kLineBytes != 0)
    return;
  Value pointer = advance(b, loc, column, type, k, Stride{1, {}});
  pointer = advance(b, loc, pointer, type, kStreamBytes / elementBytes(type), Stride{1, {}});
  prefetch(pointer);
}

/// Adds steps [begin, end) of columns of b to their sums. Each iteration has `vectors` vectors of
/// steps, and a column a sum for each of them.
SmallVector<Value> ContractionEmitter::addSteps(Value rowOfA, ArrayRef<Value> columns,
                                                int64_t vectors, Value begin, Value end,
                                                ValueRange sums, Value mask) {
  auto loop = scf::ForOp::create(b, loc, begin, end, constant(vectors * stepLanes()), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  KernelEmitter::Scope scope(emitter);
  SmallVector<Value> next;
  for (int64_t i = 0; i < vectors; ++i) {
    Value k = add(loop.getInductionVar(), i * stepLanes());
    Value factor = loadSteps(a, rowOfA, k, mask);
    if (plan.streamsB && !mask)
      prefetchStream(columns.front(), k, i);
    for (Value column : columns)
      next.push_back(multiplySteps(factor, loadSteps(bOperand, column, k, mask),
                                   loop.getRegionIterArgs()[next.size()]));
  }
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.getResults());
}

/// Columns side by side, which share the elements of a.
SmallVector<Value> ContractionEmitter::sumColumnsTogether(const Panel &panel, Value rowOfA) {
  SmallVector<Value> columns;
  Value first = linearPointer(bOperand, panel.n0, constant(0));
  Value last = add(panel.columns, -1);
  for (int64_t i = 0; i < plan.lanes; ++i)
    columns.push_back(
        panel.masks.front()
            ? linearPointer(bOperand, add(panel.n0, minimum(constant(i), last)), constant(0))
            : advance(b, loc, first, bOperand.elementType, i, bOperand.across));
  Value kSize = emitter.indexValue(form.kSize()),
        rest = divide(kSize, constant(stepLanes())).second;
  Value whole = sub(kSize, rest);
  SmallVector<Value> sums(plan.lanes,
                          zeroOf(b, loc, VectorType::get({plan.lanes}, form.computeType)));
  sums = addSteps(rowOfA, columns, 1, constant(0), whole, sums, nullptr);
  return addSteps(rowOfA, columns, 1, whole, kSize, sums, firstLanes(stepLanes(), rest));
}

/// One column after the other, so that b is read as one stream.
SmallVector<Value> ContractionEmitter::sumColumnsInTurn(const Panel &panel, Value rowOfA) {
  Value memory = stackBuffer(plan.lanes * plan.lanes);
  Value kSize = emitter.indexValue(form.kSize()),
        rest = divide(kSize, constant(stepLanes())).second;
  Value whole = sub(kSize, rest);
  int64_t vectors = kSumsOfColumn;
  if (std::optional<int64_t> k = constantOf(form.kSize()))
    vectors = std::clamp<int64_t>(*k / stepLanes(), 1, kSumsOfColumn);
  auto sumAt = [&](auto column) {
    return advance(b, loc, memory, form.computeType, column, Stride{plan.lanes, {}});
  };
  Value count =
      panel.masks.front() ? minimum(panel.columns, constant(plan.lanes)) : constant(plan.lanes);
  forLoop(constant(0), count, 1, [&](Value column) {
    Value pointer = linearPointer(bOperand, add(panel.n0, column), constant(0));
    Value together = sub(whole, divide(whole, constant(vectors * stepLanes())).second);
    SmallVector<Value> sums(vectors,
                            zeroOf(b, loc, VectorType::get({plan.lanes}, form.computeType)));
    sums = addSteps(rowOfA, pointer, vectors, constant(0), together, sums, nullptr);
    Value sum = sums.front();
    for (Value other : ArrayRef(sums).drop_front())
      sum = addValues(b, loc, sum, other);
    sum = addSteps(rowOfA, pointer, 1, together, whole, sum, nullptr).front();
    sum = addSteps(rowOfA, pointer, 1, whole, kSize, sum, firstLanes(stepLanes(), rest)).front();
    storeLanes(b, loc, sum, sumAt(column));
  });
  SmallVector<Value> sums;
  for (int64_t i = 0; i < plan.lanes; ++i)
    sums.push_back(loadLanes(b, loc, sumAt(i), form.computeType, plan.lanes, nullptr));
  return sums;
}

/// Emits one vector of the output. Lanes beyond the last column have any value; they are never
/// stored.
SmallVector<Value> ContractionEmitter::emitLaneTile(const Panel &panel, Value row) {
  Value rowOfA = linearPointer(a, add(m0, row), constant(0));
  SmallVector<Value> sums =
      plan.streamsB ? sumColumnsInTurn(panel, rowOfA) : sumColumnsTogether(panel, rowOfA);
  kernels::transpose(b, loc, sums);
  for (int64_t half = plan.lanes / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half; ++i)
      sums[i] = addValues(b, loc, sums[i], sums[i + half]);
  return {sums.front()};
}

} // namespace tfc::cpu
