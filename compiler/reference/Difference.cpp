//===- Difference.cpp - Comparing what two evaluations gave ---------------===//

#include "compiler/reference/Reference.h"
#include <cmath>

using namespace mlir;

namespace tfc::reference {

double ulpsBetween(Type elementType, double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return 0;
  if (!std::isfinite(a) || !std::isfinite(b))
    return INFINITY;
  const Format &format = formatOf(elementType);
  int exponent;
  std::frexp(std::max({std::fabs(a), std::fabs(b), format.smallest}), &exponent);
  return std::fabs(a - b) / std::ldexp(1.0, exponent - format.precision);
}

/// Whether storing a number within `error` of `value` may give `got`.
static bool mayBe(Type elementType, Real expected, double got) {
  if (!expected.isDetermined() || distance(expected.value, got) <= expected.error)
    return true;
  if (std::isnan(expected.value) || std::isnan(got))
    return false;
  // What is stored is rounded: an f16 beyond the largest one is infinite.
  return roundTo(elementType, expected.value - expected.error) <= got &&
         got <= roundTo(elementType, expected.value + expected.error);
}

std::optional<Difference> findDifference(const Tensor &expected,
                                         llvm::function_ref<double(int64_t)> got,
                                         llvm::function_ref<int64_t(int64_t)> integer) {
  Type dtype = expected.getElementType();
  for (int64_t i = 0; i < expected.size(); ++i) {
    if (!expected.isDetermined(i))
      continue;
    if (!expected.isFloat()) {
      if (expected.integer(i) != integer(i))
        return Difference{i, double(expected.integer(i)), double(integer(i)), 0, 0};
      continue;
    }
    double value = got(i);
    Real wanted{expected.number(i), expected.error(i)};
    if (!mayBe(dtype, wanted, value))
      return Difference{i, wanted.value, value, wanted.error,
                        ulpsBetween(dtype, wanted.value, value)};
  }
  return std::nullopt;
}

} // namespace tfc::reference
