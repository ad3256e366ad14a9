//===- Trigonometry.cpp - Trigonometric, hyperbolic, error functions ------===//
//
// Evaluates trigonometric, hyperbolic and error functions, with bounds at their poles and extremes.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Pointwise.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

using Reals = ArrayRef<double>;

/// The slope of sine and cosine is at most 1 and their range 2; for wide intervals the ends say
/// nothing.
template <typename Op> static void addWave(Registry &registry, double (*function)(double)) {
  registry.add<Op>([=](Op, Call &call) {
    mapBounded(call, 2, [&](ArrayRef<Real> x) -> Real {
      double y = function(x[0].value);
      // An undetermined value may be infinite.
      if (!x[0].isDetermined() || (!x[0].isExact() && !std::isfinite(x[0].value)))
        return {y, kUndetermined};
      return {y, std::min(x[0].error, 2.0)};
    });
  });
}

/// Undetermined if the interval contains a pole.
static Real tangent(Real x) {
  auto period = [](double at) { return std::floor(at / M_PI + 0.5); };
  if (period(x.value - x.error) != period(x.value + x.error))
    return {std::tan(x.value), kUndetermined};
  return evaluateAt([](Reals at) { return std::tan(at[0]); }, x);
}

/// The units in the last place are those of docs/numerics.md.
void addTrigonometry(Registry &registry) {
  addWave<SinOp>(registry, [](double x) { return std::sin(x); });
  addWave<CosOp>(registry, [](double x) { return std::cos(x); });
  registry.add<TanOp>([](TanOp, Call &call) {
    mapBounded(call, 2, [](ArrayRef<Real> x) { return tangent(x[0]); });
  });
  addReal<AsinOp>(registry, 2, [](Reals x) { return std::asin(x[0]); });
  addReal<AcosOp>(registry, 2, [](Reals x) { return std::acos(x[0]); });
  addReal<AtanOp>(registry, 3, [](Reals x) { return std::atan(x[0]); });
  addReal<Atan2Op>(registry, 3, [](Reals x) { return std::atan2(x[0], x[1]); }, {0.0});
  addReal<SinhOp>(registry, 3, [](Reals x) { return std::sinh(x[0]); });
  addReal<CoshOp>(registry, 3, [](Reals x) { return std::cosh(x[0]); }, {0.0});
  addReal<AsinhOp>(registry, 3, [](Reals x) { return std::asinh(x[0]); });
  addReal<AcoshOp>(registry, 3, [](Reals x) { return std::acosh(x[0]); }, {1.0});
  addReal<AtanhOp>(registry, 3, [](Reals x) { return std::atanh(x[0]); });
  addReal<ErfOp>(registry, 6, [](Reals x) { return std::erf(x[0]); });
  addReal<ErfcOp>(registry, 4, [](Reals x) { return std::erfc(x[0]); });
}

} // namespace tfc::reference
