// Finds out what the sizes of a model must satisfy, from the sizes whose equality could not be
// proven. A model says nothing of the kind, but does not run in calls that violate it.

#include "frontend/onnx/Needs.h"

#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Remainders.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using dfg::DimExpr;

/// By the names of sizes.
using Remainders = MapVector<std::string, dfg::Remainder, StringMap<unsigned>>;

/// Adds what `size % divisor == 0` takes. Whole multiples of a quotient are taken for those of its
/// dividend: `n // 4 % 7 == 0` for `n % 28 == 0`.
static void addDivisible(const DimExpr &size, int64_t divisor, Remainders &remainders) {
  if (std::optional<DimExpr::Linear> linear = size.asLinear()) {
    (void)remainders[linear->name].add(*linear, divisor, 0);
    return;
  }
  const auto &terms = size.getTerms();
  if (terms.size() != 1 || terms.begin()->second != 1 || terms.begin()->first.size() != 1)
    return;
  const DimExpr::Atom &atom = terms.begin()->first.front();
  std::optional<int64_t> by = atom.rhs ? atom.rhs->constant() : std::nullopt;
  int64_t product;
  if (atom.kind == DimExpr::AtomKind::FloorDiv && by && *by > 0 &&
      !__builtin_mul_overflow(*by, divisor, &product))
    addDivisible(*atom.lhs, product, remainders);
}

/// Returns the remainders with which all divisions in `difference` are exact.
static Remainders remaindersIn(const DimExpr &difference) {
  Remainders remainders;
  for (const auto &[monomial, coefficient] : difference.getTerms())
    for (const DimExpr::Atom &atom : monomial) {
      std::optional<int64_t> divisor = atom.rhs ? atom.rhs->constant() : std::nullopt;
      bool isDivision =
          atom.kind == DimExpr::AtomKind::FloorDiv || atom.kind == DimExpr::AtomKind::Mod;
      if (isDivision && divisor && *divisor > 1)
        addDivisible(atom.lhs->plain(), *divisor, remainders);
    }
  return remainders;
}

static DimExpr substitute(const DimExpr &size, const Remainders &remainders) {
  return *size.substitute([&](StringRef name) -> std::optional<DimExpr> {
    auto found = remainders.find(name.str());
    if (found == remainders.end() || found->second.divisor == 1)
      return DimExpr::symbol(name);
    return DimExpr::multiple(name, found->second.divisor, found->second.value);
  });
}

std::vector<dfg::Fact> findRemainders(std::vector<Diagnostic> &errors, ArrayRef<dfg::Fact> known) {
  std::vector<dfg::Fact> facts;
  for (Diagnostic &error : errors) {
    auto unproven = dfg::ErrorDetails::of(error).unproven;
    if (!unproven)
      continue;
    DimExpr difference = unproven->first.plain() - unproven->second.plain();
    Remainders remainders = remaindersIn(difference);
    if (remainders.empty() || !substitute(difference, remainders).isConstant(0))
      continue;
    for (const auto &[name, remainder] : remainders) {
      dfg::Fact fact{DimExpr::mod(DimExpr::symbol(name), remainder.divisor), dfg::Comparison::Equal,
                     remainder.value};
      if (remainder.divisor > 1 && !is_contained(known, fact) && !is_contained(facts, fact))
        facts.push_back(fact);
    }
  }
  return facts;
}

dfg::Shape applyRemainders(dfg::Shape sizes, ArrayRef<dfg::Fact> facts) {
  Remainders remainders;
  for (const dfg::Fact &fact : facts)
    if (auto congruence = dfg::Congruence::of(fact))
      if (auto linear = congruence->dividend.asLinear())
        (void)remainders[linear->name].add(*linear, congruence->divisor, congruence->value);
  for (DimExpr &size : sizes)
    size = substitute(size, remainders);
  return sizes;
}

} // namespace tfc::onnx
