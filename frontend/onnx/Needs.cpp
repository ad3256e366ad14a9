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

static bool isDivision(const DimExpr::Atom &atom) {
  return atom.kind == DimExpr::AtomKind::FloorDiv && atom.rhs->constant().value_or(0) > 1;
}

static void forEachAtom(const DimExpr &size,
                        llvm::function_ref<void(const DimExpr::Atom &)> visit) {
  for (const auto &[monomial, coefficient] : size.getTerms())
    for (const DimExpr::Atom &atom : monomial)
      visit(atom);
}

/// Makes each name below a division a multiple of the product of all divisors above it: then all
/// divisions are exact but for numbers, as `(h + 7) // 8` for the ceiling of `h / 8`.
static void addMultiples(const DimExpr &size, int64_t divisor, Remainders &remainders) {
  forEachAtom(size, [&](const DimExpr::Atom &atom) {
    int64_t product = divisor;
    if (atom.kind == DimExpr::AtomKind::Symbol) {
      if (divisor > 1)
        (void)remainders[atom.name].add(1, divisor, 0);
      return;
    }
    if (isDivision(atom) && __builtin_mul_overflow(divisor, *atom.rhs->constant(), &product))
      return;
    addMultiples(atom.lhs->plain(), product, remainders);
    addMultiples(atom.rhs->plain(), divisor, remainders);
  });
}

/// Makes the dividends of quotients multiples of the divisors, where they are linear in one name.
static void addDivisible(const DimExpr &size, Remainders &remainders) {
  forEachAtom(size, [&](const DimExpr::Atom &atom) {
    std::optional<DimExpr::Linear> linear =
        isDivision(atom) ? atom.lhs->plain().asLinear() : std::nullopt;
    if (linear)
      (void)remainders[linear->name].add(*linear, *atom.rhs->constant(), 0);
  });
}

static DimExpr substitute(const DimExpr &size, const Remainders &remainders) {
  return *size.substitute([&](StringRef name) -> std::optional<DimExpr> {
    auto found = remainders.find(name.str());
    if (found == remainders.end() || found->second.divisor == 1)
      return DimExpr::symbol(name);
    return DimExpr::multiple(name, found->second.divisor, found->second.value);
  });
}

static bool areEnough(const DimExpr &difference, const Remainders &remainders) {
  return substitute(difference, remainders).isConstant(0);
}

/// Removes prime factors of the divisors that are not needed for the difference to be 0.
static void reduce(const DimExpr &difference, Remainders &remainders) {
  for (auto &[name, remainder] : remainders) {
    int64_t rest = remainder.divisor;
    for (int64_t factor = 2; rest > 1; ++factor) {
      if (factor * factor > rest)
        factor = rest;
      for (; rest % factor == 0; rest /= factor) {
        dfg::Remainder known = remainder;
        remainder.divisor /= factor;
        remainder.value %= remainder.divisor;
        if (!areEnough(difference, remainders))
          remainder = known;
      }
    }
  }
}

/// Returns the remainders with which the sizes are equal; none if there are no such.
static Remainders findRemainders(const DimExpr &lhs, const DimExpr &rhs) {
  DimExpr difference = lhs.plain() - rhs.plain();
  Remainders multiples, exact;
  addMultiples(difference, 1, multiples);
  addDivisible(difference, exact);
  for (Remainders *candidate : {&multiples, &exact})
    if (areEnough(difference, *candidate)) {
      reduce(difference, *candidate);
      return *candidate;
    }
  return {};
}

std::vector<dfg::Fact> findRemainders(std::vector<Diagnostic> &errors, ArrayRef<dfg::Fact> known) {
  std::vector<dfg::Fact> facts;
  for (Diagnostic &error : errors) {
    auto unproven = dfg::ErrorDetails::of(error).unproven;
    if (!unproven)
      continue;
    for (const auto &[name, remainder] : findRemainders(unproven->first, unproven->second)) {
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
