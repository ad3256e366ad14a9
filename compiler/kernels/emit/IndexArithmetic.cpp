//===- IndexArithmetic.cpp - Arithmetic on index values -------------------===//
//
// Folds the index arithmetic that the emitters of loops need. It knows neither kernels nor tensors.
//
//===----------------------------------------------------------------------===//

#include "compiler/kernels/emit/IndexArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc::kernels;

Value IndexArithmetic::add(Value lhs, Value rhs) {
  return b.createOrFold<arith::AddIOp>(loc, lhs, rhs);
}

Value IndexArithmetic::add(Value lhs, int64_t rhs) { return add(lhs, constant(rhs)); }

Value IndexArithmetic::sub(Value lhs, Value rhs) {
  return b.createOrFold<arith::SubIOp>(loc, lhs, rhs);
}

Value IndexArithmetic::mul(Value lhs, Value rhs) {
  return b.createOrFold<arith::MulIOp>(loc, lhs, rhs);
}

Value IndexArithmetic::mul(Value lhs, int64_t rhs) {
  return b.createOrFold<arith::MulIOp>(loc, lhs, constant(rhs));
}

Value IndexArithmetic::minimum(Value lhs, Value rhs) {
  return b.createOrFold<arith::MinSIOp>(loc, lhs, rhs);
}

std::pair<Value, Value> IndexArithmetic::divide(Value lhs, Value rhs) {
  return {b.createOrFold<arith::DivUIOp>(loc, lhs, rhs),
          b.createOrFold<arith::RemUIOp>(loc, lhs, rhs)};
}

std::pair<Value, Value> IndexArithmetic::divide(Value lhs, int64_t rhs) {
  return divide(lhs, constant(rhs));
}
