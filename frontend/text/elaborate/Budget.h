/// The cost of expanding a graph so far, and the calls and loops that caused it.
#pragma once

#include "frontend/ImportOptions.h"
#include "frontend/text/syntax/Source.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace tfc::text {

namespace ast {
struct FnDecl;
}

/// The number of steps of operations that cost more time and memory than evaluating an expression.
inline constexpr uint64_t kStepsOfCall = 8, kStepsOfIteration = 4, kStepsOfInstance = 64;

/// The bytes of a string that are copied, and the operations that are visited, in the time of one
/// step.
inline constexpr uint64_t kBytesOfStep = 16, kOperationsOfStep = 16;

/// The elements of a file that are copied in the time of one step.
inline constexpr uint64_t kElementsOfStep = 1024;

/// The largest values at compile time.
inline constexpr uint64_t kMaxStringBytes = 1 << 24, kMaxGroupElements = 1 << 22;

struct Spending {
  uint64_t steps = 0, operations = 0;
};

/// A call, loop or instance that is being expanded.
struct Expansion {
  enum class Kind { Entry, Function, Part, Loop, Comprehension };
  Kind kind;
  /// Empty for loops.
  llvm::StringRef name;
  SourceRange at;
  /// The spending when it began.
  Spending before = {};
};

/// Exceeding it ends the elaboration: nothing more is evaluated or reported.
class Budget {
public:
  explicit Budget(const ExpansionLimits &limits);

  void stop() { stopped = true; }
  bool isStopped() const { return stopped; }

  void spendSteps(uint64_t steps) {
    spent.steps = spent.steps > UINT64_MAX - steps ? UINT64_MAX : spent.steps + steps;
  }
  /// Counts the operations created so far. Those that the source spells out are free.
  void setOperations(uint64_t operations) {
    if (isExpanding())
      spent.operations += operations - counted;
    counted = operations;
  }
  bool isExceeded() const { return isOfOperations() || spent.steps > allowed.steps; }
  /// Returns true if recursion has used most of the stack since the budget was created.
  bool isStackExhausted() const;

  /// Starts from zero; operations are counted from `operations` on.
  void restart(uint64_t operations) {
    spent = {};
    counted = operations;
  }
  /// Limits further spending to a small part of the budget.
  void beginPart();

  /// The current expansions, outermost first.
  llvm::ArrayRef<Expansion> getExpansions() const { return expansions; }
  /// The index of the innermost expansion that used most of the exceeded limit; std::nullopt if
  /// several share it.
  std::optional<size_t> findCulprit() const;

  /// "more than 1000000 operations", the limit that was exceeded.
  std::string describeLimit() const;
  /// The option that raises the limit.
  llvm::StringRef limitOption() const;
  /// The spending of an expansion so far, as "5 operations".
  std::string describeSpending(const Expansion &expansion) const;

  /// Registers an expansion during its lifetime.
  class Scope {
  public:
    Scope(Budget &budget, Expansion expansion) : budget(budget) {
      expansion.before = budget.spent;
      budget.expansions.push_back(expansion);
    }
    ~Scope() { budget.expansions.pop_back(); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    Budget &budget;
  };

  /// The expansion is only a check, so that exceeding the budget is not an error.
  bool isAssuming = false;
  /// The number of enclosing run-time blocks, including those of callers.
  unsigned blockDepth = 0;
  /// The number of times that each function was expanded.
  llvm::DenseMap<const ast::FnDecl *, uint64_t> counts;

private:
  /// Returns true in a call, loop or instance.
  bool isExpanding() const {
    return !expansions.empty() && expansions.back().kind != Expansion::Kind::Entry;
  }
  bool isOfOperations() const { return spent.operations > allowed.operations; }
  uint64_t spentBy(const Expansion &expansion) const;

  ExpansionLimits limits;
  /// The current limits: `limits`, or less.
  ExpansionLimits allowed;
  /// The limits shown in messages: those of the part of the budget, if that is in effect.
  ExpansionLimits told;
  Spending spent;
  /// The operations created when they were last counted.
  uint64_t counted = 0;
  uintptr_t stackBase;
  bool stopped = false;
  llvm::SmallVector<Expansion, 0> expansions;
};

/// A description of an expansion for messages: "'f'", "the 'static for'".
std::string describe(const Expansion &expansion);

} // namespace tfc::text
