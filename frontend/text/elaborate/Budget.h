/// What the expansion of a graph has taken so far, and which call or loop took it.
#pragma once

#include "frontend/ImportOptions.h"
#include "frontend/text/syntax/Source.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace tfc::text {

namespace ast {
struct FnDecl;
}

/// Steps that cost more than the evaluation of an expression, by the time and memory they take.
inline constexpr uint64_t kStepsOfCall = 8, kStepsOfIteration = 4, kStepsOfInstance = 64;

/// Bytes of a string that are copied, and operations that are visited, in the time of one step.
inline constexpr uint64_t kBytesOfStep = 16, kOperationsOfStep = 16;

/// Elements of a file that are copied in the time of one step.
inline constexpr uint64_t kElementsOfStep = 1024;

/// The largest values at compile time.
inline constexpr uint64_t kMaxStringBytes = 1 << 24, kMaxGroupElements = 1 << 22;

struct Spending {
  uint64_t steps = 0, operations = 0;
};

/// A call, a loop or an instance whose expansion is under way.
struct Expansion {
  enum class Kind { Entry, Function, Part, Loop, Comprehension };
  Kind kind;
  /// Empty for loops.
  llvm::StringRef name;
  SourceRange at;
  /// What had been spent when it began.
  Spending before = {};
};

/// Exceeding it ends the elaboration: what follows is not evaluated, and reports nothing.
class Budget {
public:
  explicit Budget(const ExpansionLimits &limits);

  void stop() { stopped = true; }
  bool isStopped() const { return stopped; }

  void spendSteps(uint64_t steps) {
    spent.steps = spent.steps > UINT64_MAX - steps ? UINT64_MAX : spent.steps + steps;
  }
  void setOperations(uint64_t operations) { spent.operations = operations - operationsBefore; }
  bool isExceeded() const { return isOfOperations() || spent.steps > allowed.steps; }
  /// Whether recursion has taken most of the stack since the budget was made.
  bool isStackExhausted() const;

  /// Starts from zero; operations are counted from `operations` on.
  void restart(uint64_t operations) {
    spent = {};
    operationsBefore = operations;
  }
  /// Limits what follows to a small part of the budget.
  void beginPart();

  /// The expansions that are under way, outermost first.
  llvm::ArrayRef<Expansion> getExpansions() const { return expansions; }
  /// The innermost expansion that took most of what was exceeded: its place among them, or nothing
  /// where it is spread over several.
  std::optional<size_t> findCulprit() const;

  /// "more than 1000000 operations", the limit that was exceeded.
  std::string describeLimit() const;
  /// The option that raises it.
  llvm::StringRef limitOption() const;
  /// What an expansion has taken so far, as "5 operations".
  std::string describeSpending(const Expansion &expansion) const;

  /// Lasts as long as an expansion is under way.
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

  /// What is expanded is only checked, so that exceeding the budget is no error.
  bool isAssuming = false;
  /// Run-time blocks around what is expanded, those of callers included.
  unsigned blockDepth = 0;
  /// How often calls have expanded each function.
  llvm::DenseMap<const ast::FnDecl *, uint64_t> counts;

private:
  bool isOfOperations() const { return spent.operations > allowed.operations; }
  uint64_t spentBy(const Expansion &expansion) const;

  ExpansionLimits limits;
  /// What may be spent now: `limits`, or less.
  ExpansionLimits allowed;
  /// The limits as they are told: of the part of the budget, if that is what may be spent.
  ExpansionLimits told;
  Spending spent;
  uint64_t operationsBefore = 0;
  uintptr_t stackBase;
  bool stopped = false;
  llvm::SmallVector<Expansion, 0> expansions;
};

/// "'f'", "the 'static for'": what an expansion is, for messages.
std::string describe(const Expansion &expansion);

} // namespace tfc::text
