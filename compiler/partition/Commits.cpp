//===- Commits.cpp - Where partitions agree on failed checks --------------===//
//
// Orders what can fail, what stands when a call fails, and what must not have happened then, over
// the partitions of an entry.
//
//===----------------------------------------------------------------------===//

#include "compiler/partition/Commits.h"
#include "dialects/dfg/MemoryPlan.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::partition {

//===----------------------------------------------------------------------===//
// Commits
//===----------------------------------------------------------------------===//

llvm::SmallBitVector Commits::devicesWith(Operation *op, Step has) const {
  llvm::SmallBitVector devices(sets.getUsed().size());
  op->walk([&](Operation *step) {
    if (step->getNumRegions() == 0 && !free.isCopied(step) && has(step))
      devices.set(sets.deviceOf(step));
  });
  return devices;
}

Commits::Commits(EntryOp entry, const FreeValues &free, const DeviceSets &sets)
    : free(free), sets(sets) {
  Block &body = entry.getBody().front();
  llvm::SmallBitVector sinceCommit(sets.getUsed().size());
  visit(body, sinceCommit);
  llvm::SmallBitVector failing = devicesWith(entry, canFail);
  for (Operation &op : body)
    if (canFail(&op))
      last = &op;
  // A partition that changes variables, or has checks, must know of the checks of another one.
  llvm::SmallBitVector concerned = devicesWith(entry, llvm::IsaPred<AssignOp>);
  concerned |= failing;
  if (before.empty() && afterQueues.empty() && (failing.none() || concerned.count() < 2))
    last = nullptr;
}

void Commits::visit(Block &block, llvm::SmallBitVector &failing) {
  for (Operation &op : block.without_terminator()) {
    if (usesQueues(&op) && isAwaitedByReads(&op))
      afterQueues.insert(&op);
    if (sets.runsEverywhere(&op)) {
      visitRegions(&op, failing);
      continue;
    }
    llvm::SmallBitVector queues = devicesWith(&op, usesQueues), others = failing;
    if (queues.count() == 1)
      others.reset(queues);
    if (queues.any() && others.any()) {
      before.insert(&op);
      failing.reset();
    }
    failing |= devicesWith(&op, canFail);
  }
}

/// Returns true if another device reads variables after an operation on queues, without depending
/// on it.
bool Commits::isAwaitedByReads(Operation *queue) const {
  llvm::SmallBitVector queues = devicesWith(queue, usesQueues);
  llvm::SmallDenseSet<Operation *> dependent{queue};
  for (Operation *op = queue->getNextNode();
       !usesQueues(op) && !op->hasTrait<OpTrait::IsTerminator>(); op = op->getNextNode()) {
    bool depends = false;
    forEachRead(op, [&](Value read) { depends |= dependent.contains(read.getDefiningOp()); });
    if (depends) {
      dependent.insert(op);
      continue;
    }
    llvm::SmallBitVector readers = devicesWith(op, readsVariables);
    if (readers.any() && (queues.count() > 1 || readers.test(queues)))
      return true;
  }
  return false;
}

void Commits::visitRegions(Operation *op, llvm::SmallBitVector &failing) {
  if (auto branch = dyn_cast<IfOp>(op)) {
    llvm::SmallBitVector otherwise = failing;
    visit(branch.getThenBlock(), failing);
    visit(branch.getElseBlock(), otherwise);
    failing |= otherwise;
    return;
  }
  // Checks of an iteration come before the queues of the next one.
  auto loop = cast<WhileOp>(op);
  llvm::SmallBitVector atStart = failing, atEnd;
  do {
    atStart |= atEnd;
    failing = atStart;
    visit(loop.getConditionBlock(), failing);
    atEnd = failing;
    visit(loop.getBodyBlock(), atEnd);
  } while (atEnd.test(atStart));
}

} // namespace tfc::partition
