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

/// Returns true if an operation reads variables on a device that does not wait for the queue.
bool ReadSearch::isReadBy(Operation *op) {
  bool depends = false;
  forEachRead(op, [&](Value read) { depends |= dependent.contains(read.getDefiningOp()); });
  if (depends) {
    dependent.insert(op);
    return false;
  }
  llvm::SmallBitVector readers = sets.devicesWith(op, readsVariables);
  return readers.any() && (queues.count() > 1 || readers.test(queues));
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
