//===- MessageOrder.cpp - Kernels that run before waits for messages ------===//
//
// Numbers the waits of a block, and finds the last wait that each kernel depends on.
//
//===----------------------------------------------------------------------===//

#include "compiler/fusion/MessageOrder.h"
#include "dialects/dfg/MessageOps.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::fusion {

namespace {
/// The number of the last wait that a kernel or an operation of the host depends on, or is; 0 for
/// none.
class LastWaits {
public:
  LastWaits(const Grouping &grouping, const DenseMap<Operation *, unsigned> &waits, Block &block)
      : grouping(grouping), waits(waits), block(block) {}

  unsigned of(Operation *op);

private:
  Operation *unitOf(Operation *op) const {
    int id = grouping.groupOf(op);
    return id < 0 ? op : grouping.getGroups()[id].ops.front();
  }
  SmallVector<Operation *> sourcesOf(Operation *unit) const;

  const Grouping &grouping;
  const DenseMap<Operation *, unsigned> &waits;
  Block &block;
  DenseMap<Operation *, unsigned> known; // by the first operation of a kernel
};
} // namespace

/// Returns the kernels and operations that have to run before `unit`.
SmallVector<Operation *> LastWaits::sourcesOf(Operation *unit) const {
  llvm::SetVector<Operation *> sources;
  auto add = [&](Operation *op) {
    if (op && op->getBlock() == &block && unitOf(op) != unit)
      sources.insert(unitOf(op));
  };
  int id = grouping.groupOf(unit);
  ArrayRef<Operation *> members = id < 0 ? ArrayRef(unit) : ArrayRef(grouping.getGroups()[id].ops);
  for (Operation *member : members) {
    grouping.forEachPrevious(member, add);
    grouping.forEachSource(member, [&](Value read) { add(read.getDefiningOp()); });
  }
  return sources.takeVector();
}

unsigned LastWaits::of(Operation *op) {
  SmallVector<Operation *> work{unitOf(op)};
  while (!work.empty()) {
    Operation *unit = work.back();
    if (known.contains(unit)) {
      work.pop_back();
      continue;
    }
    unsigned last = waits.lookup(unit);
    bool isReady = true;
    for (Operation *source : sourcesOf(unit)) {
      auto it = known.find(source);
      if (it != known.end()) {
        last = std::max(last, it->second);
        continue;
      }
      work.push_back(source);
      isReady = false;
    }
    if (!isReady)
      continue;
    known[unit] = last;
    work.pop_back();
  }
  return known.lookup(unitOf(op));
}

MessageOrder::MessageOrder(Block &block, const Grouping &grouping) {
  DenseMap<Operation *, unsigned> waits;
  SmallVector<Operation *> numbered{nullptr};
  for (Operation &op : block)
    if (waitsForMessages(&op)) {
      waits[&op] = numbered.size();
      numbered.push_back(&op);
    }
  if (waits.empty())
    return;
  LastWaits lastWaits(grouping, waits, block);
  llvm::SmallDenseSet<int> seen;
  unsigned passed = 0; // the last wait before the operation
  for (Operation &op : block) {
    if (waits.contains(&op))
      ++passed;
    int id = grouping.groupOf(&op);
    if (id < 0 || !seen.insert(id).second)
      continue;
    unsigned first = std::max(passed, lastWaits.of(&op)) + 1;
    if (first < numbered.size())
      before[numbered[first]].push_back(&op);
  }
}

void MessageOrder::forEachBefore(Operation *wait, function_ref<void(Operation *)> visit) const {
  auto known = before.find(wait);
  if (known == before.end())
    return;
  for (Operation *op : known->second)
    visit(op);
}

} // namespace tfc::fusion
