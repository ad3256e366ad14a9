// The order in which the steps of an entry run: their dependences, and a schedule that keeps memory
// use low.

#include "compiler/memory/Order.h"
#include "dialects/dfg/MemoryPlan.h"
#include "dialects/dfg/MessageOps.h"
#include "dialects/dfg/Partitions.h"
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

StepGraph::StepGraph(Block &block, const RunTimeSizes &sizes) {
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
  waitForSizes(block, sizes);
  keepMessagesInOrder();
  keepEffectsInOrder();
  readVariablesLate();
}

/// Steps that mention a data-dependent size run after its guards and the step that binds it, even
/// if only a constant that they read mentions it.
void StepGraph::waitForSizes(Block &block, const RunTimeSizes &sizes) {
  if (sizes.empty())
    return;
  for (Operation *step : steps) {
    auto wait = [&](Operation *earlier) {
      if (earlier->getBlock() == &block)
        runBefore(earlier, step);
    };
    sizes.forEachPrerequisite(step, wait);
    forEachRead(step, [&](Value value) {
      if (Operation *producer = value.getDefiningOp(); producer && !isStep(producer))
        sizes.forEachBinder(producer, wait);
    });
  }
}

bool isLateCheck(Operation *step) {
  auto check = dyn_cast<CheckOp>(step);
  return check && isRemote(step->getParentOfType<EntryOp>()) &&
         rootOf(check.getCondition()).getDefiningOp<LaunchOp>();
}

/// Keeps messages and what can fail in the order of the block, on which partitions have agreed, and
/// everything before a wait for a message before it. Late checks may wait for messages that the
/// partition receives, but not beyond those that it sends or a commit.
void StepGraph::keepMessagesInOrder() {
  if (llvm::none_of(steps, usesMessages))
    return;
  Operation *last = nullptr;
  SmallVector<Operation *> sinceWait, lateChecks;
  for (Operation *step : steps) {
    if (usesMessages(step) || canFail(step)) {
      if (last)
        runBefore(last, step);
      if (isLateCheck(step)) {
        lateChecks.push_back(step);
        continue;
      }
      last = step;
      if (!isa<ReceiveOp>(step))
        for (Operation *check : lateChecks)
          runBefore(check, step);
    }
    if (waitsForMessages(step)) {
      for (Operation *earlier : sinceWait)
        runBefore(earlier, step);
      sinceWait.clear();
    }
    sinceWait.push_back(step);
  }
}

/// Keeps steps on tapes, queues and lists in the order of the block, because they mutate state.
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
    if (!anyWithin(step, usesLists))
      continue;
    if (lastList)
      runBefore(lastList, step);
    lastList = step;
  }
  // Operations on queues remain when a call fails, so checks come before them.
  if (llvm::any_of(effects, usesQueues))
    runChecksBefore(effects);
  else
    keepChecksInOrder();
}

/// Keeps steps that can fail in the order of the block: a call returns the message of the first
/// one.
void StepGraph::keepChecksInOrder() {
  Operation *last = nullptr;
  for (Operation *step : steps) {
    if (!canFail(step))
      continue;
    if (last)
      runBefore(last, step);
    last = step;
  }
}

/// Lets each step that can fail run before the first of `effects` that it does not depend on. These
/// run one after the other, so it depends on all before the last one that it depends on.
void StepGraph::runChecksBefore(ArrayRef<Operation *> effects) {
  llvm::DenseMap<Operation *, size_t> positions; // from 1 on
  for (auto [i, effect] : llvm::enumerate(effects))
    positions[effect] = i + 1;
  std::vector<size_t> needed(steps.size()); // the last effect that a step needs, or 0
  for (auto [i, step] : llvm::enumerate(steps)) {
    needed[i] = positions.lookup(step);
    for (unsigned earlier : before[i])
      needed[i] = std::max(needed[i], needed[earlier]);
  }
  for (auto [i, step] : llvm::enumerate(steps))
    if (needed[i] < effects.size() && !positions.contains(step) && canFail(step))
      runBefore(step, effects[needed[i]]);
}

/// Other calls may change variables while a call waits for a queue, so steps that need not run
/// before the wait read variables after it.
void StepGraph::readVariablesLate() {
  auto isRead = [](Value root) { return root.getDefiningOp<ReadOp>() != nullptr; };
  for (Operation *wait : steps) {
    auto commit = dyn_cast<CommitOp>(wait);
    if (!usesQueues(wait) && !(commit && commit.getAfterQueue()))
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

/// Growth up to this many bytes is ignored, so that steps that produce a few scalars for many other
/// steps are not delayed.
static constexpr int64_t kNoGrowth = 4096;

namespace {
/// A list scheduler that keeps track of the steps that are ready and of the remaining readers of
/// each value. A step after a send in the block runs before it only if that frees memory, because
/// the receiver may wait for the send.
class Scheduler {
public:
  Scheduler(ArrayRef<Operation *> steps, ArrayRef<StepGraph::Roots> reads,
            ArrayRef<SmallVector<unsigned, 4>> before, ArrayRef<SmallVector<unsigned, 4>> after,
            function_ref<int64_t(Value)> bytes)
      : steps(steps), reads(reads), after(after), bytes(bytes) {
    unsigned sends = 0;
    for (unsigned i = 0; i < steps.size(); ++i) {
      sendsBefore.push_back(sends);
      sends += isa<SendOp>(steps[i]);
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
      sent += isa<SendOp>(steps[step]);
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
    std::optional<unsigned> first;
    for (unsigned step : ready) {
      if (isLateCheck(steps[step]))
        continue;
      if (growth(step) <= (sendsBefore[step] <= sent ? kNoGrowth : -kNoGrowth))
        return step;
      first = first.value_or(step);
    }
    return first.value_or(*ready.begin());
  }

  /// Returns the growth of the arena in bytes when a step runs.
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
  std::vector<unsigned> sendsBefore; // by step: sends that precede it in the block
  unsigned sent = 0;
  std::set<unsigned> ready;
  llvm::DenseMap<Value, unsigned> readers;
};
} // namespace

std::vector<Operation *> StepGraph::order(function_ref<int64_t(Value)> bytes) const {
  return Scheduler(steps, reads, before, after, bytes).run();
}

} // namespace tfc::memory
