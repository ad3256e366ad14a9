//===- DimDivision.cpp - Quotients and remainders of sizes ----------------===//
//
// Divides sizes as polynomials in their atoms, as far as that is exact; what is left is an atom.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/DimExpr.h"
#include "dialects/dfg/SizeComplexity.h"
#include "dialects/dfg/SizeLimits.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <numeric>

using namespace llvm;

namespace tfc::dfg {

using MakeTerm = function_ref<DimExpr(const DimExpr::Monomial &, int64_t)>;

/// Splits `lhs` into quotient * `by` + rest, where the rest has only terms that `by` does not
/// divide.
static std::pair<DimExpr, DimExpr> divideByConstant(const DimExpr &lhs, int64_t by,
                                                    MakeTerm makeTerm) {
  std::vector<DimExpr> quotient, rest;
  for (auto &[monomial, coefficient] : lhs.getTerms()) {
    if (coefficient % by != 0 && !monomial.empty()) {
      rest.push_back(makeTerm(monomial, coefficient));
      continue;
    }
    // The constant term may leave a remainder: (n + 5) // 2 is (n + 1) // 2 + 2.
    int64_t whole = divideFloorSigned(coefficient, by);
    quotient.push_back(makeTerm(monomial, whole));
    rest.push_back(DimExpr(llvm::mod(coefficient, by)));
  }
  return {sumOf(std::move(quotient)), sumOf(std::move(rest))};
}

using Term = std::pair<const DimExpr::Monomial, int64_t>;

/// `lhs / rhs`, if `rhs` divides it.
static std::optional<DimExpr> divideTerm(const Term &lhs, const Term &rhs, MakeTerm makeTerm) {
  auto &[monomial, coefficient] = lhs;
  auto &[divisor, by] = rhs;
  if (coefficient % by != 0 ||
      !std::includes(monomial.begin(), monomial.end(), divisor.begin(), divisor.end()))
    return std::nullopt;
  DimExpr::Monomial left;
  std::set_difference(monomial.begin(), monomial.end(), divisor.begin(), divisor.end(),
                      std::back_inserter(left));
  return makeTerm(left, coefficient / by);
}

namespace {
/// The first term with the highest power of a variable.
struct Leader {
  const Term *term = nullptr;
  bool isOnly = true;
};
} // namespace

static Leader findLeader(const DimExpr &size, const DimExpr::Atom &variable) {
  Leader leader;
  int64_t highest = -1;
  for (const Term &term : size.getTerms()) {
    int64_t power = count(term.first, variable);
    if (power == highest)
      leader.isOnly = false;
    else if (power > highest)
      leader = {&term};
    highest = std::max(highest, power);
  }
  return leader;
}

/// `lhs / rhs` as polynomials in one of their atoms, if there is no remainder. `divisor` is the
/// only leader of `rhs`.
static std::optional<DimExpr> dividePolynomials(const DimExpr &lhs, const DimExpr &rhs,
                                                const Term &divisor, const DimExpr::Atom &variable,
                                                MakeTerm makeTerm) {
  DimExpr rest = lhs, quotient;
  // Each step removes a term with the highest power, and adds terms with lower ones.
  constexpr unsigned kMaxSteps = 64;
  for (unsigned step = 0; step < kMaxSteps && !isOverflow(rest); ++step) {
    if (rest.isConstant(0))
      return quotient;
    auto part = divideTerm(*findLeader(rest, variable).term, divisor, makeTerm);
    if (!part)
      return std::nullopt;
    quotient = quotient + *part;
    rest = rest - *part * rhs;
  }
  return std::nullopt;
}

/// `lhs / rhs`, if there is no remainder.
static std::optional<DimExpr> divideExactly(const DimExpr &lhs, const DimExpr &rhs,
                                            MakeTerm makeTerm) {
  if (rhs.getTerms().size() != 1) {
    // A factor of all terms leads nowhere, as the batch in `batch * (n + 1)`.
    for (const Term &term : rhs.getTerms())
      for (const DimExpr::Atom &variable : term.first)
        if (Leader leader = findLeader(rhs, variable); leader.isOnly)
          return dividePolynomials(lhs, rhs, *leader.term, variable, makeTerm);
    return std::nullopt;
  }
  std::vector<DimExpr> quotient;
  for (const Term &term : lhs.getTerms()) {
    std::optional<DimExpr> part = divideTerm(term, *rhs.getTerms().begin(), makeTerm);
    if (!part)
      return std::nullopt;
    quotient.push_back(std::move(*part));
  }
  return sumOf(std::move(quotient));
}

/// `(a // b + c) // by` as one quotient, `(a + b * c) // (b * by)`.
static std::optional<DimExpr> divideQuotient(const DimExpr &lhs, int64_t by) {
  const DimExpr::Atom *quotient = nullptr;
  for (const auto &[monomial, coefficient] : lhs.getTerms()) {
    if (monomial.empty())
      continue;
    if (quotient || coefficient != 1 || monomial.size() != 1)
      return std::nullopt;
    quotient = &monomial.front();
  }
  std::optional<int64_t> divisor = quotient && quotient->kind == DimExpr::AtomKind::FloorDiv
                                       ? quotient->rhs->constant()
                                       : std::nullopt;
  int64_t product;
  if (!divisor || *divisor < 1 || __builtin_mul_overflow(*divisor, by, &product))
    return std::nullopt;
  auto constant = lhs.getTerms().find({});
  DimExpr added = constant == lhs.getTerms().end() ? 0 : constant->second;
  return DimExpr::floorDiv(*quotient->lhs + added * DimExpr(*divisor), product);
}

/// The greatest common divisor of `by` and the factors of all terms but the constant one.
static int64_t commonFactor(const DimExpr &size, int64_t by) {
  for (const auto &[monomial, coefficient] : size.getTerms())
    by = monomial.empty() ? by : std::gcd(by, coefficient);
  return by;
}

/// Returns true if the term with the smallest factor is negative, the last one of several: so
/// remainders, `n - 4 * (n // 4)`, are positive.
static bool isNegated(const DimExpr &size) {
  int64_t smallest = 0;
  for (const auto &[monomial, coefficient] : size.getTerms())
    if (!monomial.empty() && (smallest == 0 || std::abs(coefficient) <= std::abs(smallest)))
      smallest = coefficient;
  return smallest < 0;
}

/// Divides by a positive number. Of equal quotients, `(2 * n + 1) // 4` and `n // 2`, or
/// `-((-n) // 4)` and `(n + 3) // 4`, the second ones are canonical.
DimExpr DimExpr::divideByNumber(const DimExpr &lhs, int64_t by) {
  auto [quotient, rest] = divideByConstant(lhs, by, makeTerm);
  if (std::optional<int64_t> value = rest.constant())
    return quotient + DimExpr(divideFloorSigned(*value, by));
  if (int64_t factor = commonFactor(rest, by); factor > 1)
    return quotient + divideByNumber(divideByConstant(rest, factor, makeTerm).first, by / factor);
  if (isNegated(rest))
    return quotient - divideByNumber(DimExpr(by - 1) - rest, by);
  if (std::optional<DimExpr> merged = divideQuotient(rest, by))
    return quotient + *merged;
  return quotient + atom(AtomKind::FloorDiv, rest, by);
}

/// Returns the quotient of two numbers, or of sizes without a remainder.
static std::optional<DimExpr> divideKnown(const DimExpr &lhs, const DimExpr &rhs,
                                          MakeTerm makeTerm) {
  std::optional<int64_t> x = lhs.constant(), y = rhs.constant();
  return x && y ? DimExpr(divideFloorSigned(*x, *y)) : divideExactly(lhs, rhs, makeTerm);
}

/// Returns the factor of all terms of both sizes, such as `3 * b` for `3 * b * n` and `6 * b * m`.
static DimExpr commonTerm(const DimExpr &lhs, const DimExpr &rhs, MakeTerm makeTerm) {
  int64_t factor = 0;
  std::optional<DimExpr::Monomial> common;
  for (const DimExpr *size : {&lhs, &rhs}) {
    for (const auto &[monomial, coefficient] : size->getTerms()) {
      factor = std::gcd(factor, coefficient);
      DimExpr::Monomial shared = common.value_or(monomial);
      common.emplace();
      std::set_intersection(shared.begin(), shared.end(), monomial.begin(), monomial.end(),
                            std::back_inserter(*common));
    }
  }
  return factor ? makeTerm(*common, factor) : DimExpr(1);
}

/// Divides both by what they have in common.
static std::pair<DimExpr, DimExpr> cancelCommon(const DimExpr &lhs, const DimExpr &rhs,
                                                MakeTerm makeTerm) {
  DimExpr common = commonTerm(lhs, rhs, makeTerm);
  if (common.isConstant(1))
    return {lhs, rhs};
  return {*divideExactly(lhs, common, makeTerm), *divideExactly(rhs, common, makeTerm)};
}

DimExpr DimExpr::floorDiv(const DimExpr &lhs, const DimExpr &rhs) {
  if (rhs.isConstant(0) || isOverflow(lhs) || isOverflow(rhs))
    return atom(AtomKind::FloorDiv, lhs, rhs);
  if (auto known = divideKnown(lhs, rhs, makeTerm))
    return *known;
  auto [dividend, divisor] = cancelCommon(lhs, rhs, makeTerm);
  std::optional<int64_t> by = divisor.constant();
  return by && *by > 0 ? divideByNumber(dividend, *by)
                       : atom(AtomKind::FloorDiv, dividend, divisor);
}

DimExpr DimExpr::mod(const DimExpr &lhs, const DimExpr &rhs) {
  if (rhs.isConstant(0) || isOverflow(lhs) || isOverflow(rhs))
    return atom(AtomKind::Mod, lhs, rhs);
  std::optional<DimExpr> quotient = divideKnown(lhs, rhs, makeTerm);
  if (std::optional<int64_t> by = rhs.constant(); !quotient && by && *by > 0)
    quotient = divideByNumber(lhs, *by);
  return quotient ? lhs - *quotient * rhs : atom(AtomKind::Mod, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Exact quotients
//===----------------------------------------------------------------------===//

DimExpr DimExpr::multiple(StringRef name, int64_t divisor, int64_t remainder) {
  return quotient(symbol(name) - remainder, divisor) * divisor + remainder;
}

/// Returns true for the dividends of `multiple`, whose quotients are never negative.
static bool isNameLess(const DimExpr &dividend, int64_t divisor) {
  std::optional<DimExpr::Linear> linear = dividend.asLinear();
  return linear && linear->scale == 1 && linear->offset <= 0 && linear->offset > -divisor;
}

DimExpr DimExpr::quotient(const DimExpr &lhs, const DimExpr &rhs) {
  std::optional<int64_t> by = rhs.constant();
  if (!by || *by < 2 || lhs.hasQuotients() || !isNameLess(lhs, *by))
    return floorDiv(lhs, rhs);
  return atom(AtomKind::Quotient, lhs, rhs);
}

} // namespace tfc::dfg
