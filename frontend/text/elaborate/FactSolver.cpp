// Solves facts for names. It is apart from FactChecker, because it runs before the types of the
// feeds are known, and because its results are part of the types and need no check.
#include "frontend/text/elaborate/FactSolver.h"

#include "dialects/dfg/DataChecks.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/FactChecker.h"
#include "frontend/text/elaborate/Reporter.h"

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
      if (std::optional<dfg::DimExpr> value = dfg::solveFor(name, difference);
          value && (mayBeNegative || dfg::isNonNegative(*value) == true))
        return replace(name, *value, stated.at);
}

//===----------------------------------------------------------------------===//
// Remainders
//===----------------------------------------------------------------------===//

void FactSolver::addRemainder(const StatedFact &stated, Remainders &remainders) {
  auto congruence = dfg::Congruence::of(
      {current(stated.fact.lhs), dfg::Comparison::Equal, current(stated.fact.rhs)});
  std::optional<dfg::DimExpr::Linear> linear =
      congruence ? congruence->dividend.asLinear() : std::nullopt;
  if (!linear || congruence->divisor < 2 || congruence->value < 0 ||
      congruence->value >= congruence->divisor || !isFree(linear->name))
    return;
  auto &[known, at] = remainders[dims.find(linear->name)->getKey()];
  at = stated.at;
  known.add(*linear, congruence->divisor, congruence->value);
  // The call checks the fact itself, which is always true once the name is replaced.
  dfg::Fact fact{dfg::DimExpr::mod(congruence->dividend, congruence->divisor),
                 dfg::Comparison::Equal, congruence->value, stated.fact.site};
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
    if (!dfg::Congruence::of(fact.fact))
      solveEquality(fact);
  Remainders remainders;
  for (const StatedFact &fact : stated)
    addRemainder(fact, remainders);
  for (const auto &[name, known] : remainders)
    if (const auto &[remainder, at] = known; remainder.divisor > 1)
      replace(name, dfg::DimExpr::multiple(name, remainder.divisor, remainder.value), at);
}

} // namespace tfc::text
