// The order in which the steps of an entry run, from what they read, fail and free.

#include "compiler/memory/Order.h"
#include "dialects/dfg/Places.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "llvm/ADT/BitVector.h"
#include <set>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::memory {

static StepGraph::Roots collectReads(Operation *step) {
  StepGraph::Roots roots;
  forEachRead(step, [&](Value value) { roots.insert(rootOf(value)); });
  return roots;
}

StepGraph::StepGraph(Block &block) {
  for (Operation &op : block)
    if (isStep(&op)) {
      numbers[&op] = steps.size();
      steps.push_back(&op);
      reads.push_back(collectReads(&op));
    }
  after.resize(steps.size());
  before.resize(steps.size());
  for (Operation *step : steps)
    for (Value root : rootsReadBy(step))
      if (Operation *producer = root.getDefiningOp(); producer && numbers.contains(producer))
        runBefore(producer, step);
  waitForSizes(block);
  keepEffectsInOrder();
  readVariablesLate();
}

/// What mentions a size that the data decide runs behind what binds it, also where only a constant
/// that it reads does.
void StepGraph::waitForSizes(Block &block) {
  Operation *entry = block.getParentOp();
  if (auto around = entry->getParentOfType<EntryOp>())
    entry = around;
  RunTimeSizes sizes(entry);
  if (sizes.empty())
    return;
  for (Operation *step : steps) {
    auto wait = [&](BindSizeOp binder) {
      if (binder->getBlock() == &block)
        runBefore(binder, step);
    };
    sizes.forEachBinder(step, wait);
    forEachRead(step, [&](Value value) {
      if (Operation *producer = value.getDefiningOp(); producer && !isStep(producer))
        sizes.forEachBinder(producer, wait);
    });
  }
}

/// Steps on tapes and queues run as the block has them, lists too, because they change in place;
/// what can fail runs before an effect that it does not depend on.
void StepGraph::keepEffectsInOrder() {
  Operation *lastEffect = nullptr, *lastList = nullptr;
  SmallVector<Operation *> effects;
  for (Operation *step : steps) {
    if (hasOrderedEffects(step)) {
      if (lastEffect)
        runBefore(lastEffect, step);
      lastEffect = step;
      effects.push_back(step);
    }
    bool isOnLists =
        step->walk([](Operation *nested) {
              return usesLists(nested) ? WalkResult::interrupt() : WalkResult::advance();
            })
            .wasInterrupted();
    if (!isOnLists)
      continue;
    if (lastList)
      runBefore(lastList, step);
    lastList = step;
  }
  for (Operation *effect : effects)
    for (Operation *step : steps)
      if (canFail(step) && !hasOrderedEffects(step) && !reaches(effect, step))
        runBefore(step, effect);
}

/// While a call waits at a queue others may change variables: what needs not run before reads them
/// after.
void StepGraph::readVariablesLate() {
  auto isRead = [](Value root) { return root.getDefiningOp<ReadOp>() != nullptr; };
  for (Operation *wait : steps) {
    if (!usesQueues(wait))
      continue;
    for (Operation *step : steps)
      if (llvm::any_of(rootsReadBy(step), isRead) && !reaches(step, wait))
        runBefore(wait, step);
  }
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
    if (canFail(step))
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
  Scheduler(ArrayRef<Operation *> steps, ArrayRef<StepGraph::Roots> reads,
            ArrayRef<SmallVector<unsigned, 4>> before, ArrayRef<SmallVector<unsigned, 4>> after,
            function_ref<int64_t(Value)> bytes)
      : steps(steps), reads(reads), after(after), bytes(bytes) {
    for (unsigned i = 0; i < steps.size(); ++i) {
      waitingFor.push_back(before[i].size());
      if (before[i].empty())
        ready.insert(i);
      for (Value root : reads[i])
        ++readers[root];
    }
  }

  std::vector<Operation *> run() {
    std::vector<Operation *> result;
    while (!ready.empty()) {
      unsigned step = choose();
      ready.erase(step);
      result.push_back(steps[step]);
      for (Value root : reads[step])
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
    for (Value root : reads[step])
      if (readers[root] == 1)
        result -= bytes(root);
    return result;
  }

  ArrayRef<Operation *> steps;
  ArrayRef<StepGraph::Roots> reads;
  ArrayRef<SmallVector<unsigned, 4>> after;
  function_ref<int64_t(Value)> bytes;
  std::vector<unsigned> waitingFor;
  std::set<unsigned> ready;
  llvm::DenseMap<Value, unsigned> readers;
};
} // namespace

std::vector<Operation *> StepGraph::order(function_ref<int64_t(Value)> bytes) const {
  return Scheduler(steps, reads, before, after, bytes).run();
}

} // namespace tfc::memory
