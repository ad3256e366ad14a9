//===- Elementwise.cpp - Arithmetic, comparison, selection, casts ---------===//
//
// Evaluates arithmetic, comparisons, selection and casts. Operations that choose between operands
// return a value that covers both if the choice is undetermined.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Pointwise.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

/// The results of a comparison for the signs -1, 0 and 1 of `lhs - rhs`, and
/// for NaN.
struct Comparison {
  bool below, same, above, unordered;
};

/// The result is undetermined if the intervals of two floats overlap and the possible results
/// differ.
static void compareReals(Call &call, const Comparison &answers) {
  forEachElement(call, [&](int64_t i, ArrayRef<int64_t> at) {
    Real x = call.operand(0).real(at[0]), y = call.operand(1).real(at[1]);
    auto answer = [&](double lhs, double rhs) {
      if (std::isnan(lhs) || std::isnan(rhs))
        return answers.unordered;
      return lhs < rhs ? answers.below : lhs == rhs ? answers.same : answers.above;
    };
    bool result = answer(x.value, y.value);
    bool isExact = x.isExact() && y.isExact();
    bool isApart = x.isBounded() && y.isBounded() && (x.high() < y.low() || y.high() < x.low());
    bool isSpecial = x.isDetermined() && y.isDetermined() && !std::isfinite(x.value - y.value);
    // An undetermined value may be NaN.
    bool isSame = isOneOperand(call) && (x.isDetermined() || answers.same == answers.unordered);
    bool isDetermined = isExact || isApart || isSpecial || isSame;
    call.result().setInteger(i, result, isDetermined);
  });
}

static void compareIntegers(Call &call, const Comparison &answers) {
  Type type = call.operand().getElementType();
  mapInteger(call, [&](ArrayRef<int64_t> operands) -> int64_t {
    int64_t x[] = {orderKey(type, operands[0]), orderKey(type, operands[1])};
    return x[0] < x[1] ? answers.below : x[0] == x[1] ? answers.same : answers.above;
  });
}

template <typename Op> static void addComparison(Registry &registry, Comparison answers) {
  registry.add<Op>([=](Op, Call &call) {
    if (call.operand().isFloat())
      compareReals(call, answers);
    else
      compareIntegers(call, answers);
  });
}

/// The union of the intervals of both sides, for an undetermined condition.
static Real hull(Real chosen, Real other) {
  double apart = distance(chosen.value, other.value);
  return {chosen.value, std::max(chosen.error, apart + other.error),
          std::min(chosen.low(), other.low()), std::max(chosen.high(), other.high())};
}

static void select(SelectOp, Call &call) {
  const Tensor &condition = call.operand(0);
  forEachElement(call, [&](int64_t i, ArrayRef<int64_t> at) {
    unsigned side = condition.integer(at[0]) ? 1 : 2, other = 3 - side;
    call.result().copy(i, call.operand(side), at[side]);
    if (condition.isDetermined(at[0]))
      return;
    if (call.result().isFloat())
      call.result().setReal(
          i, hull(call.operand(side).real(at[side]), call.operand(other).real(at[other])));
    else if (call.operand(1).integer(at[1]) != call.operand(2).integer(at[2]))
      call.result().setError(i, kUndetermined);
  });
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// Truncates and saturates; NaN is 0.
static int64_t toInteger(Type elementType, double value) {
  if (std::isnan(value))
    return 0;
  unsigned bits = elementType.getIntOrFloatBitWidth();
  bool isUnsigned = elementType.isUnsignedInteger();
  double low = isUnsigned ? 0 : -std::ldexp(1.0, bits - 1);
  double high = std::ldexp(1.0, isUnsigned ? bits : bits - 1); // exclusive
  double whole = std::trunc(value);
  if (whole < low)
    return int64_t(low);
  if (whole >= high)
    return isUnsigned ? int64_t(llvm::maxUIntN(bits)) : llvm::maxIntN(bits);
  return isUnsigned ? int64_t(uint64_t(whole)) : int64_t(whole);
}

/// The conversion to f16 and bf16 goes by way of f32.
static double onTheWay(Type elementType, double value) {
  if (!elementType.isF16() && !elementType.isBF16())
    return value;
  return roundTo(Float32Type::get(elementType.getContext()), value);
}

static void castFromFloat(CastOp op, Call &call) {
  Tensor &result = call.result();
  for (int64_t i = 0; i < result.size(); ++i) {
    Real x = call.operand().real(i);
    if (result.isFloat()) {
      x.value = onTheWay(op.getDtype(), x.value);
      result.setRounded(i, x, 0.5);
    } else if (op.getDtype().isInteger(1)) {
      result.setInteger(i, x.value != 0, x.isExact() || x.low() > 0 || x.high() < 0);
    } else {
      int64_t value = toInteger(op.getDtype(), x.value);
      bool isDetermined =
          x.isExact() || (x.isDetermined() && value == toInteger(op.getDtype(), x.low()) &&
                          value == toInteger(op.getDtype(), x.high()));
      result.setInteger(i, value, isDetermined);
    }
  }
}

static void castFromInteger(CastOp op, Call &call) {
  Tensor &result = call.result();
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t x = call.operand().integer(i);
    bool isDetermined = call.operand().isDetermined(i);
    if (result.isFloat())
      result.setRounded(
          i, {onTheWay(op.getDtype(), call.operand().number(i)), isDetermined ? 0 : kUndetermined},
          0.5);
    else
      result.setInteger(i, op.getDtype().isInteger(1) ? x != 0 : x, isDetermined);
  }
}

static void evaluateCast(CastOp op, Call &call) {
  if (call.operand().isFloat())
    castFromFloat(op, call);
  else
    castFromInteger(op, call);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

using Reals = ArrayRef<double>;
using Integers = ArrayRef<int64_t>;

/// Overflow wraps.
static int64_t addWrapping(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
static int64_t mulWrapping(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }
static int64_t negWrapping(int64_t a) { return int64_t(-uint64_t(a)); }

/// NaN if one of them is.
static double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// Registers an operation whose bounds have a formula; `real` is the operation on values, used if
/// both operands are the same tensor.
template <typename Op>
static void addArithmetic(Registry &registry, Real (*bounded)(ArrayRef<Real>),
                          double (*real)(Reals), int64_t (*integer)(Integers)) {
  registry.add<Op>([=](Op, Call &call) {
    if (!call.operand().isFloat())
      mapInteger(call, integer);
    else if (isOneOperand(call))
      mapReal(call, 0.5, real, {0.0});
    else
      mapBounded(call, 0.5, bounded);
  });
}

/// For a negative base the exponent determines whether the result is a number (it must be an
/// integer), and its sign.
static void evaluatePower(PowOp, Call &call) {
  mapReal(call, 2, [](Reals x) { return std::pow(x[0], x[1]); }, {0.0});
  forEachElement(call, [&](int64_t i, ArrayRef<int64_t> offsets) {
    Real base = call.operand(0).real(offsets[0]), exponent = call.operand(1).real(offsets[1]);
    bool mayBeWhole = std::floor(exponent.high()) >= std::ceil(exponent.low());
    if (base.low() < 0 && !exponent.isExact() && mayBeWhole)
      call.result().setError(i, kUndetermined);
  });
}

void addElementwise(Registry &registry) {
  addArithmetic<AddOp>(
      registry, [](ArrayRef<Real> x) { return add(x[0], x[1]); },
      [](Reals x) { return x[0] + x[1]; }, [](Integers x) { return addWrapping(x[0], x[1]); });
  addArithmetic<SubOp>(
      registry, [](ArrayRef<Real> x) { return add(x[0], negate(x[1])); },
      [](Reals x) { return x[0] - x[1]; },
      [](Integers x) { return addWrapping(x[0], negWrapping(x[1])); });
  addArithmetic<MulOp>(
      registry, [](ArrayRef<Real> x) { return multiply(x[0], x[1]); },
      [](Reals x) { return x[0] * x[1]; }, [](Integers x) { return mulWrapping(x[0], x[1]); });
  addReal<DivOp>(registry, 0.5, [](Reals x) { return x[0] / x[1]; }, {0.0});
  addChoice<MaximumOp>(
      registry, [](Reals x) { return larger(x[0], x[1]); },
      [](Integers x) { return std::max(x[0], x[1]); });
  addChoice<MinimumOp>(
      registry, [](Reals x) { return -larger(-x[0], -x[1]); },
      [](Integers x) { return std::min(x[0], x[1]); });
  registry.add<PowOp>(evaluatePower);
  addNumeric<NegOp>(
      registry, 0, [](Reals x) { return -x[0]; }, [](Integers x) { return negWrapping(x[0]); });
  addNumeric<SquareOp>(
      registry, 0.5, [](Reals x) { return x[0] * x[0]; },
      [](Integers x) { return mulWrapping(x[0], x[0]); }, {0.0});
  addComparison<EqualOp>(registry, {false, true, false, false});
  addComparison<NotEqualOp>(registry, {true, false, true, true});
  addComparison<LessOp>(registry, {true, false, false, false});
  addComparison<LessEqualOp>(registry, {true, true, false, false});
  addComparison<GreaterOp>(registry, {false, false, true, false});
  addComparison<GreaterEqualOp>(registry, {false, true, true, false});
  registry.add<SelectOp>(select);
  registry.add<CastOp>(evaluateCast);
  registry.add<StopGradientOp>([](StopGradientOp, Call &call) { call.result() = call.operand(); });
}

} // namespace tfc::reference
