// Counts steps and operations of the expansion, and finds the call or loop that used most of them.
#include "frontend/text/elaborate/Budget.h"

#include "frontend/Fmt.h"
#include "llvm/Support/ProgramStack.h"
#include <sys/resource.h>

using namespace llvm;

namespace tfc::text {

/// The part of the stack that nested expressions and function calls may use.
static size_t stackLimit() {
  rlimit limit;
  constexpr size_t kMost = size_t(64) << 20;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return kMost;
  return std::min<size_t>(limit.rlim_cur / 2, kMost);
}

Budget::Budget(const ExpansionLimits &limits)
    : limits(limits), allowed(limits), told(limits), stackBase(getStackPointer()) {}

/// A part of the budget is a twentieth of it.
static constexpr uint64_t kParts = 20;

void Budget::beginPart() {
  auto begin = [](uint64_t spent, uint64_t whole, uint64_t &allowed, uint64_t &told) {
    uint64_t part = std::max<uint64_t>(whole / kParts, 1);
    bool isWhole = spent > whole || whole - spent <= part;
    allowed = isWhole ? whole : spent + part;
    told = isWhole ? whole : part;
  };
  begin(spent.steps, limits.steps, allowed.steps, told.steps);
  begin(spent.operations, limits.operations, allowed.operations, told.operations);
}

bool Budget::isStackExhausted() const {
  static const size_t kLimit = stackLimit();
  uintptr_t here = getStackPointer();
  return stackBase > here && stackBase - here > kLimit;
}

uint64_t Budget::spentBy(const Expansion &expansion) const {
  return isOfOperations() ? spent.operations - expansion.before.operations
                          : spent.steps - expansion.before.steps;
}

std::optional<size_t> Budget::findCulprit() const {
  uint64_t limit = isOfOperations() ? allowed.operations : allowed.steps;
  for (size_t i = expansions.size(); i-- > 0;)
    if (spentBy(expansions[i]) > limit / 2)
      return i;
  return std::nullopt;
}

std::string Budget::describeLimit() const {
  return isOfOperations() ? "more than " + std::to_string(told.operations) + " operations"
                          : "more than " + std::to_string(told.steps) + " steps";
}

StringRef Budget::limitOption() const {
  return isOfOperations() ? "--max-operations" : "--max-steps";
}

std::string Budget::describeSpending(const Expansion &expansion) const {
  return std::to_string(spentBy(expansion)) + (isOfOperations() ? " operations" : " steps");
}

std::string describe(const Expansion &expansion) {
  switch (expansion.kind) {
  case Expansion::Kind::Entry:
    return fmt::format("the entry '{}'", expansion.name);
  case Expansion::Kind::Function:
    return fmt::format("'{}'", expansion.name);
  case Expansion::Kind::Part:
    return fmt::format("an instance of '{}'", expansion.name);
  case Expansion::Kind::Loop:
    return "this 'static for'";
  case Expansion::Kind::Comprehension:
    return "this comprehension";
  }
  return "";
}

} // namespace tfc::text
