//===- LateReads.cpp - Reads of variables after waits at queues -----------===//
//
// Follows the paths of control from an operation on a queue, around loops and out of branches.
//
//===----------------------------------------------------------------------===//

#include "compiler/partition/LateReads.h"
#include "compiler/partition/DeviceSets.h"
#include "dialects/dfg/MemoryPlan.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::partition {

namespace {
class ReadSearch {
public:
  ReadSearch(Operation *queue, const DeviceSets &sets, Operation *scope)
      : sets(sets), scope(scope), queues(sets.devicesWith(queue, usesQueues)), dependent{queue} {}

  bool isRead(Operation *first);

private:
  bool isReadBefore(Operation *first);
  bool isReadBy(Operation *op);
  bool isOther(unsigned device) const { return queues.count() > 1 || !queues.test(device); }
  void addAfter(Operation *terminator);

  const DeviceSets &sets;
  Operation *scope;
  llvm::SmallBitVector queues;
  llvm::SmallDenseSet<Operation *> dependent;
  llvm::SmallSetVector<Operation *, 8> starts;
};
} // namespace

/// Adds what runs after a block.
void ReadSearch::addAfter(Operation *terminator) {
  Block *block = terminator->getBlock();
  Operation *parent = block->getParentOp();
  if (auto loop = dyn_cast<WhileOp>(parent)) {
    bool isBody = block == &loop.getBodyBlock();
    starts.insert(isBody ? &loop.getConditionBlock().front() : &loop.getBodyBlock().front());
    if (isBody)
      return;
  }
  if (parent != scope && !isa<EntryOp>(parent))
    starts.insert(parent->getNextNode());
}

/// Returns true if an operation of another device reads the variable, so that it is sent.
static bool isSent(ReadOp read, const DeviceSets &sets) {
  unsigned device = sets.deviceOf(read);
  return llvm::any_of(read->getUsers(),
                      [&](Operation *user) { return sets.mayRunElsewhere(user, device); });
}

/// Returns true if an operation, or one in its regions, reads or sends variables on a device that
/// does not wait for the queue. Operations that depend on it wait for a message, and so do branches
/// whose condition depends on it.
bool ReadSearch::isReadBy(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (auto read = dyn_cast<ReadOp>(op))
    return isOther(sets.deviceOf(op)) && isSent(read, sets);
  bool depends = false;
  auto note = [&](Value read) { depends |= dependent.contains(read.getDefiningOp()); };
  auto branch = dyn_cast<IfOp>(op);
  if (op->getNumRegions() == 0)
    forEachRead(op, note);
  else if (branch)
    note(branch.getCondition());
  if (depends) {
    dependent.insert(op);
    return false;
  }
  for (Region &region : op->getRegions())
    for (Operation &nested : region.front())
      if (isReadBy(&nested))
        return true;
  return op->getNumRegions() == 0 && !sets.isCopied(op) && readsVariables(op) &&
         isOther(sets.deviceOf(op));
}

/// Visits operations up to the next one on a queue, or to the end of the block.
bool ReadSearch::isReadBefore(Operation *first) {
  for (Operation *op = first;; op = op->getNextNode()) {
    if (op->hasTrait<OpTrait::IsTerminator>()) {
      addAfter(op);
      return false;
    }
    if (op->getNumRegions() == 0 && usesQueues(op))
      return false;
    if (isReadBy(op))
      return true;
  }
}

bool ReadSearch::isRead(Operation *first) {
  starts.insert(first);
  for (size_t i = 0; i < starts.size(); ++i)
    if (isReadBefore(starts[i]))
      return true;
  return false;
}

bool areReadsLate(Operation *queue, const DeviceSets &sets, Operation *scope) {
  return ReadSearch(queue, sets, scope).isRead(queue->getNextNode());
}

} // namespace tfc::partition
