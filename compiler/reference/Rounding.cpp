//===- Rounding.cpp - Signs, rounding, limits, floor division -------------===//
//
// Evaluates functions with steps and kinks, near which a small error changes the result.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Pointwise.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

using Reals = ArrayRef<double>;
using Integers = ArrayRef<int64_t>;

static double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

/// NaN if any of them is.
static double clamp(Reals x) {
  if (std::isnan(x[0]) || std::isnan(x[1]) || std::isnan(x[2]))
    return NAN;
  return std::min(std::max(x[0], x[1]), x[2]);
}

//===----------------------------------------------------------------------===//
// Floor division
//===----------------------------------------------------------------------===//

/// The remainder of the quotient rounded down; it has the sign of `y`.
static double remainder(double x, double y) {
  double rest = std::fmod(x, y);
  if (rest == 0)
    return std::copysign(0.0, y);
  return (rest < 0) != (y < 0) ? rest + y : rest;
}

/// The quotient rounded down; a zero has the sign of the exact quotient.
static double quotient(double x, double y) {
  if (y == 0)
    return x / y;
  double rest = std::fmod(x, y), whole = (x - rest) / y;
  bool isDown = rest != 0 && (rest < 0) != (y < 0);
  return std::copysign(std::nearbyint(isDown ? whole - 1 : whole), x / y);
}

static void floordivReals(Call &call) {
  mapReal(call, 1.5, [](Reals x) { return quotient(x[0], x[1]); }, {0.0});
}

/// If the quotient is not determined, the remainder is any number up to `y`. It is rounded if `y`
/// is added.
static void modReals(Call &call) {
  mapBounded(call, 1, [](ArrayRef<Real> x) {
    Real whole = evaluateAt([](Reals at) { return quotient(at[0], at[1]); }, x, {0.0});
    Real rest = evaluateAt([](Reals at) { return remainder(at[0], at[1]); }, x, {0.0});
    if (!whole.isExact())
      rest = {rest.value, std::max(rest.error, x[1].size())};
    return rest;
  });
}

/// Division of the smallest integer by -1 wraps: negate as unsigned numbers.
static int64_t floorQuotient(int64_t x, int64_t y) {
  if (y == -1)
    return int64_t(-uint64_t(x));
  int64_t whole = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? whole - 1 : whole;
}

static int64_t floorRemainder(int64_t x, int64_t y) {
  return int64_t(uint64_t(x) - uint64_t(floorQuotient(x, y)) * uint64_t(y));
}

static void divideIntegers(Call &call, int64_t (*divide)(int64_t, int64_t)) {
  mapInteger(call, [&](Integers x) -> int64_t {
    if (x[1] != 0)
      return divide(x[0], x[1]);
    call.refuse();
    return 0;
  });
}

static int64_t unsignedQuotient(int64_t x, int64_t y) { return int64_t(uint64_t(x) / uint64_t(y)); }
static int64_t unsignedRemainder(int64_t x, int64_t y) {
  return int64_t(uint64_t(x) % uint64_t(y));
}

static bool isUnsigned(Call &call) { return call.operand().getElementType().isUnsignedInteger(); }

void addRounding(Registry &registry) {
  registry.add<AbsOp>([](AbsOp, Call &call) {
    if (call.operand().isFloat())
      mapReal(call, 0, [](Reals x) { return std::fabs(x[0]); }, {0.0});
    else if (isUnsigned(call))
      call.result() = call.operand();
    else
      mapInteger(call, [](Integers x) { return x[0] < 0 ? int64_t(-uint64_t(x[0])) : x[0]; });
  });
  registry.add<SignOp>([](SignOp, Call &call) {
    if (call.operand().isFloat())
      mapReal(call, 0, [](Reals x) { return sign(x[0]); }, {0.0});
    else if (isUnsigned(call))
      mapInteger(call, [](Integers x) { return int64_t(x[0] != 0); });
    else
      mapInteger(call, [](Integers x) { return int64_t(x[0] > 0) - int64_t(x[0] < 0); });
  });
  addReal<FloorOp>(registry, 0, [](Reals x) { return std::floor(x[0]); });
  addReal<CeilOp>(registry, 0, [](Reals x) { return std::ceil(x[0]); });
  addReal<RoundOp>(registry, 0, [](Reals x) { return std::nearbyint(x[0]); });
  addReal<TruncOp>(registry, 0, [](Reals x) { return std::trunc(x[0]); });
  addChoice<ClampOp>(
      registry, [](Reals x) { return clamp(x); },
      [](Integers x) { return std::min(std::max(x[0], x[1]), x[2]); });
  registry.add<FloordivOp>([](FloordivOp, Call &call) {
    call.operand().isFloat()
        ? floordivReals(call)
        : divideIntegers(call, isUnsigned(call) ? unsignedQuotient : floorQuotient);
  });
  registry.add<ModOp>([](ModOp, Call &call) {
    call.operand().isFloat()
        ? modReals(call)
        : divideIntegers(call, isUnsigned(call) ? unsignedRemainder : floorRemainder);
  });
}

} // namespace tfc::reference
