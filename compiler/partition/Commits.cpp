//===- Commits.cpp - Where partitions agree on failed checks --------------===//
//
// Orders what can fail, what stands when a call fails, and what must not have happened then, over
// the partitions of an entry.
//
//===----------------------------------------------------------------------===//

#include "compiler/partition/Commits.h"
#include "compiler/partition/LateReads.h"
#include "dialects/dfg/MemoryPlan.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::partition {

Commits::Commits(EntryOp entry, const DeviceSets &sets) : sets(sets) {
  Block &body = entry.getBody().front();
  llvm::SmallBitVector sinceCommit(sets.getUsed().size());
  visit(body, sinceCommit);
  llvm::SmallBitVector failing = sets.devicesThatMayFail(entry);
  for (Operation &op : body)
    if (canFail(&op))
      last = &op;
  // A partition that changes variables, or has checks, must know of the checks of another one.
  llvm::SmallBitVector concerned = sets.devicesWith(entry, llvm::IsaPred<AssignOp>);
  concerned |= failing;
  if (before.empty() && afterQueues.empty() && (failing.none() || concerned.count() < 2))
    last = nullptr;
}

void Commits::visit(Block &block, llvm::SmallBitVector &failing) {
  for (Operation &op : block.without_terminator()) {
    if (sets.runsEverywhere(&op)) {
      visitRegions(&op, failing);
      continue;
    }
    if (usesQueues(&op) && areReadsLate(&op, sets))
      afterQueues.insert(&op);
    llvm::SmallBitVector queues = sets.devicesWith(&op, usesQueues), others = failing;
    if (queues.count() == 1)
      others.reset(queues);
    if (queues.any() && others.any()) {
      before.insert(&op);
      failing.reset();
    }
    failing |= sets.devicesThatMayFail(&op);
  }
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
