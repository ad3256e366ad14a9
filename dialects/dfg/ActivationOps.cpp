//===- ActivationOps.cpp - Nonlinearities of neural networks --------------===//
//
// Implements `sigmoid`, `gelu`, `elu` and other activations, and the cross entropy of a sigmoid.
// `relu` and `tanh` are in MathOps.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Formula.h"
#include "dialects/dfg/Scalar.h"

using namespace mlir;
using namespace tfc::dfg;

/// 1 / (1 + exp(-x)).
static Value buildSigmoid(ScalarBuilder s, Value x) {
  Value one = s.number(x, 1.0);
  return s.div(one, s.add(one, s.exp(s.neg(x))));
}

/// log(1 + exp(-|x|)), which is softplus x - max(x, 0).
static Value buildSoftplusRest(ScalarBuilder s, Value x) {
  return s.create<math::Log1pOp>(s.exp(s.neg(s.abs(x))));
}

static Value buildPositivePart(ScalarBuilder s, Value x) {
  return s.create<arith::MaximumFOp>(x, s.number(x, 0.0));
}

//===----------------------------------------------------------------------===//
// SigmoidOp, SiluOp
//===----------------------------------------------------------------------===//

/// d(sigmoid x) = g * y * (1 - y), where y is the primal result.
SmallVector<Value> SigmoidOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), y = g.with(getY());
  return {g * (y * (1.0 - y))};
}

Value SigmoidOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return buildSigmoid(ScalarBuilder(b, getLoc()), scalars[0]);
}

/// d(x * s) = g * s * (1 + x * (1 - s)) with s = sigmoid x.
SmallVector<Value> SiluOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  Term s = call<SigmoidOp>(x);
  return {g * (s * (1.0 + x * (1.0 - s)))};
}

/// x / (1 + exp(-x)): the sigmoid alone would underflow before its product with x.
Value SiluOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  ScalarBuilder s(b, getLoc());
  Value x = scalars[0];
  return s.div(x, s.add(s.number(x, 1.0), s.exp(s.neg(x))));
}

//===----------------------------------------------------------------------===//
// SoftplusOp, SoftsignOp
//===----------------------------------------------------------------------===//

/// d(softplus x) = g * sigmoid x.
SmallVector<Value> SoftplusOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {g * call<SigmoidOp>(x)};
}

Value SoftplusOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  ScalarBuilder s(b, getLoc());
  return s.add(buildPositivePart(s, scalars[0]), buildSoftplusRest(s, scalars[0]));
}

/// d(x / (1 + |x|)) = g / (1 + |x|) ** 2.
SmallVector<Value> SoftsignOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {g / call<SquareOp>(1.0 + call<AbsOp>(x))};
}

Value SoftsignOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  ScalarBuilder s(b, getLoc());
  Value x = scalars[0];
  return s.div(x, s.add(s.number(x, 1.0), s.abs(x)));
}

//===----------------------------------------------------------------------===//
// GeluOp
//===----------------------------------------------------------------------===//

// With the approximation: y = x * (1 + tanh u) / 2, u = kScale * (x + kCubic * x ** 3).
static constexpr double kScale = 0.79788456080286535588; // sqrt(2 / pi)
static constexpr double kCubic = 0.044715;

/// With p the normal distribution function of x: g * (p + x * exp(-x * x / 2) / sqrt(2 pi)). With
/// the approximation and t = tanh u: g * (1 + t + x * (1 - t * t) * kScale * (1 + 3 * kCubic * x *
/// x)) / 2.
SmallVector<Value> GeluOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  Term xx = call<SquareOp>(x);
  if (!getApproximate()) {
    Term p = 0.5 * (1.0 + call<ErfOp>(x * M_SQRT1_2));
    Term density = call<ExpOp>(xx * -0.5) * (0.5 * kScale);
    return {g * (p + x * density)};
  }
  Term t = call<TanhOp>(x * (kScale + xx * (kScale * kCubic)));
  Term slope = (1.0 - call<SquareOp>(t)) * (kScale + xx * (3 * kScale * kCubic));
  return {g * (0.5 * (1.0 + t + x * slope))};
}

Value GeluOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  ScalarBuilder s(b, getLoc());
  Value x = scalars[0], part;
  if (getApproximate()) {
    Value xx = s.mul(x, x);
    Value factor = s.add(s.number(x, kScale), s.mul(xx, s.number(x, kScale * kCubic)));
    part = s.create<math::TanhOp>(s.mul(x, factor));
  } else {
    part = s.create<math::ErfOp>(s.mul(x, s.number(x, M_SQRT1_2)));
  }
  return s.mul(s.mul(x, s.number(x, 0.5)), s.add(s.number(x, 1.0), part));
}

//===----------------------------------------------------------------------===//
// EluOp, SeluOp, LeakyReluOp
//===----------------------------------------------------------------------===//

static constexpr double kSeluAlpha = 1.6732632423543772;
static constexpr double kSeluScale = 1.0507009873554805;

/// `scale * x` above 0, else `scale * alpha * (exp(x) - 1)`.
static Value buildElu(ScalarBuilder s, Value x, double alpha, double scale) {
  Value zero = s.number(x, 0.0);
  Value bent = s.create<math::ExpM1Op>(s.create<arith::MinimumFOp>(x, zero));
  Value isPositive = s.compare(arith::CmpFPredicate::OGT, x, zero);
  return s.select(isPositive, s.mul(x, s.number(x, scale)),
                  s.mul(bent, s.number(x, alpha * scale)));
}

/// d(elu x) = g where x > 0, else g * (y + alpha), where y is the primal result.
SmallVector<Value> EluOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX()), y = g.with(getY());
  return {select(greater(x, 0.0), g, g * (y + getAlpha().convertToDouble()))};
}

Value EluOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return buildElu(ScalarBuilder(b, getLoc()), scalars[0], getAlpha().convertToDouble(), 1.0);
}

/// d(selu x) = g * scale where x > 0, else g * (y + scale * alpha), where y is the primal result.
SmallVector<Value> SeluOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX()), y = g.with(getY());
  return {select(greater(x, 0.0), g * kSeluScale, g * (y + kSeluScale * kSeluAlpha))};
}

Value SeluOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return buildElu(ScalarBuilder(b, getLoc()), scalars[0], kSeluAlpha, kSeluScale);
}

/// d(leaky_relu x) = g where x > 0, else slope * g.
SmallVector<Value> LeakyReluOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {select(greater(x, 0.0), g, g * getSlope().convertToDouble())};
}

Value LeakyReluOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  ScalarBuilder s(b, getLoc());
  Value x = scalars[0], slope = s.number(x, getSlope().convertToDouble());
  Value isPositive = s.compare(arith::CmpFPredicate::OGT, x, s.number(x, 0.0));
  return s.select(isPositive, x, s.mul(x, slope));
}

//===----------------------------------------------------------------------===//
// SigmoidCrossEntropyOp
//===----------------------------------------------------------------------===//

/// d/dx = g * (sigmoid x - p), d/dp = -g * x.
SmallVector<Value> SigmoidCrossEntropyOp::buildOperandGradients(OpBuilder &b,
                                                                ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getLhs()), p = g.with(getRhs());
  return {g * (call<SigmoidOp>(x) - p), -(g * x)};
}

/// max(x, 0) - x * p + log(1 + exp(-|x|)).
Value SigmoidCrossEntropyOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  ScalarBuilder s(b, getLoc());
  Value x = scalars[0];
  Value linear = s.sub(buildPositivePart(s, x), s.mul(x, scalars[1]));
  return s.add(linear, buildSoftplusRest(s, x));
}
