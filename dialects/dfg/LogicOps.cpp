//===- LogicOps.cpp - Logic, bits, kinds of numbers -----------------------===//
//
// Implements logic, bit operations and predicates of floats. None of these operations has a
// gradient.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Scalar.h"

using namespace mlir;
using namespace tfc::dfg;

//===----------------------------------------------------------------------===//
// LogicalAndOp, LogicalOrOp, LogicalXorOp, LogicalNotOp
//===----------------------------------------------------------------------===//

Value LogicalAndOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return arith::AndIOp::create(b, getLoc(), scalars[0], scalars[1]);
}

std::optional<SizeTensor> LogicalAndOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  return combineFlags(operands, [](bool a, bool b) { return a && b; });
}

Value LogicalOrOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return arith::OrIOp::create(b, getLoc(), scalars[0], scalars[1]);
}

std::optional<SizeTensor> LogicalOrOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  return combineFlags(operands, [](bool a, bool b) { return a || b; });
}

Value LogicalXorOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return arith::XOrIOp::create(b, getLoc(), scalars[0], scalars[1]);
}

OpFoldResult LogicalNotOp::fold(FoldAdaptor) {
  auto inner = getX().getDefiningOp<LogicalNotOp>();
  return inner ? OpFoldResult(inner.getX()) : OpFoldResult();
}

Value LogicalNotOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  ScalarBuilder s(b, getLoc());
  return s.create<arith::XOrIOp>(scalars[0], s.number(scalars[0], -1.0));
}

std::optional<SizeTensor> LogicalNotOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  SizeTensor result = *operands[0];
  for (DimExpr &value : result.values) {
    std::optional<int64_t> flag = value.constant();
    if (!flag)
      return std::nullopt;
    value = *flag ? 0 : 1;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// BitwiseAndOp, BitwiseOrOp, BitwiseXorOp, BitwiseNotOp
//===----------------------------------------------------------------------===//

Value BitwiseAndOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return arith::AndIOp::create(b, getLoc(), scalars[0], scalars[1]);
}

Value BitwiseOrOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return arith::OrIOp::create(b, getLoc(), scalars[0], scalars[1]);
}

Value BitwiseXorOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return arith::XOrIOp::create(b, getLoc(), scalars[0], scalars[1]);
}

Value BitwiseNotOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  ScalarBuilder s(b, getLoc());
  return s.create<arith::XOrIOp>(scalars[0], s.number(scalars[0], -1.0));
}

//===----------------------------------------------------------------------===//
// BitcastOp
//===----------------------------------------------------------------------===//

LogicalResult BitcastOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type from = elementTypeOf(adaptor.getX().getType()), to = adaptor.getDtype();
  if (to.isInteger(1) || from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth())
    return emitErrorAbout(location, "bitcast", "expects a type of the width of ", toText(from),
                          ", but got ", toText(to), " [dtype]");
  results.push_back(tensorOf(shapeOf(adaptor.getX().getType()), to));
  return success();
}

OpFoldResult BitcastOp::fold(FoldAdaptor) {
  return getX().getType() == getType() ? OpFoldResult(getX()) : OpFoldResult();
}

/// The scalars of f16 and bf16 are f32, which has all their numbers.
Value BitcastOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  ScalarBuilder s(b, getLoc());
  Type from = elementTypeOf(getX().getType()), to = getDtype();
  unsigned width = to.getIntOrFloatBitWidth();
  bool isShort = width < 32, isShortFloat = isShort && isa<FloatType>(to);
  Value bits = scalars[0];
  if (isShort && isa<FloatType>(from))
    bits = s.create<arith::TruncFOp>(from, bits);
  bits = s.create<arith::BitcastOp>(isa<FloatType>(to) ? to : b.getIntegerType(width), bits);
  return isShortFloat ? s.create<arith::ExtFOp>(b.getF32Type(), bits) : bits;
}

//===----------------------------------------------------------------------===//
// ShiftLeftOp, ShiftRightOp
//===----------------------------------------------------------------------===//

/// The shift if `count`, as an unsigned number, is less than the width; else `otherwise`.
template <typename ShiftOp>
static Value buildShift(ScalarBuilder s, Value x, Value count, Value otherwise) {
  Value width = s.number(x, x.getType().getIntOrFloatBitWidth());
  Value isShort = s.compare(arith::CmpIPredicate::ult, count, width);
  Value safe = s.select(isShort, count, s.number(x, 0.0));
  return s.select(isShort, s.create<ShiftOp>(x, safe), otherwise);
}

Value ShiftLeftOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  ScalarBuilder s(b, getLoc());
  return buildShift<arith::ShLIOp>(s, scalars[0], scalars[1], s.number(scalars[0], 0.0));
}

Value ShiftRightOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  ScalarBuilder s(b, getLoc());
  Value x = scalars[0];
  if (hasUnsignedElements(getLhs()))
    return buildShift<arith::ShRUIOp>(s, x, scalars[1], s.number(x, 0.0));
  Value lastBit = s.number(x, x.getType().getIntOrFloatBitWidth() - 1.0);
  return buildShift<arith::ShRSIOp>(s, x, scalars[1], s.create<arith::ShRSIOp>(x, lastBit));
}

//===----------------------------------------------------------------------===//
// IsNanOp, IsInfOp, IsFiniteOp
//===----------------------------------------------------------------------===//

Value IsNanOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return ScalarBuilder(b, getLoc()).compare(arith::CmpFPredicate::UNO, scalars[0], scalars[0]);
}

Value IsInfOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  ScalarBuilder s(b, getLoc());
  Value infinity = s.number(scalars[0], std::numeric_limits<double>::infinity());
  return s.compare(arith::CmpFPredicate::OEQ, s.abs(scalars[0]), infinity);
}

Value IsFiniteOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  ScalarBuilder s(b, getLoc());
  Value infinity = s.number(scalars[0], std::numeric_limits<double>::infinity());
  return s.compare(arith::CmpFPredicate::OLT, s.abs(scalars[0]), infinity);
}
