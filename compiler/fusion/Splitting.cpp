//===- Splitting.cpp - Splitting full kernels -----------------------------===//
//
// Holds the part of Grouping that divides a parallel group that has reached the limit of its code.
// It chooses the cut that the fewest bits cross.
//
//===----------------------------------------------------------------------===//

#include "compiler/fusion/CodeSize.h"
#include "compiler/fusion/Grouping.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::fusion {

/// The bits of an element of each value of the group that operations from `cut` on read.
static int64_t bitsAcross(ArrayRef<Operation *> ops, ArrayRef<size_t> lastUses, size_t cut) {
  int64_t bits = 0;
  for (size_t i = 0; i < cut; ++i)
    if (lastUses[i] >= cut)
      bits += getElementTypeOrSelf(ops[i]->getResult(0).getType()).getIntOrFloatBitWidth();
  return bits;
}

/// The number of operations of the group that should stay: no more than all and no less than half
/// of them, where the fewest bits pass from them to the operations that follow. Values without a
/// known last use count as read by all that follows.
size_t Grouping::findCut(const Group &group) const {
  size_t count = group.ops.size();
  SmallVector<size_t> lastUses;
  for (Operation *op : group.ops) {
    size_t last = 0;
    for (Operation *user : op->getUsers()) {
      auto place =
          llvm::lower_bound(group.ops, positions.lookup(user),
                            [&](Operation *o, unsigned p) { return positions.lookup(o) < p; });
      last = std::max<size_t>(last, place - group.ops.begin());
    }
    lastUses.push_back(last);
  }
  size_t best = count;
  int64_t fewest = bitsAcross(group.ops, lastUses, count);
  for (size_t cut = count - 1; cut > count / 2; --cut)
    if (int64_t bits = bitsAcross(group.ops, lastUses, cut); bits < fewest) {
      best = cut;
      fewest = bits;
    }
  return best;
}

/// Moves the last operations of a parallel group to a new one and returns it, or -1 if all should
/// stay. Both are convex because the first depends on none of the operations that move.
int Grouping::split(int id) {
  size_t cut = findCut(groups[id]);
  if (cut == groups[id].ops.size())
    return -1;
  SmallVector<Operation *> ops = std::move(groups[id].ops);
  groups[id].ops.clear();
  groups[id].codeSize = 0;
  Group &rest = groups.emplace_back();
  rest.node = order.insertAfter(groups[id].node);
  rest.root = Root::Parallel;
  rest.space = groups[id].space;
  for (auto [i, op] : llvm::enumerate(ops))
    add(i < cut ? groups[id] : rest, op);
  return groups.size() - 1;
}

} // namespace tfc::fusion
