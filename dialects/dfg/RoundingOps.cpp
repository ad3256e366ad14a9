//===- RoundingOps.cpp - Signs, rounding, limits, floor division ----------===//
//
// Implements functions with steps and kinks: rounding, signs, limits, and floor division with its
// check of the divisor.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Formula.h"
#include "dialects/dfg/Scalar.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tfc::dfg;

//===----------------------------------------------------------------------===//
// AbsOp, SignOp
//===----------------------------------------------------------------------===//

/// d|x| = g * sign x.
SmallVector<Value> AbsOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  return {g * call<SignOp>(x)};
}

Value AbsOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  if (isFloatScalar(scalars[0]))
    return math::AbsFOp::create(b, getLoc(), scalars[0]);
  return hasUnsignedElements(getX()) ? scalars[0] : math::AbsIOp::create(b, getLoc(), scalars[0]);
}

/// The sign is piecewise constant: no gradient flows.
SmallVector<Value> SignOp::buildOperandGradients(OpBuilder &, ValueRange) { return {Value()}; }

Value SignOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  ScalarBuilder s(b, getLoc());
  Value x = scalars[0], zero = s.number(x, 0.0), one = s.number(x, 1.0),
        minusOne = s.number(x, -1.0);
  if (isFloatScalar(x)) {
    Value rest = s.select(s.compare(arith::CmpFPredicate::OLT, x, zero), minusOne, x);
    return s.select(s.compare(arith::CmpFPredicate::OGT, x, zero), one, rest);
  }
  if (hasUnsignedElements(getX()))
    return s.select(s.compare(arith::CmpIPredicate::ne, x, zero), one, zero);
  Value rest = s.select(s.compare(arith::CmpIPredicate::slt, x, zero), minusOne, zero);
  return s.select(s.compare(arith::CmpIPredicate::sgt, x, zero), one, rest);
}

//===----------------------------------------------------------------------===//
// FloorOp, CeilOp, RoundOp, TruncOp
//===----------------------------------------------------------------------===//

// These are piecewise constant: no gradient flows.

SmallVector<Value> FloorOp::buildOperandGradients(OpBuilder &, ValueRange) { return {Value()}; }

Value FloorOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::FloorOp::create(b, getLoc(), scalars[0]);
}

SmallVector<Value> CeilOp::buildOperandGradients(OpBuilder &, ValueRange) { return {Value()}; }

Value CeilOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::CeilOp::create(b, getLoc(), scalars[0]);
}

SmallVector<Value> RoundOp::buildOperandGradients(OpBuilder &, ValueRange) { return {Value()}; }

Value RoundOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::RoundEvenOp::create(b, getLoc(), scalars[0]);
}

SmallVector<Value> TruncOp::buildOperandGradients(OpBuilder &, ValueRange) { return {Value()}; }

Value TruncOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return math::TruncOp::create(b, getLoc(), scalars[0]);
}

//===----------------------------------------------------------------------===//
// ClampOp
//===----------------------------------------------------------------------===//

/// d clamp(x, low, high) = g where low <= x <= high; g where x < low; g where x > high or where
/// low >= high.
SmallVector<Value> ClampOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX()), zero = g.number(0.0);
  Term low = g.with(getMin()), high = g.with(getMax());
  // If the limits are equal, the result does not depend on x.
  Term isHigh =
      call<LogicalOrOp>(greater(call<MaximumOp>(x, low), high), call<GreaterEqualOp>(low, high));
  Term isLow = less(x, low);
  Term inside = select(isHigh, zero, select(isLow, zero, g));
  return {inside, select(isHigh, zero, select(isLow, g, zero)), select(isHigh, g, zero)};
}

Value ClampOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  ScalarBuilder s(b, getLoc());
  Value x = scalars[0], low = scalars[1], high = scalars[2];
  if (isFloatScalar(x))
    return s.create<arith::MinimumFOp>(s.create<arith::MaximumFOp>(x, low), high);
  if (hasUnsignedElements(getX()))
    return s.create<arith::MinUIOp>(s.create<arith::MaxUIOp>(x, low), high);
  return s.create<arith::MinSIOp>(s.create<arith::MaxSIOp>(x, low), high);
}

//===----------------------------------------------------------------------===//
// FloordivOp, ModOp
//===----------------------------------------------------------------------===//

/// Builds the condition that all elements of an integer divisor are nonzero; null if that is known.
static std::optional<DataCheck> buildDivisorCheck(OpBuilder &b, Location loc, Value divisor) {
  if (isa<FloatType>(elementTypeOf(divisor.getType())))
    return std::nullopt;
  Value source = divisor;
  while (auto broadcast = source.getDefiningOp<BroadcastOp>())
    source = broadcast.getX();
  DenseElementsAttr constant;
  if (matchPattern(source, m_Constant(&constant)) &&
      llvm::none_of(constant.getValues<APInt>(), [](const APInt &value) { return value.isZero(); }))
    return std::nullopt;
  Term d(b, loc, divisor);
  Term holds =
      call<AllOp>(call<NotEqualOp>(d, d.number(0.0)), DenseI64ArrayAttr(), b.getBoolAttr(false));
  return DataCheck{holds, Message(b, loc).text("divides an integer by 0")};
}

namespace {
/// Quotient and remainder of one element, rounded down.
struct Division {
  Value quotient, remainder;
};
} // namespace

/// A zero quotient has the sign of the exact quotient, a zero remainder that of `y`.
static Division buildFloatDivision(ScalarBuilder s, Value x, Value y) {
  using Predicate = arith::CmpFPredicate;
  Value zero = s.number(x, 0.0);
  Value rest = s.create<arith::RemFOp>(x, y);
  Value hasRest = s.compare(Predicate::ONE, rest, zero);
  Value differs = s.create<arith::XOrIOp>(s.compare(Predicate::OLT, rest, zero),
                                          s.compare(Predicate::OLT, y, zero));
  Value isDown = s.create<arith::AndIOp>(hasRest, differs);
  Value exact = s.div(s.sub(x, rest), y);
  Value whole =
      s.create<math::RoundEvenOp>(s.select(isDown, s.sub(exact, s.number(x, 1.0)), exact));
  Value plain = s.div(x, y);
  Value quotient = s.create<math::CopySignOp>(whole, plain);
  Value isByZero = s.compare(Predicate::OEQ, y, zero);
  Value isExact = s.compare(Predicate::OEQ, rest, zero);
  Value remainder = s.select(isExact, s.create<math::CopySignOp>(zero, y), rest);
  return {s.select(isByZero, plain, quotient), s.select(isDown, s.add(rest, y), remainder)};
}

/// Avoids operands for which the instruction traps: the result of a division by 0 is arbitrary, and
/// a division by -1 wraps.
static Division buildIntDivision(ScalarBuilder s, Value x, Value y) {
  using Predicate = arith::CmpIPredicate;
  Value zero = s.number(x, 0.0), one = s.number(x, 1.0);
  Value isMinusOne = s.compare(Predicate::eq, y, s.number(x, -1.0));
  Value isTrap = s.create<arith::OrIOp>(s.compare(Predicate::eq, y, zero), isMinusOne);
  Value divisor = s.select(isTrap, one, y);
  Value quotient = s.create<arith::DivSIOp>(x, divisor);
  Value rest = s.create<arith::SubIOp>(x, s.create<arith::MulIOp>(quotient, divisor));
  Value differs = s.compare(Predicate::slt, s.create<arith::XOrIOp>(rest, divisor), zero);
  Value isDown = s.create<arith::AndIOp>(s.compare(Predicate::ne, rest, zero), differs);
  Value lower = s.select(isDown, s.create<arith::SubIOp>(quotient, one), quotient);
  Value negated = s.create<arith::SubIOp>(zero, x);
  return {s.select(isMinusOne, negated, lower),
          s.select(isDown, s.create<arith::AddIOp>(rest, divisor), rest)};
}

static Division buildDivision(ScalarBuilder s, Value tensor, Value x, Value y) {
  if (isFloatScalar(x))
    return buildFloatDivision(s, x, y);
  if (!hasUnsignedElements(tensor))
    return buildIntDivision(s, x, y);
  Value isZero = s.compare(arith::CmpIPredicate::eq, y, s.number(y, 0.0));
  Value divisor = s.select(isZero, s.number(y, 1.0), y);
  return {s.create<arith::DivUIOp>(x, divisor), s.create<arith::RemUIOp>(x, divisor)};
}

/// Divides by a number other than 0.
template <DimExpr (*divide)(const DimExpr &, const DimExpr &)>
static std::optional<DimExpr> divideBy(const DimExpr &a, const DimExpr &b) {
  if (!b.constant() || b.isConstant(0))
    return std::nullopt;
  return divide(a, b);
}

/// The quotient is piecewise constant: no gradient flows.
SmallVector<Value> FloordivOp::buildOperandGradients(OpBuilder &, ValueRange) {
  return {Value(), Value()};
}

Value FloordivOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return buildDivision(ScalarBuilder(b, getLoc()), getLhs(), scalars[0], scalars[1]).quotient;
}

std::optional<SizeTensor> FloordivOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  return combineSizes(operands, divideBy<DimExpr::floorDiv>);
}

std::optional<DataCheck> FloordivOp::buildCheck(OpBuilder &b) {
  return buildDivisorCheck(b, getLoc(), getRhs());
}

Failure FloordivOp::getCheckStatus() { return Failure::InvalidArgument; }

/// d(a % b) = g, -g * (a // b).
SmallVector<Value> ModOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), lhs = g.with(getLhs());
  return {g, -(g * call<FloordivOp>(lhs, getRhs()))};
}

Value ModOp::buildScalar(OpBuilder &b, ValueRange scalars) {
  return buildDivision(ScalarBuilder(b, getLoc()), getLhs(), scalars[0], scalars[1]).remainder;
}

std::optional<SizeTensor> ModOp::evaluateSizes(SizeOperands operands, DictionaryAttr) {
  return combineSizes(operands, divideBy<DimExpr::mod>);
}

std::optional<DataCheck> ModOp::buildCheck(OpBuilder &b) {
  return buildDivisorCheck(b, getLoc(), getRhs());
}

Failure ModOp::getCheckStatus() { return Failure::InvalidArgument; }
