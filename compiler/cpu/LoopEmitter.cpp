//===- LoopEmitter.cpp - Loops and branches -------------------------------===//
//
// Builds loops and branches for the emitter of contractions. It knows neither kernels nor tensors.
//
//===----------------------------------------------------------------------===//

#include "compiler/cpu/LoopEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace tfc;
using namespace tfc::cpu;

void LoopEmitter::forLoop(Value begin, Value end, int64_t step, function_ref<void(Value)> body) {
  Value stepValue = constant(step);
  auto loop = scf::ForOp::create(b, loc, begin, end, stepValue);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  kernels::IndexEmitter::Scope scope(indices);
  body(loop.getInductionVar());
}

void LoopEmitter::ifElse(Value condition, function_ref<void()> then,
                         function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(b, loc, condition, static_cast<bool>(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  {
    kernels::IndexEmitter::Scope scope(indices);
    then();
  }
  if (!otherwise)
    return;
  b.setInsertionPointToStart(branch.elseBlock());
  kernels::IndexEmitter::Scope scope(indices);
  otherwise();
}

Value LoopEmitter::toIndex(Value value) {
  return value.getType().isIndex() ? value
                                   : arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
}

Value LoopEmitter::firstLanes(int64_t lanes, Value count) {
  auto type = VectorType::get({lanes}, b.getI32Type());
  Value narrow =
      arith::IndexCastOp::create(b, loc, b.getI32Type(), minimum(count, constant(lanes)));
  SmallVector<int32_t> numbers(lanes);
  std::iota(numbers.begin(), numbers.end(), 0);
  Value number = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  Value splat = vector::BroadcastOp::create(b, loc, type, narrow);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, number, splat);
}
