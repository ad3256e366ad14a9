//===- Commits.cpp - Where partitions agree on failed checks --------------===//
//
// Orders what can fail, what stands when a call fails, and what must not have happened then, over
// the partitions of an entry.
//
//===----------------------------------------------------------------------===//

#include "compiler/partition/Commits.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "dialects/dfg/SizeOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::partition {

/// Visits the operations without regions in `op`, or itself.
static void forEachStep(Operation *op, function_ref<void(Operation *)> visit) {
  op->walk([&](Operation *nested) {
    if (nested->getNumRegions() == 0 && !nested->hasTrait<OpTrait::IsTerminator>())
      visit(nested);
  });
}

//===----------------------------------------------------------------------===//
// Commits
//===----------------------------------------------------------------------===//

void Commits::addConcerned(Operation *op, llvm::SmallBitVector &failing,
                           llvm::SmallBitVector &changing) const {
  forEachStep(op, [&](Operation *step) {
    if (free.isCopied(step))
      return;
    for (unsigned device : sets.getUsed().set_bits())
      if (sets.runsOn(step, device)) {
        if (canFail(step))
          failing.set(device);
        if (isa<AssignOp>(step))
          changing.set(device);
      }
  });
}

llvm::SmallBitVector Commits::devicesOfQueues(Operation *op) const {
  llvm::SmallBitVector devices(sets.getUsed().size());
  forEachStep(op, [&](Operation *step) {
    if (usesQueues(step))
      devices.set(sets.deviceOf(step));
  });
  return devices;
}

Commits::Commits(EntryOp entry, const FreeValues &free, const DeviceSets &sets)
    : free(free), sets(sets) {
  size_t devices = sets.getUsed().size();
  llvm::SmallBitVector failing(devices), changing(devices), sinceCommit(devices);
  for (Operation &op : entry.getBody().front()) {
    llvm::SmallBitVector own(devices);
    addConcerned(&op, own, changing);
    if (usesQueues(&op)) {
      llvm::SmallBitVector others = sinceCommit, queues = devicesOfQueues(&op);
      if (queues.count() == 1)
        others.reset(queues);
      if (others.any()) {
        before.insert(&op);
        sinceCommit.reset();
      }
    }
    failing |= own;
    sinceCommit |= own;
    if (own.any())
      last = &op;
  }
  // A partition that changes variables, or has checks, must know of the checks of another one.
  changing |= failing;
  if (before.empty() && (failing.none() || changing.count() < 2))
    last = nullptr;
}

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

LogicalResult verifyQueues(EntryOp entry, const DeviceSets &sets) {
  for (Operation &op : entry.getBody().front()) {
    if (op.getNumRegions() == 0 || !usesQueues(&op))
      continue;
    Operation *queue = nullptr, *other = nullptr;
    forEachStep(&op, [&](Operation *step) {
      if (!queue && usesQueues(step))
        queue = step;
    });
    forEachStep(&op, [&](Operation *step) {
      if ((isa<CheckOp>(step) || usesQueues(step)) && sets.deviceOf(step) != sets.deviceOf(queue))
        other = step;
    });
    if (!other)
      continue;
    InFlightDiagnostic error =
        queue->emitError("this version of tfc cannot use a queue in a branch or loop in which "
                         "something on another device can fail [not-yet]");
    error.attachNote(other->getLoc()) << "this can fail";
    return error;
  }
  return success();
}

/// Returns the operations of the block that `op` needs, with itself and the bindings of the sizes
/// that it mentions, in the order of the block.
static SmallVector<Operation *> sliceOf(Operation *op, const RunTimeSizes &sizes) {
  Block *block = op->getBlock();
  llvm::SetVector<Operation *> slice;
  slice.insert(op);
  auto need = [&](Operation *producer) {
    if (producer && (producer = block->findAncestorOpInBlock(*producer)))
      slice.insert(producer);
  };
  for (size_t i = 0; i < slice.size(); ++i) {
    forEachRead(slice[i], [&](Value read) { need(read.getDefiningOp()); });
    sizes.forEachBinder(slice[i], [&](BindSizeOp binder) { need(binder); });
  }
  SmallVector<Operation *> ordered = slice.takeVector();
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

void moveChecksBeforeQueues(EntryOp entry) {
  Block &body = entry.getBody().front();
  SmallVector<Operation *> queues, checks;
  for (Operation &op : body) {
    if (usesQueues(&op))
      queues.push_back(&op);
    else if (!queues.empty() && canFail(&op))
      checks.push_back(&op);
  }
  if (checks.empty())
    return;
  RunTimeSizes sizes(entry);
  for (Operation *check : checks) {
    SmallVector<Operation *> slice = sliceOf(check, sizes);
    // Operations on queues keep their order, so the check needs all before the last one it needs.
    auto needed = llvm::find_if(llvm::reverse(queues),
                                [&](Operation *queue) { return llvm::is_contained(slice, queue); });
    size_t first = needed == queues.rend() ? 0 : queues.rend() - needed;
    if (first == queues.size() || !queues[first]->isBeforeInBlock(check))
      continue;
    llvm::erase_if(slice, [&](Operation *op) { return op->isBeforeInBlock(queues[first]); });
    if (llvm::any_of(slice, hasOrderedEffects)) // of tapes and lists
      continue;
    for (Operation *op : slice)
      op->moveBefore(queues[first]);
  }
}

} // namespace tfc::partition
