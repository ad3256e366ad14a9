//===- MathOps.cpp - Elementwise functions of one tensor ------------------===//

#include "dialects/dfg/Build.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

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
