//===- TrigonometryOps.cpp - Trigonometric, hyperbolic, error functions ---===//
//
// Implements trigonometric and hyperbolic functions, their inverses, and the error functions, each
// by its scalar code and the formula of its gradient.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Formula.h"
#include "dialects/dfg/Scalar.h"

using namespace mlir;
using namespace tfc::dfg;

//===----------------------------------------------------------------------===//
// SinOp, CosOp, TanOp
//===----------------------------------------------------------------------===//

/// d(sin x) = g * cos x.
SmallVector<Value> SinOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {g * call<CosOp>(x)};
}

Value SinOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::SinOp::create(b, getLoc(), scalars[0]);
}

/// d(cos x) = -g * sin x.
SmallVector<Value> CosOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {-(g * call<SinOp>(x))};
}

Value CosOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::CosOp::create(b, getLoc(), scalars[0]);
}

/// d(tan x) = g * (1 + y * y), where y is the primal result.
SmallVector<Value> TanOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), y = g.with(getY());
  return {g * (1.0 + call<SquareOp>(y))};
}

Value TanOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::TanOp::create(b, getLoc(), scalars[0]);
}

//===----------------------------------------------------------------------===//
// AsinOp, AcosOp, AtanOp
//===----------------------------------------------------------------------===//

/// d(asin x) = g / sqrt(1 - x * x).
SmallVector<Value> AsinOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {g * call<RsqrtOp>(1.0 - call<SquareOp>(x))};
}

Value AsinOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::AsinOp::create(b, getLoc(), scalars[0]);
}

/// d(acos x) = -g / sqrt(1 - x * x).
SmallVector<Value> AcosOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {-(g * call<RsqrtOp>(1.0 - call<SquareOp>(x)))};
}

Value AcosOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::AcosOp::create(b, getLoc(), scalars[0]);
}

/// d(atan x) = g / (1 + x * x).
SmallVector<Value> AtanOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {g / (1.0 + call<SquareOp>(x))};
}

Value AtanOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::AtanOp::create(b, getLoc(), scalars[0]);
}

//===----------------------------------------------------------------------===//
// Atan2Op
//===----------------------------------------------------------------------===//

/// d(atan2(a, b)) = g * b / (a * a + b * b), -g * a / (a * a + b * b).
SmallVector<Value> Atan2Op::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), ordinate = g.with(getLhs()), abscissa = g.with(getRhs());
  Term share = g / (call<SquareOp>(ordinate) + call<SquareOp>(abscissa));
  return {share * abscissa, -(share * ordinate)};
}

/// MLIR folds atan2 of two zeros to NaN; replacing the second zero by 1 or -1 results in the right
/// angle.
Value Atan2Op::buildScalar(OpBuilder &b, ValueRange scalars) {
  Location loc = getLoc();
  Value y = scalars[0], x = scalars[1];
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(x.getType(), value));
  };
  Value unit = math::CopySignOp::create(b, loc, number(1.0), x);
  auto isZero = [&](Value value) -> Value {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, value, number(0.0));
  };
  Value areZero = arith::AndIOp::create(b, loc, isZero(y), isZero(x));
  return math::Atan2Op::create(b, loc, y, arith::SelectOp::create(b, loc, areZero, unit, x));
}

//===----------------------------------------------------------------------===//
// SinhOp, CoshOp
//===----------------------------------------------------------------------===//

/// d(sinh x) = g * cosh x.
SmallVector<Value> SinhOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {g * call<CoshOp>(x)};
}

Value SinhOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::SinhOp::create(b, getLoc(), scalars[0]);
}

/// d(cosh x) = g * sinh x.
SmallVector<Value> CoshOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {g * call<SinhOp>(x)};
}

Value CoshOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::CoshOp::create(b, getLoc(), scalars[0]);
}

//===----------------------------------------------------------------------===//
// AsinhOp, AcoshOp, AtanhOp
//===----------------------------------------------------------------------===//

/// d(asinh x) = g / sqrt(1 + x * x).
SmallVector<Value> AsinhOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {g * call<RsqrtOp>(1.0 + call<SquareOp>(x))};
}

Value AsinhOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::AsinhOp::create(b, getLoc(), scalars[0]);
}

/// d(acosh x) = g / sqrt(x * x - 1).
SmallVector<Value> AcoshOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {g * call<RsqrtOp>(call<SquareOp>(x) - 1.0)};
}

Value AcoshOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::AcoshOp::create(b, getLoc(), scalars[0]);
}

/// d(atanh x) = g / (1 - x * x).
SmallVector<Value> AtanhOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {g / (1.0 - call<SquareOp>(x))};
}

Value AtanhOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::AtanhOp::create(b, getLoc(), scalars[0]);
}

//===----------------------------------------------------------------------===//
// ErfOp, ErfcOp
//===----------------------------------------------------------------------===//

/// d(erf x) = 2 / sqrt(pi) * g * exp(-x * x).
SmallVector<Value> ErfOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {g * call<ExpOp>(-call<SquareOp>(x)) * M_2_SQRTPI};
}

Value ErfOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::ErfOp::create(b, getLoc(), scalars[0]);
}

/// d(erfc x) = -2 / sqrt(pi) * g * exp(-x * x).
SmallVector<Value> ErfcOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {g * call<ExpOp>(-call<SquareOp>(x)) * -M_2_SQRTPI};
}

Value ErfcOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::ErfcOp::create(b, getLoc(), scalars[0]);
}
