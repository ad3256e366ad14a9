//===- OrderByQueues.cpp - The order of checks, queues and reads ----------===//
//
// Moves checks before operations on queues, and reads of variables after them. Partitions run their
// operations in this order as far as messages depend on it.
//
//===----------------------------------------------------------------------===//

#include "compiler/partition/Passes.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/MemoryPlan.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "dialects/dfg/SizeOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_ORDERBYQUEUES
#include "compiler/partition/Passes.h.inc"

/// Returns the operations of the block that `ops` need, with themselves, and the bindings and
/// guards of the sizes that they mention.
static llvm::SetVector<Operation *> neededBy(ArrayRef<Operation *> ops, const RunTimeSizes &sizes) {
  llvm::SetVector<Operation *> needed(ops.begin(), ops.end());
  for (size_t i = 0; i < needed.size(); ++i) {
    Operation *op = needed[i];
    auto need = [&](Operation *producer) {
      if (producer && (producer = op->getBlock()->findAncestorOpInBlock(*producer)))
        needed.insert(producer);
    };
    forEachRead(op, [&](Value read) { need(read.getDefiningOp()); });
    sizes.forEachPrerequisite(op, need);
  }
  return needed;
}

static void moveChecksBeforeQueues(Block &block, const RunTimeSizes &sizes) {
  SmallVector<Operation *> queues, checks;
  for (Operation &op : block) {
    if (usesQueues(&op))
      queues.push_back(&op);
    else if (!queues.empty() && canFail(&op))
      checks.push_back(&op);
  }
  for (Operation *check : checks) {
    SmallVector<Operation *> slice = neededBy(check, sizes).takeVector();
    llvm::sort(slice, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
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

/// Moves operations that read variables, and those that depend on them, after `queue` if it need
/// not run after them.
static void moveReadsAfter(Operation *queue, const RunTimeSizes &sizes) {
  SmallVector<Operation *> fixed{queue}, earlier;
  for (Operation &op : *queue->getBlock()) {
    if (&op == queue)
      break;
    earlier.push_back(&op);
    if (canFail(&op) || hasOrderedEffects(&op) || usesLists(&op))
      fixed.push_back(&op);
  }
  llvm::SetVector<Operation *> needed = neededBy(fixed, sizes), moved;
  for (Operation *op : earlier) {
    bool isLate = readsVariables(op);
    forEachRead(op, [&](Value read) { isLate |= moved.contains(read.getDefiningOp()); });
    sizes.forEachBinder(op, [&](BindSizeOp binder) { isLate |= moved.contains(binder); });
    if (isLate && !needed.contains(op))
      moved.insert(op);
  }
  for (Operation *op : llvm::reverse(moved))
    op->moveAfter(queue);
}

static void orderByQueues(Block &block, const RunTimeSizes &sizes) {
  moveChecksBeforeQueues(block, sizes);
  SmallVector<Operation *> queues;
  for (Operation &op : block)
    if (usesQueues(&op))
      queues.push_back(&op);
  for (Operation *queue : queues)
    moveReadsAfter(queue, sizes);
}

namespace {
class OrderByQueues final : public impl::OrderByQueuesBase<OrderByQueues> {
public:
  void runOnOperation() override {
    if (devicesOf(getOperation()).size() < 2)
      return;
    for (auto entry : getOperation().getOps<EntryOp>()) {
      if (!usesQueues(entry))
        continue;
      RunTimeSizes sizes(entry);
      entry.getBody().walk([&](Block *block) { orderByQueues(*block, sizes); });
    }
  }
};
} // namespace
} // namespace tfc
