//===- DimIntervals.cpp - Intervals of symbolic sizes ---------------------===//
//
// Interval arithmetic on the sizes of DimExpr.cpp, whose names have bounds.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/DimExpr.h"
#include "dialects/dfg/DimRemainders.h"
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

/// Returns the larger lower bound and the smaller upper bound.
static DimExpr::Interval closest(const DimExpr::Interval &a, const DimExpr::Interval &b) {
  return {choose(a.first, b.first, std::max<int64_t>, true),
          choose(a.second, b.second, std::min<int64_t>, true)};
}

using IntervalOf = function_ref<DimExpr::Interval(const DimExpr &size)>;

/// `intervalOf` returns the intervals of operands.
static DimExpr::Interval atomInterval(const DimExpr::Atom &atom, DimExpr::Bounds bounds,
                                      IntervalOf intervalOf) {
  if (atom.kind == DimExpr::AtomKind::Symbol)
    return bounds(atom.name);
  DimExpr::Interval lhs = intervalOf(*atom.lhs), rhs = intervalOf(*atom.rhs);
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

//===----------------------------------------------------------------------===//
// Relaxations
//===----------------------------------------------------------------------===//

/// The number of atoms that are replaced on the way to one bound.
static constexpr unsigned kMaxRelaxations = 6;

/// Returns expressions that each bound an atom from above or below, multiplied by `scale`.
static std::vector<DimExpr> boundsOf(const DimExpr::Atom &atom, bool isUpper, int64_t &scale) {
  using Kind = DimExpr::AtomKind;
  if (atom.kind == (isUpper ? Kind::Min : Kind::Max))
    return {*atom.lhs, *atom.rhs};
  std::optional<int64_t> divisor = atom.rhs ? atom.rhs->constant() : std::nullopt;
  if (!divisor || *divisor <= 0)
    return {};
  if (atom.kind != Kind::FloorDiv)
    return {};
  scale = *divisor;
  return {isUpper ? *atom.lhs : *atom.lhs - DimExpr(*divisor - 1)};
}

/// Replaces an atom for which there are bounds in terms of what it is made of: the lower bounds of
/// `n - n // 2` are `(2 * n - n) / 2`.
std::optional<DimExpr::Relaxation> DimExpr::relax(bool isLower, Bounds bounds) const {
  for (auto &[monomial, coefficient] : terms) {
    for (size_t i = 0; i < monomial.size(); ++i) {
      Relaxation relaxation;
      std::vector<DimExpr> replacements =
          boundsOf(monomial[i], (coefficient < 0) == isLower, relaxation.scale);
      if (replacements.empty())
        continue;
      Monomial others = monomial;
      others.erase(others.begin() + i);
      if (makeTerm(others, 1).interval(bounds).first.value_or(-1) < 0)
        continue;
      DimExpr rest = (*this - makeTerm(monomial, coefficient)) * DimExpr(relaxation.scale);
      for (const DimExpr &replacement : replacements)
        relaxation.bounds.push_back(rest + makeTerm(others, coefficient) * replacement);
      return relaxation;
    }
  }
  return std::nullopt;
}

std::optional<int64_t> DimExpr::relaxedBound(bool isLower, Bounds bounds, unsigned depth) const {
  if (isOverflow(*this))
    return std::nullopt;
  std::optional<Relaxation> relaxation = depth ? relax(isLower, bounds) : std::nullopt;
  if (!relaxation) {
    Interval sum = sumOfIntervals(bounds);
    return isLower ? sum.first : sum.second;
  }
  std::optional<int64_t> best;
  for (const DimExpr &relaxed : relaxation->bounds) {
    std::optional<int64_t> bound = relaxed.relaxedBound(isLower, bounds, depth - 1);
    if (!bound)
      continue;
    bound = isLower ? divideCeilSigned(*bound, relaxation->scale)
                    : divideFloorSigned(*bound, relaxation->scale);
    best = !best ? bound : isLower ? std::max(*best, *bound) : std::min(*best, *bound);
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

DimExpr::Interval DimExpr::interval(Bounds bounds) const {
  if (isOverflow(*this))
    return {std::nullopt, std::nullopt};
  Interval sum = sumOfIntervals(bounds);
  // n is known more closely than 4 * (n / 4), but (n - 1) / 4 more closely than (n - 1) // 4.
  if (hasQuotients())
    sum = closest(sum, plain().sumOfIntervals(bounds));
  if (terms.size() < 2)
    return sum;
  return closest(sum, {relaxedBound(/*isLower=*/true, bounds, kMaxRelaxations),
                       relaxedBound(/*isLower=*/false, bounds, kMaxRelaxations)});
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
  // Operands are not relaxed: that would take a time exponential in their depth.
  auto intervalOf = [&](const DimExpr &operand) -> Interval {
    if (isOverflow(operand))
      return {std::nullopt, std::nullopt};
    Interval interval = operand.sumOfIntervals(bounds);
    return operand.hasQuotients() ? closest(interval, operand.plain().sumOfIntervals(bounds))
                                  : interval;
  };
  auto add = [&](int64_t coefficient, const Monomial &monomial, Interval product) {
    for (const Atom &atom : monomial)
      product = multiply(product, atomInterval(atom, bounds, intervalOf));
    if (coefficient < 0)
      std::swap(product.first, product.second);
    accumulate(sum.first, multiply(product.first, coefficient));
    accumulate(sum.second, multiply(product.second, coefficient));
  };
  for (auto &[monomial, coefficient] : terms)
    add(coefficient, monomial, {1, 1});
  RemainderSum remainders = splitRemainders(*this);
  if (remainders.remainders.empty())
    return sum;
  Interval whole = std::exchange(sum, {0, 0});
  for (const RemainderTerm &term : remainders.remainders)
    add(term.coefficient, term.others, {0, term.divisor - 1});
  for (const auto &[monomial, coefficient] : remainders.products)
    add(coefficient, *monomial, {1, 1});
  add(1, {}, {remainders.constant, remainders.constant});
  return closest(sum, whole);
}

} // namespace tfc::dfg
