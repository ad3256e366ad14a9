// Solves facts for names. It is apart from FactChecker, because it runs before the types of the
// feeds are known, and because its results are part of the types and need no check.
#include "frontend/text/elaborate/FactSolver.h"

#include "dialects/dfg/DataChecks.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/FactChecker.h"
#include "frontend/text/elaborate/Reporter.h"
#include <numeric>

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

bool FactSolver::isKnown(const ast::Expr *expr) {
  bool isKnown = true;
  forEachName(expr, [&](const ast::NameExpr &name) {
    isKnown &= evaluator.lookup(name.name, name.range).has_value();
  });
  return isKnown;
}

/// Returns true if a dimension has not been replaced.
bool FactSolver::isFree(StringRef name) { return valueOf(name) == dfg::DimExpr::symbol(name); }

/// The value of a dimension; nothing for other names.
std::optional<dfg::DimExpr> FactSolver::valueOf(StringRef name) {
  Local *local = dims.contains(name) ? context.activation->find(name) : nullptr;
  return local ? local->value.asDim() : std::nullopt;
}

std::optional<dfg::DimExpr> FactSolver::sizeOf(const ast::Expr *expr) {
  return isKnown(expr) ? evaluator.eval(expr).asDim() : std::nullopt;
}

/// A size in terms of the names that have not been replaced.
dfg::DimExpr FactSolver::current(const dfg::DimExpr &size) {
  return *size.substitute([&](StringRef name) -> std::optional<dfg::DimExpr> {
    std::optional<dfg::DimExpr> value = valueOf(name);
    return value ? value : dfg::DimExpr::symbol(name);
  });
}

/// Uses `value` for a dimension, in other dimensions too.
void FactSolver::replace(StringRef name, const dfg::DimExpr &value, SourceRange at) {
  context.entry.reasons[name].push_back(at);
  for (StringRef dim : mentions.lookup(name)) {
    dfg::DimExpr size = *valueOf(dim)->substitute([&](StringRef other) {
      return std::optional(other == name ? value : dfg::DimExpr::symbol(other));
    });
    context.activation->find(dim)->value = Entity::dim(size);
    addMentions(dim, size);
  }
}

void FactSolver::addMentions(StringRef dim, const dfg::DimExpr &value) {
  value.forEachSymbol([&](StringRef name) { mentions[name].insert(dim); });
}

//===----------------------------------------------------------------------===//
// Equalities
//===----------------------------------------------------------------------===//

/// `name` in terms of other names if `difference` is 0; nothing if it is not linear in it, or not
/// divisible by its factor.
static std::optional<dfg::DimExpr> solveFor(StringRef name, const dfg::DimExpr &difference) {
  auto at = [&](int64_t value) {
    return *difference.substitute([&](StringRef other) -> std::optional<dfg::DimExpr> {
      return other == name ? dfg::DimExpr(value) : dfg::DimExpr::symbol(other);
    });
  };
  dfg::DimExpr rest = at(0);
  std::optional<int64_t> scale = (at(1) - rest).constant();
  if (!scale || *scale == 0 || *scale == INT64_MIN ||
      difference != dfg::DimExpr::symbol(name) * *scale + rest)
    return std::nullopt;
  dfg::DimExpr multiple = *scale < 0 ? rest : dfg::DimExpr(0) - rest;
  dfg::DimExpr solution = dfg::DimExpr::floorDiv(multiple, std::abs(*scale));
  return solution * std::abs(*scale) == multiple ? std::optional(solution) : std::nullopt;
}

/// `n == 2 * m` makes n another name for 2 * m; so do `n - m == m` and `3 * n == 6 * m`.
void FactSolver::solveEquality(const StatedFact &stated) {
  dfg::DimExpr lhs = current(stated.fact.lhs), rhs = current(stated.fact.rhs);
  dfg::DimExpr difference = lhs - rhs;
  SmallVector<std::string> names;
  // A name that stands alone is preferred, the one on the left first.
  for (const dfg::DimExpr *side : {&lhs, &rhs})
    if (std::optional<StringRef> name = side->asSymbol())
      names.push_back(name->str());
  difference.collectSymbols(names);
  erase_if(names, [&](const std::string &name) { return !isFree(name); });
  // `k - n == m` is better solved for k than for m: sums are never negative.
  for (bool mayBeNegative : {false, true})
    for (const std::string &name : names)
      if (std::optional<dfg::DimExpr> value = solveFor(name, difference);
          value && (mayBeNegative || dfg::isNonNegative(*value) == true))
        return replace(name, *value, stated.at);
}

//===----------------------------------------------------------------------===//
// Remainders
//===----------------------------------------------------------------------===//

/// Larger numbers could overflow.
static constexpr int64_t kMaxDivisor = int64_t(1) << 30;

static int64_t floorModulo(int64_t a, int64_t b) { return a % b + (a % b < 0 ? b : 0); }

/// The inverse of `a` modulo `m`, which has no factor in common with it (Euclid's algorithm).
static int64_t inverse(int64_t a, int64_t m) {
  int64_t rest = m, next = floorModulo(a, m), factor = 0, nextFactor = 1;
  while (next != 0) {
    int64_t quotient = rest / next;
    rest = std::exchange(next, rest - quotient * next);
    factor = std::exchange(nextFactor, factor - quotient * nextFactor);
  }
  return floorModulo(factor, m);
}

/// Adds `scale * n % divisor == value` to what is known of n; false if nothing is added.
static bool combine(int64_t &knownDivisor, int64_t &knownValue, int64_t scale, int64_t divisor,
                    int64_t value) {
  // n is knownDivisor * t + knownValue.
  int64_t factor =
      floorModulo(floorModulo(scale, divisor) * floorModulo(knownDivisor, divisor), divisor);
  int64_t rest =
      floorModulo(value - floorModulo(scale, divisor) * floorModulo(knownValue, divisor), divisor);
  int64_t common = std::gcd(factor, divisor), period = divisor / common;
  if (rest % common != 0 || knownDivisor * period > kMaxDivisor)
    return false;
  int64_t t = floorModulo(rest / common * inverse(factor / common, period), period);
  knownValue += knownDivisor * t;
  knownDivisor *= period;
  return true;
}

namespace {
/// `dividend % divisor == value`.
struct Congruence {
  dfg::DimExpr dividend;
  int64_t divisor, value;
};
} // namespace

/// The divisor of a size that is an `a % b`, and what is divided.
static std::optional<std::pair<dfg::DimExpr, int64_t>> asModulo(const dfg::DimExpr &size) {
  if (size.getTerms().size() != 1)
    return std::nullopt;
  const auto &[factors, coefficient] = *size.getTerms().begin();
  if (coefficient != 1 || factors.size() != 1 ||
      factors.front().kind != dfg::DimExpr::AtomKind::Mod)
    return std::nullopt;
  std::optional<int64_t> divisor = factors.front().rhs->constant();
  return divisor ? std::optional(std::pair(*factors.front().lhs, *divisor)) : std::nullopt;
}

static std::optional<Congruence> asCongruence(const dfg::Fact &fact) {
  for (auto [size, other] : {std::pair(fact.lhs, fact.rhs), std::pair(fact.rhs, fact.lhs)}) {
    auto modulo = asModulo(size);
    std::optional<int64_t> value = other.constant();
    if (modulo && value)
      return Congruence{modulo->first, modulo->second, *value};
  }
  return std::nullopt;
}

void FactSolver::addRemainder(const StatedFact &stated, Remainders &remainders) {
  std::optional<Congruence> congruence =
      asCongruence({current(stated.fact.lhs), dfg::Comparison::Equal, current(stated.fact.rhs)});
  std::optional<dfg::DimExpr::Linear> linear =
      congruence ? congruence->dividend.asLinear() : std::nullopt;
  if (!linear || congruence->divisor < 2 || congruence->divisor > kMaxDivisor ||
      congruence->value < 0 || congruence->value >= congruence->divisor || !isFree(linear->name))
    return;
  int64_t divisor = congruence->divisor;
  Remainder &known = remainders[dims.find(linear->name)->getKey()];
  known.at = stated.at;
  int64_t offset = floorModulo(linear->offset, divisor);
  combine(known.divisor, known.value, linear->scale, divisor,
          floorModulo(congruence->value - offset, divisor));
  // The call checks the fact itself, which is always true once the name is replaced.
  dfg::Fact fact{dfg::DimExpr::mod(congruence->dividend, divisor), dfg::Comparison::Equal,
                 congruence->value, stated.fact.site};
  if (context.entry.header)
    context.entry.header->addFact(fact);
}

//===----------------------------------------------------------------------===//
// All facts
//===----------------------------------------------------------------------===//

/// Adds the comparisons of sizes in a fact, which may consist of several.
void FactSolver::collect(const ast::Expr *fact, std::vector<StatedFact> &stated) {
  const auto *binary = dyn_cast<ast::BinaryExpr>(fact);
  if (binary && binary->op == ast::BinaryOp::And) {
    collect(binary->lhs, stated);
    collect(binary->rhs, stated);
    return;
  }
  std::optional<dfg::Comparison> comparison =
      binary ? comparisonOf(binary->op) : std::optional<dfg::Comparison>();
  if (!comparison)
    return;
  std::optional<dfg::DimExpr> lhs = sizeOf(binary->lhs), rhs = sizeOf(binary->rhs);
  if (lhs && rhs)
    stated.push_back(
        {{*lhs, *comparison, *rhs, dfg::siteOf(reporter.locate(fact->range))}, fact->range});
}

/// Adds an equality for each pair of facts that limit a size from both sides, as in `n >= 6, n <=
/// 6`.
static void addMeetingBounds(std::vector<StatedFact> &stated) {
  StringSet<> differences;
  for (size_t i = 0, count = stated.size(); i < count; ++i) {
    std::optional<SmallVector<dfg::DimExpr>> sizes = stated[i].fact.asNonNegative();
    if (!sizes || sizes->size() != 1)
      continue;
    const dfg::DimExpr &size = sizes->front();
    if (differences.contains((dfg::DimExpr(0) - size).canonical()))
      stated.push_back({{size, dfg::Comparison::Equal, 0}, stated[i].at});
    differences.insert(size.canonical());
  }
}

/// Registers the dimensions, and which of them mention a name.
void FactSolver::begin() {
  dims.clear();
  mentions.clear();
  for (const std::string &name : context.activation->dims) {
    StringRef dim = dims.insert(name).first->getKey();
    if (std::optional<dfg::DimExpr> value = valueOf(dim))
      addMentions(dim, *value);
  }
}

void FactSolver::solve(ArrayRef<const ast::Expr *> facts, ArrayRef<StatedFact> known) {
  begin();
  std::vector<StatedFact> stated(known.begin(), known.end());
  for (const ast::Expr *fact : facts)
    collect(fact, stated);
  addMeetingBounds(stated);
  erase_if(stated,
           [](const StatedFact &fact) { return fact.fact.comparison != dfg::Comparison::Equal; });
  for (const StatedFact &fact : stated)
    if (!asCongruence(fact.fact))
      solveEquality(fact);
  Remainders remainders;
  for (const StatedFact &fact : stated)
    addRemainder(fact, remainders);
  for (const auto &[name, remainder] : remainders)
    if (remainder.divisor > 1)
      replace(name, dfg::DimExpr::multiple(name, remainder.divisor, remainder.value), remainder.at);
}

} // namespace tfc::text
