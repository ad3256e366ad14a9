// Products with few rows that read b in place: a few rows of b at a time are added to the sums of
// all columns of the unit, so that b is read from memory in as many long streams.

#include "compiler/cpu/ContractionEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tfc::cpu {

bool ContractionEmitter::readsRowsInPlace() const {
  return plan.streamSteps && !a.packed && !bOperand.packed && bOperand.isContiguousAcross();
}

void ContractionEmitter::emitRowStream() {
  Value kSize = emitter.indexValue(form.kSize());
  int64_t steps = plan.streamSteps;
  Value whole = sub(kSize, divide(kSize, constant(steps)).second);
  forLoop(constant(0), whole, steps, [&](Value k) { addRowsOfB(k, steps); });
  forLoop(whole, kSize, 1, [&](Value k) { addRowsOfB(k, 1); });
}

/// Adds the products with rows [k, k + steps) of b to all sums. An a that is read in place has no
/// conversion.
void ContractionEmitter::addRowsOfB(Value k, int64_t steps) {
  int64_t rows = plan.unitRows;
  auto type = VectorType::get({plan.lanes}, form.computeType);
  std::function<Value(Value)> convert = conversion(bOperand);
  SmallVector<Value> sources;
  Panel unit{1, {}, {}, mul(firstPanel, tileColumns()), constant(0)};
  for (int64_t step = 0; step < steps; ++step)
    sources.push_back(linearPointer(bOperand, unit.n0, add(k, step)));
  auto broadcastOfA = [&](int64_t row, int64_t step) -> Value {
    Value pointer = linearPointer(a, add(m0, row), add(k, step));
    Value factor =
        LLVM::LoadOp::create(b, loc, a.elementType, pointer, elementBytes(a.elementType));
    return vector::BroadcastOp::create(b, loc, type, factor);
  };
  auto emitVectors = [&](Value column, int64_t vectors, Value mask) {
    SmallVector<Value> sums;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t v = 0; v < vectors; ++v)
        sums.push_back(loadLanes(b, loc,
                                 sumPointer(unit, constant(row), add(column, v * plan.lanes)),
                                 form.computeType, plan.lanes, nullptr));
    for (int64_t step = 0; step < steps; ++step) {
      SmallVector<Value> elements;
      for (int64_t v = 0; v < vectors; ++v) {
        Value pointer = advance(b, loc, sources[step], bOperand.elementType,
                                add(column, v * plan.lanes), Stride{1, {}});
        Value loaded = loadLanes(b, loc, pointer, bOperand.elementType, plan.lanes, mask);
        elements.push_back(convert ? convert(loaded) : loaded);
      }
      for (int64_t row = 0; row < rows; ++row) {
        Value factor = broadcastOfA(row, step);
        for (int64_t v = 0; v < vectors; ++v) {
          Value &sum = sums[row * vectors + v];
          sum = multiplyAdd(b, loc, target, factor, elements[v], sum);
        }
      }
    }
    for (auto [i, sum] : llvm::enumerate(sums))
      storeLanes(b, loc, sum,
                 sumPointer(unit, constant(i / vectors), add(column, i % vectors * plan.lanes)));
  };
  Value begin = constant(0), columns = countFrom(unit.n0, plan.unitColumns(), form.nSize());
  if (plan.tile.vectors > 1) {
    Value whole = sub(columns, divide(columns, constant(tileColumns())).second);
    forLoop(begin, whole, tileColumns(),
            [&](Value column) { emitVectors(column, plan.tile.vectors, nullptr); });
    begin = whole;
  }
  forEachVector(begin, columns, [&](Value column, Value mask) { emitVectors(column, 1, mask); });
}

} // namespace tfc::cpu
