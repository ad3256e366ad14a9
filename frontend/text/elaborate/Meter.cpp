// Charges work to the budget of the expansion and reports when it is exceeded.
#include "frontend/text/elaborate/Meter.h"

#include "dialects/dfg/SizeComplexity.h"
#include "frontend/text/elaborate/Reporter.h"

using namespace llvm;

namespace tfc::text {

/// Further expansions on the path to the culprit are not shown.
static constexpr size_t kMaxShown = 5;

bool Meter::spend(uint64_t steps, SourceRange at) {
  if (context.budget.isStopped())
    return false;
  if (context.budget.isStackExhausted()) {
    reporter.error(at, "recursion",
                   "this is nested too deeply, including the definitions that it refers to");
    context.budget.stop();
    return false;
  }
  context.budget.spendSteps(steps);
  context.budget.setOperations(context.builder.getOperationCount());
  if (!context.budget.isExceeded())
    return true;
  if (!context.budget.isAssuming)
    reportExceeded(at);
  context.budget.stop();
  return false;
}

/// Reports the expansion that used most of the budget, its parts, and how it was reached.
void Meter::reportExceeded(SourceRange at) {
  ArrayRef<Expansion> path = context.budget.getExpansions();
  std::optional<size_t> culprit = context.budget.findCulprit();
  size_t inside = culprit ? *culprit + 1 : path.size();
  std::string what = culprit ? "expanding " + describe(path[*culprit]) : "expanding the graph";
  Diagnostic &diagnostic =
      context.diagnostics.error(culprit ? path[*culprit].at : at, "expansion-limit", "{} takes {}",
                                what, context.budget.describeLimit());
  for (const Expansion &step : path.drop_front(inside).take_front(kMaxShown))
    diagnostic.note(step.at, "through {}, which has taken {} here so far", describe(step),
                    context.budget.describeSpending(step));
  auto most = std::max_element(context.budget.counts.begin(), context.budget.counts.end(),
                               [](const auto &a, const auto &b) { return a.second < b.second; });
  if (most != context.budget.counts.end() && most->second > 1)
    diagnostic.note(most->first->name.range, "'{}' is expanded {} times", most->first->name.text,
                    most->second);
  ArrayRef<Expansion> outside = path.take_front(culprit.value_or(0));
  for (const Expansion &step : reverse(outside.take_back(kMaxShown)))
    diagnostic.call(step.at, "in the expansion of {}", describe(step));
  diagnostic.help("{}=N allows more", context.budget.limitOption());
}

Entity Meter::limited(Entity value, SourceRange at) {
  if (const std::string *text = value.get<std::string>()) {
    if (text->size() > kMaxStringBytes)
      return reporter.fail(at, "too-large", "this string is longer than {} bytes", kMaxStringBytes);
    if (!spend(text->size() / kBytesOfStep, at))
      return Poison();
  } else if (const Group *group = value.asGroup()) {
    if (group->weight > kMaxGroupElements)
      return reporter.fail(at, "too-large", "this group and those in it have more than {} elements",
                           kMaxGroupElements);
    if (group->depth > ast::kMaxNesting)
      return reporter.fail(at, "too-deep", "this group has groups in it more than {} levels deep",
                           ast::kMaxNesting);
  } else if (const dfg::DimExpr *size = value.get<dfg::DimExpr>()) {
    if (!spend(dfg::costOf(*size), at))
      return Poison();
    if (dfg::isTooComplex(*size))
      return reporter.fail(at, "too-large", "the formula of this size is too large");
  }
  return value;
}

bool Meter::limitProduct(const dfg::DimExpr &lhs, const dfg::DimExpr &rhs, SourceRange at) {
  uint64_t terms = lhs.getTerms().size() * rhs.getTerms().size();
  if (dfg::isProductTooComplex(lhs, rhs)) {
    if (terms > dfg::kMaxSizeTerms)
      reporter.error(at, "too-large", "the product of these sizes has up to {} terms, more than {}",
                     terms, dfg::kMaxSizeTerms);
    else
      reporter.error(at, "too-large", "the product of these sizes has too many factors");
    return false;
  }
  return spend(4 * terms, at);
}

} // namespace tfc::text
