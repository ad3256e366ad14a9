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

//===----------------------------------------------------------------------===//
// Remainders
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Equalities
//===----------------------------------------------------------------------===//

StringRef solvedName(const dfg::Fact &fact) {
  std::optional<StringRef> name = fact.lhs.asSymbol();
  return name && fact.comparison == dfg::Comparison::Equal ? *name : StringRef();
}

static DimExpr solve(const DimExpr &size, ArrayRef<dfg::Fact> facts) {
  return *size.substitute([&](StringRef name) -> std::optional<DimExpr> {
    const auto *found = find_if(facts, [&](const auto &fact) { return solvedName(fact) == name; });
    return found == facts.end() ? DimExpr::symbol(name) : found->rhs;
  });
}

/// Removes the names that are factors of the whole size, as of `b * n - b * m`.
static DimExpr withoutFactors(DimExpr size, ArrayRef<std::string> names) {
  for (const std::string &name : names) {
    DimExpr factor = DimExpr::symbol(name), quotient = DimExpr::floorDiv(size, factor);
    if (!size.isConstant(0) && quotient * factor == size)
      size = quotient;
  }
  return size;
}

/// Returns a name in terms of others with which the sizes are equal. Later names are preferred:
/// those of the first inputs stay. A number would not leave the size dynamic.
static std::optional<dfg::Fact> findEquality(const DimExpr &lhs, const DimExpr &rhs,
                                             ArrayRef<std::string> names) {
  DimExpr difference = withoutFactors(lhs.plain() - rhs.plain(), names);
  for (const std::string &name : reverse(names))
    if (std::optional<DimExpr> value = dfg::solveFor(name, difference);
        value && !value->constant() && dfg::isNonNegative(*value) == true)
      return dfg::Fact{DimExpr::symbol(name), dfg::Comparison::Equal, *value};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

static bool isAbout(const DimExpr &size, ArrayRef<std::string> names) {
  bool isAbout = true;
  size.forEachSymbol([&](StringRef name) { isAbout &= is_contained(names, name); });
  return isAbout;
}

/// Returns the facts with which two sizes are equal; none if there are no such.
static std::vector<dfg::Fact> findFacts(const DimExpr &lhs, const DimExpr &rhs,
                                        ArrayRef<std::string> names) {
  if (!isAbout(lhs, names) || !isAbout(rhs, names) || lhs == rhs)
    return {};
  std::vector<dfg::Fact> facts;
  for (const auto &[name, remainder] : findRemainders(lhs, rhs))
    if (remainder.divisor > 1)
      facts.push_back({DimExpr::mod(DimExpr::symbol(name), remainder.divisor),
                       dfg::Comparison::Equal, remainder.value});
  if (std::optional<dfg::Fact> equality = findEquality(lhs, rhs, names); equality && facts.empty())
    facts.push_back(*equality);
  return facts;
}

std::vector<dfg::Fact> findFacts(std::vector<Diagnostic> &errors, ArrayRef<dfg::Fact> known,
                                 ArrayRef<std::string> names) {
  std::vector<dfg::Fact> facts;
  for (Diagnostic &error : errors) {
    auto unproven = dfg::ErrorDetails::of(error).unproven;
    if (!unproven)
      continue;
    for (const dfg::Fact &fact :
         findFacts(solve(unproven->first, facts), solve(unproven->second, facts), names))
      if (!is_contained(known, fact) && !is_contained(facts, fact))
        addFacts(facts, fact);
  }
  return facts;
}

void addFacts(std::vector<dfg::Fact> &known, ArrayRef<dfg::Fact> facts) {
  for (dfg::Fact fact : facts) {
    fact.lhs = solvedName(fact).empty() ? solve(fact.lhs, known) : fact.lhs;
    fact.rhs = solve(fact.rhs, known);
    for (dfg::Fact &other : known) {
      other.lhs = solvedName(other).empty() ? solve(other.lhs, fact) : other.lhs;
      other.rhs = solve(other.rhs, fact);
    }
    known.push_back(std::move(fact));
  }
}

DimExpr applyFacts(const DimExpr &size, ArrayRef<dfg::Fact> facts) {
  Remainders remainders;
  for (const dfg::Fact &fact : facts)
    if (auto congruence = dfg::Congruence::of(fact))
      if (auto linear = congruence->dividend.asLinear())
        (void)remainders[linear->name].add(*linear, congruence->divisor, congruence->value);
  return substitute(solve(size, facts), remainders);
}

} // namespace tfc::onnx
