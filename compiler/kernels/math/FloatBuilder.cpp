// Builds arithmetic on floats and their bits, from which the expansions of functions are composed.

#include "compiler/kernels/math/FloatBuilder.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace tfc::kernels;

Type FloatBuilder::withElement(Type element) const {
  if (auto vector = dyn_cast<VectorType>(type))
    return VectorType::get(vector.getShape(), element);
  return element;
}

static Value splat(OpBuilder &b, Location loc, Type type, TypedAttr value) {
  if (auto vector = dyn_cast<VectorType>(type))
    value = DenseElementsAttr::get(vector, Attribute(value));
  return arith::ConstantOp::create(b, loc, value);
}

Value FloatBuilder::constant(double value) {
  return splat(b, loc, type, b.getFloatAttr(getElementTypeOrSelf(type), value));
}

Value FloatBuilder::integer(int64_t value) {
  return splat(b, loc, intType(), b.getIntegerAttr(getElementTypeOrSelf(intType()), value));
}

Value FloatBuilder::polynomial(Value x, ArrayRef<double> coefficients) {
  Value sum = constant(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = mulAdd(sum, x, constant(coefficient));
  return sum;
}

Value FloatBuilder::less(Value l, Value r) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, l, r);
}

Value FloatBuilder::equal(Value l, Value r) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, l, r);
}

Value FloatBuilder::isNan(Value v) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, v, v);
}

Value FloatBuilder::select(Value condition, Value yes, Value no) {
  return arith::SelectOp::create(b, loc, condition, yes, no);
}

Value FloatBuilder::clamp(Value v, double low, double high) {
  Value lowest = constant(low), highest = constant(high);
  v = select(less(highest, v), highest, v);
  return select(less(v, lowest), lowest, v);
}

Value FloatBuilder::toFloat(Value v) { return arith::SIToFPOp::create(b, loc, type, v); }
Value FloatBuilder::bits(Value v) { return arith::BitcastOp::create(b, loc, intType(), v); }
Value FloatBuilder::fromBits(Value v) { return arith::BitcastOp::create(b, loc, type, v); }

Value FloatBuilder::powerOfTwo(Value n) {
  Value biased = ints<arith::AddIOp>(n, integer(isWide() ? 1023 : 127));
  return fromBits(ints<arith::ShLIOp>(biased, integer(isWide() ? 52 : 23)));
}

Value FloatBuilder::equalInts(Value l, Value r) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, l, r);
}
