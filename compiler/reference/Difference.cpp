//===- Difference.cpp - Comparing the results of two evaluations ----------===//
//
// Decides whether a computed tensor agrees with the oracle's, by the error bounds of its elements.
// No tolerance is chosen here or by callers.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Reference.h"
#include <cmath>

using namespace mlir;

namespace tfc::reference {

/// The size of a unit in the last place of the larger number.
static double unitOf(Type elementType, double a, double b) {
  const Format &format = formatOf(elementType);
  double size = std::max({std::fabs(a), std::fabs(b), format.smallest});
  int exponent;
  std::frexp(std::min(size, format.largest), &exponent);
  return std::ldexp(1.0, exponent - format.precision);
}

double ulpsBetween(Type elementType, double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return 0;
  if (!std::isfinite(a) || !std::isfinite(b))
    return INFINITY;
  return std::fabs(a - b) / unitOf(elementType, a, b);
}

/// Returns true if storing a number within its bounds may give `got`.
static bool mayBe(Type elementType, Real expected, double got) {
  double apart = distance(expected.value, got);
  if (!expected.isDetermined() || apart == 0)
    return true;
  if (std::isnan(expected.value) || std::isnan(got))
    return false;
  if (apart <= expected.error && expected.least <= got && got <= expected.most)
    return true;
  // Stored values are rounded: an f16 beyond the largest one is infinite.
  return roundTo(elementType, expected.low()) <= got &&
         got <= roundTo(elementType, expected.high());
}

void Agreement::note(double distance, double allowed) {
  if (distance * allowedUlps > ulps * allowed || allowedUlps == 0) {
    ulps = distance;
    allowedUlps = allowed;
  }
}

void Agreement::add(const Agreement &other) {
  values += other.values;
  undetermined += other.undetermined;
  if (other.allowedUlps != 0)
    note(other.ulps, other.allowedUlps);
}

std::optional<Difference> findDifference(const Tensor &expected,
                                         llvm::function_ref<double(int64_t)> got,
                                         llvm::function_ref<int64_t(int64_t)> integer,
                                         Agreement *agreement) {
  Type dtype = expected.getElementType();
  Agreement unused;
  Agreement &counts = agreement ? *agreement : unused;
  for (int64_t i = 0; i < expected.size(); ++i) {
    ++counts.values;
    if (!expected.isDetermined(i)) {
      ++counts.undetermined;
      continue;
    }
    if (!expected.isFloat()) {
      if (expected.integer(i) != integer(i))
        return Difference{i, expected.number(i), toDouble(dtype, integer(i)), 0, 0};
      continue;
    }
    Real wanted = expected.stored(i);
    double value = got(i), ulps = ulpsBetween(dtype, wanted.value, value);
    // The bound is that of the stored value, as in mayBe.
    double end = value < wanted.value ? std::min(wanted.low(), roundTo(dtype, wanted.low()))
                                      : std::max(wanted.high(), roundTo(dtype, wanted.high()));
    double allowed = std::fabs(wanted.value - end) / unitOf(dtype, wanted.value, wanted.value);
    // Tiny values count as zero, and may exceed a limit of zero when they are moved.
    bool isSmall = std::fabs(value) < formatOf(dtype).smallest;
    if (!mayBe(dtype, wanted, value) && !(isSmall && mayBe(dtype, wanted, 0)))
      return Difference{i, wanted.value, value, ulps, allowed};
    if (allowed > 0 && std::isfinite(ulps))
      counts.note(ulps, allowed);
  }
  return std::nullopt;
}

} // namespace tfc::reference
