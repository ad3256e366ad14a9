//===- DimRemainders.cpp - Remainders within symbolic sizes ---------------===//
//
// Finds the terms of `k * (x - d * (x // d))` in a size, for each quotient in it.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/DimRemainders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace llvm;

namespace tfc::dfg {

using Terms = std::map<DimExpr::Monomial, int64_t>;

/// The divisor of a quotient by a number greater than 1; else 0.
static int64_t divisorOf(const DimExpr::Atom &atom) {
  std::optional<int64_t> divisor =
      atom.kind == DimExpr::AtomKind::FloorDiv ? atom.rhs->constant() : std::nullopt;
  return std::max(divisor.value_or(0), int64_t(1)) == 1 ? 0 : *divisor;
}

static DimExpr::Monomial multiply(const DimExpr::Monomial &lhs, const DimExpr::Monomial &rhs) {
  DimExpr::Monomial product;
  std::merge(lhs.begin(), lhs.end(), rhs.begin(), rhs.end(), std::back_inserter(product));
  return product;
}

/// Returns true if a difference in the constant term may be made up for: `n - 4 * (n // 4) + 2` is
/// `n % 4 + 2`, but `4 * ((n + 3) // 4) - n` stays as it is.
static bool mayAddConstant(const RemainderTerm &term, int64_t constant) {
  return term.others.empty() && (term.coefficient > 0 || constant == 0);
}

/// Takes the terms of the dividend out of `terms`, but not the one of the quotient; fails, with the
/// terms in any state, if they are not there.
static bool takeDividend(const RemainderTerm &term, Terms &terms) {
  for (const auto &[monomial, coefficient] : term.quotient.lhs->getTerms()) {
    auto found = terms.find(multiply(term.others, monomial));
    int64_t taken;
    if (MulOverflow(term.coefficient, coefficient, taken))
      return false;
    bool isThere = found != terms.end() && found->second == taken;
    if (isThere) {
      terms.erase(found);
      continue;
    }
    if (!monomial.empty() || !mayAddConstant(term, coefficient))
      return false;
    int64_t &constant = terms[{}];
    if (SubOverflow(constant, taken, constant))
      return false;
  }
  return true;
}

/// Finds a remainder whose quotient is a factor of the monomial, and takes its terms.
static std::optional<RemainderTerm> takeRemainder(const DimExpr::Monomial &monomial,
                                                  int64_t coefficient, Terms &terms) {
  for (size_t i = 0; i < monomial.size(); ++i) {
    int64_t divisor = divisorOf(monomial[i]);
    if (divisor == 0 || coefficient % divisor != 0)
      continue;
    RemainderTerm term{monomial, -(coefficient / divisor), monomial[i], divisor};
    term.others.erase(term.others.begin() + i);
    Terms left = terms;
    left.erase(monomial);
    if (!takeDividend(term, left))
      continue;
    terms = std::move(left);
    return term;
  }
  return std::nullopt;
}

static bool hasDivision(const DimExpr &size) {
  return any_of(size.getTerms(), [](const auto &term) { return any_of(term.first, divisorOf); });
}

/// Moves the terms of remainders out of `terms`.
static std::vector<RemainderTerm> takeRemainders(const DimExpr &size, Terms &terms) {
  std::vector<RemainderTerm> remainders;
  for (const auto &[monomial, coefficient] : size.getTerms()) {
    auto found = terms.find(monomial);
    if (found == terms.end() || found->second != coefficient)
      continue;
    if (std::optional<RemainderTerm> term = takeRemainder(monomial, coefficient, terms))
      remainders.push_back(std::move(*term));
  }
  return remainders;
}

RemainderSum splitRemainders(const DimExpr &size) {
  RemainderSum sum;
  Terms left;
  bool isSplit = hasDivision(size);
  if (isSplit) {
    left = size.getTerms();
    sum.remainders = takeRemainders(size, left);
    sum.constant = left.contains({}) ? left[{}] : 0;
  }
  for (const auto &[monomial, coefficient] : size.getTerms()) {
    if (!monomial.empty() && (!isSplit || left.contains(monomial)))
      sum.products.emplace_back(&monomial, coefficient);
    else if (!isSplit)
      sum.constant = coefficient;
  }
  return sum;
}

} // namespace tfc::dfg
