//===- MathOps.cpp - Elementwise functions of one tensor ------------------===//
//
// Implements exponentials, logarithms, roots and other elementary functions of one tensor, each by
// its scalar code and the formula of its gradient.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Formula.h"
#include "dialects/dfg/Scalar.h"

using namespace mlir;
using namespace tfc::dfg;

//===----------------------------------------------------------------------===//
// ExpOp, LogOp
//===----------------------------------------------------------------------===//

/// d(exp x) = g * y, where y is the primal result.
SmallVector<Value> ExpOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {MulOp::create(b, getLoc(), resultGrads[0], getY())};
}

Value ExpOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::ExpOp::create(b, getLoc(), scalars[0]);
}

/// d(log x) = g / x.
SmallVector<Value> LogOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {DivOp::create(b, getLoc(), resultGrads[0], getX())};
}

Value LogOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::LogOp::create(b, getLoc(), scalars[0]);
}

//===----------------------------------------------------------------------===//
// SqrtOp, RsqrtOp
//===----------------------------------------------------------------------===//

/// d(sqrt x) = g / (2 y), where y is the primal result.
SmallVector<Value> SqrtOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Value half = MulOp::create(b, getLoc(), resultGrads[0], scalarLike(b, getX(), 0.5));
  return {DivOp::create(b, getLoc(), half, getY())};
}

Value SqrtOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::SqrtOp::create(b, getLoc(), scalars[0]);
}

/// d(rsqrt x) = -g * y / (2 x), where y is the primal result.
SmallVector<Value> RsqrtOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Value half = MulOp::create(b, getLoc(), resultGrads[0], scalarLike(b, getX(), -0.5));
  return {DivOp::create(b, getLoc(), MulOp::create(b, getLoc(), half, getY()), getX())};
}

Value RsqrtOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  Value one = arith::ConstantOp::create(b, getLoc(), b.getFloatAttr(scalars[0].getType(), 1.0));
  return arith::DivFOp::create(b, getLoc(), one, math::SqrtOp::create(b, getLoc(), scalars[0]));
}

//===----------------------------------------------------------------------===//
// TanhOp
//===----------------------------------------------------------------------===//

/// d(tanh x) = g - g * y * y, where y is the primal result.
SmallVector<Value> TanhOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Value yy = SquareOp::create(b, getLoc(), getY());
  Value gyy = MulOp::create(b, getLoc(), resultGrads[0], yy);
  return {SubOp::create(b, getLoc(), resultGrads[0], gyy)};
}

Value TanhOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::TanhOp::create(b, getLoc(), scalars[0]);
}

//===----------------------------------------------------------------------===//
// Exp2Op, Expm1Op, Log2Op, Log1pOp
//===----------------------------------------------------------------------===//

/// d(exp2 x) = log 2 * g * y, where y is the primal result.
SmallVector<Value> Exp2Op::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), y = g.with(getY());
  return {g * y * M_LN2};
}

Value Exp2Op::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::Exp2Op::create(b, getLoc(), scalars[0]);
}

/// d(expm1 x) = g * (y + 1), where y is the primal result.
SmallVector<Value> Expm1Op::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), y = g.with(getY());
  return {g * (1.0 + y)};
}

Value Expm1Op::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::ExpM1Op::create(b, getLoc(), scalars[0]);
}

/// d(log2 x) = g / (x * log 2).
SmallVector<Value> Log2Op::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {g / (M_LN2 * x)};
}

Value Log2Op::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::Log2Op::create(b, getLoc(), scalars[0]);
}

/// d(log1p x) = g / (1 + x).
SmallVector<Value> Log1pOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {g / (1.0 + x)};
}

Value Log1pOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::Log1pOp::create(b, getLoc(), scalars[0]);
}

//===----------------------------------------------------------------------===//
// ReciprocalOp
//===----------------------------------------------------------------------===//

/// d(1 / x) = -g * y * y, where y is the primal result.
SmallVector<Value> ReciprocalOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), y = g.with(getY());
  return {-(g * call<SquareOp>(y))};
}

Value ReciprocalOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  ScalarBuilder s(b, getLoc());
  return s.div(s.number(scalars[0], 1.0), scalars[0]);
}

//===----------------------------------------------------------------------===//
// ReluOp
//===----------------------------------------------------------------------===//

/// d(relu x) = g where x > 0, else 0.
SmallVector<Value> ReluOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Value zero = scalarLike(b, getX(), 0.0);
  Value isPositive = GreaterOp::create(b, getLoc(), getX(), zero);
  return {SelectOp::create(b, getLoc(), isPositive, resultGrads[0], zero)};
}

Value ReluOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  Type type = scalars[0].getType();
  Value zero = arith::ConstantOp::create(b, getLoc(), type, b.getZeroAttr(type));
  if (isa<FloatType>(type))
    return arith::MaximumFOp::create(b, getLoc(), scalars[0], zero);
  if (elementTypeOf(getX().getType()).isUnsignedInteger())
    return scalars[0];
  return arith::MaxSIOp::create(b, getLoc(), scalars[0], zero);
}
