//===- Order.cpp - In which order the steps of an entry run ---------------===//

#include "compiler/memory/Order.h"
#include "compiler/memory/Places.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"
#include <set>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::memory {

/// The values that a step reads, each once.
static llvm::SmallSetVector<Value, 8> rootsReadBy(Operation *step) {
  llvm::SmallSetVector<Value, 8> roots;
  for (Value operand : step->getOperands())
    roots.insert(rootOf(operand));
  return roots;
}

StepGraph::StepGraph(Block &block) {
  for (Operation &op : block)
    if (isStep(&op)) {
      numbers[&op] = steps.size();
      steps.push_back(&op);
    }
  after.resize(steps.size());
  before.resize(steps.size());
  for (Operation *step : steps)
    for (Value root : rootsReadBy(step))
      if (Operation *producer = root.getDefiningOp(); producer && isStep(producer))
        runBefore(producer, step);
}

void StepGraph::runBefore(Operation *first, Operation *second) {
  unsigned from = numberOf(first), to = numberOf(second);
  if (llvm::is_contained(after[from], to))
    return;
  after[from].push_back(to);
  before[to].push_back(from);
}

bool StepGraph::reaches(Operation *from, Operation *to) const {
  unsigned target = numberOf(to);
  llvm::BitVector seen(steps.size());
  SmallVector<unsigned> work{numberOf(from)};
  while (!work.empty()) {
    unsigned step = work.pop_back_val();
    if (step == target)
      return true;
    for (unsigned next : after[step])
      if (!seen.test(next)) {
        seen.set(next);
        work.push_back(next);
      }
  }
  return false;
}

llvm::SmallDenseSet<Operation *> StepGraph::neededByChecks() const {
  llvm::SmallDenseSet<Operation *> needed;
  SmallVector<unsigned> work;
  auto push = [&](unsigned step) {
    if (needed.insert(steps[step]).second)
      work.push_back(step);
  };
  for (auto [i, step] : llvm::enumerate(steps))
    if (isa<CheckOp>(step))
      push(i);
  while (!work.empty())
    for (unsigned previous : before[work.pop_back_val()])
      push(previous);
  return needed;
}

/// Bytes that count as nothing: what makes a few scalars for many steps does not hold them up.
static constexpr int64_t kNoGrowth = 4096;

namespace {
/// Runs steps one after another, keeping count of who is ready and which values are still read.
class Scheduler {
public:
  Scheduler(ArrayRef<Operation *> steps, ArrayRef<SmallVector<unsigned, 4>> before,
            ArrayRef<SmallVector<unsigned, 4>> after, function_ref<int64_t(Value)> bytes)
      : steps(steps), after(after), bytes(bytes) {
    for (unsigned i = 0; i < steps.size(); ++i) {
      waitingFor.push_back(before[i].size());
      if (before[i].empty())
        ready.insert(i);
      for (Value root : rootsReadBy(steps[i]))
        ++readers[root];
    }
  }

  std::vector<Operation *> run() {
    std::vector<Operation *> result;
    while (!ready.empty()) {
      unsigned step = choose();
      ready.erase(step);
      result.push_back(steps[step]);
      for (Value root : rootsReadBy(steps[step]))
        --readers[root];
      for (unsigned next : after[step])
        if (--waitingFor[next] == 0)
          ready.insert(next);
    }
    return result;
  }

private:
  unsigned choose() {
    for (unsigned step : ready)
      if (growth(step) <= kNoGrowth)
        return step;
    return *ready.begin();
  }

  /// Bytes that the arena grows by when a step has run.
  int64_t growth(unsigned step) {
    int64_t result = 0;
    for (Value output : steps[step]->getResults())
      result += bytes(output);
    for (Value root : rootsReadBy(steps[step]))
      if (readers[root] == 1)
        result -= bytes(root);
    return result;
  }

  ArrayRef<Operation *> steps;
  ArrayRef<SmallVector<unsigned, 4>> after;
  function_ref<int64_t(Value)> bytes;
  std::vector<unsigned> waitingFor;
  std::set<unsigned> ready;
  llvm::DenseMap<Value, unsigned> readers;
};
} // namespace

std::vector<Operation *> StepGraph::order(function_ref<int64_t(Value)> bytes) const {
  return Scheduler(steps, before, after, bytes).run();
}

} // namespace tfc::memory
