//===- DimIntervals.cpp - Intervals of symbolic sizes ---------------------===//
//
// Interval arithmetic on the sizes of DimExpr.cpp, whose names have bounds.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/DimExpr.h"
#include "dialects/dfg/SizeLimits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace llvm;

namespace tfc::dfg {

static std::optional<int64_t> multiply(std::optional<int64_t> x, std::optional<int64_t> y) {
  int64_t product;
  if (!x || !y || MulOverflow(*x, *y, product))
    return std::nullopt;
  return product;
}

static DimExpr::Interval multiply(const DimExpr::Interval &a, const DimExpr::Interval &b) {
  if (a.first && b.first && *a.first >= 0 && *b.first >= 0)
    return {multiply(a.first, b.first), multiply(a.second, b.second)};
  std::optional<int64_t> corners[] = {multiply(a.first, b.first), multiply(a.first, b.second),
                                      multiply(a.second, b.first), multiply(a.second, b.second)};
  if (!all_of(corners, [](auto corner) { return corner.has_value(); }))
    return {std::nullopt, std::nullopt};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

/// Returns the one of two optional bounds that `pick` chooses. If only one exists, returns it if
/// `either` is set.
static std::optional<int64_t> choose(std::optional<int64_t> a, std::optional<int64_t> b,
                                     const int64_t &(*pick)(const int64_t &, const int64_t &),
                                     bool either) {
  if (a && b)
    return pick(*a, *b);
  if (!either)
    return std::nullopt;
  return a ? a : b;
}

/// Returns the interval of a quotient or remainder whose operands may be negative: the magnitude of
/// the quotient is at most that of the dividend, and the remainder is between 0 and the divisor.
static DimExpr::Interval signedInterval(DimExpr::AtomKind kind, const DimExpr::Interval &lhs,
                                        const DimExpr::Interval &rhs) {
  const DimExpr::Interval &limits = kind == DimExpr::AtomKind::Mod ? rhs : lhs;
  std::optional<int64_t> negated;
  if (limits.first)
    negated = multiply(limits.first, -1);
  if (!limits.second || !negated)
    return {std::nullopt, std::nullopt};
  int64_t largest = std::max({*limits.second, *negated, int64_t(0)});
  return {-largest, largest};
}

static DimExpr::Interval atomInterval(const DimExpr::Atom &atom, DimExpr::Bounds bounds) {
  if (atom.kind == DimExpr::AtomKind::Symbol)
    return bounds(atom.name);
  DimExpr::Interval lhs = atom.lhs->interval(bounds), rhs = atom.rhs->interval(bounds);
  if (atom.kind == DimExpr::AtomKind::Quotient && lhs.first) // a size is at least its remainder
    lhs.first = std::max(*lhs.first, int64_t(0));
  if (atom.kind == DimExpr::AtomKind::Min)
    return {choose(lhs.first, rhs.first, std::min<int64_t>, false),
            choose(lhs.second, rhs.second, std::min<int64_t>, true)};
  if (atom.kind == DimExpr::AtomKind::Max)
    return {choose(lhs.first, rhs.first, std::max<int64_t>, true),
            choose(lhs.second, rhs.second, std::max<int64_t>, false)};
  // A remainder has the sign of the divisor.
  if (atom.kind == DimExpr::AtomKind::Mod && rhs.first && *rhs.first > 0)
    return {0, rhs.second ? std::optional(*rhs.second - 1) : std::nullopt};
  if (!rhs.first || *rhs.first <= 0 || !lhs.first || *lhs.first < 0)
    return signedInterval(atom.kind, lhs, rhs);
  DimExpr::Interval result{rhs.second ? *lhs.first / *rhs.second : 0, std::nullopt};
  if (lhs.second)
    result.second = *lhs.second / *rhs.first;
  return result;
}

DimExpr::Interval DimExpr::interval(Bounds bounds) const {
  if (isOverflow(*this))
    return {std::nullopt, std::nullopt};
  Interval sum = sumOfIntervals(bounds);
  if (!hasQuotients())
    return sum;
  // n is known more closely than 4 * (n / 4), but (n - 1) / 4 more closely than (n - 1) // 4.
  Interval other = plain().sumOfIntervals(bounds);
  return {choose(sum.first, other.first, std::max<int64_t>, true),
          choose(sum.second, other.second, std::min<int64_t>, true)};
}

DimExpr::Interval DimExpr::interval() const {
  return interval([](StringRef) { return Interval(0, std::nullopt); });
}

DimExpr::Interval DimExpr::sumOfIntervals(Bounds bounds) const {
  Interval sum{0, 0};
  auto accumulate = [](std::optional<int64_t> &total, std::optional<int64_t> part) {
    int64_t result;
    if (!total || !part || AddOverflow(*total, *part, result))
      total = std::nullopt;
    else
      total = result;
  };
  for (auto &[monomial, coefficient] : terms) {
    Interval product{1, 1};
    for (const Atom &atom : monomial)
      product = multiply(product, atomInterval(atom, bounds));
    if (coefficient < 0)
      std::swap(product.first, product.second);
    accumulate(sum.first, multiply(product.first, coefficient));
    accumulate(sum.second, multiply(product.second, coefficient));
  }
  return sum;
}

} // namespace tfc::dfg
