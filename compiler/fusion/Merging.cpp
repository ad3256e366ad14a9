//===- Merging.cpp - Merging kernels --------------------------------------===//
//
// Holds the part of Grouping that merges groups which exchange or share values. It runs after all
// groups are formed, because it needs the dependences between all of them.
//
//===----------------------------------------------------------------------===//

#include "compiler/fusion/CodeSize.h"
#include "compiler/fusion/Grouping.h"
#include "compiler/fusion/HostValues.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::fusion {

/// A search for a path that visits more kernels than this counts as one that finds a path.
static constexpr unsigned kMaxVisited = 4096;
/// Of the kernels that read a value, each is compared with this many that come before it.
static constexpr size_t kMaxSiblings = 64;

void Grouping::addDependence(int unit, int on) {
  units[unit].dependences.insert(on);
  units[on].readers.insert(unit);
}

void Grouping::buildDependences(Block &block) {
  DenseMap<Operation *, int> hostUnits;
  for (const Group &group : groups)
    units.push_back({{}, {}, group.node});
  auto unitOf = [&](Operation *op) {
    int group = groupOf(op);
    return group >= 0 ? group : hostUnits.lookup_or(op, -1);
  };
  for (Operation &op : block) {
    int unit = groupOf(&op);
    if (unit < 0) {
      if (!staysInHost(&op))
        continue;
      unit = hostUnits[&op] = units.size();
      units.push_back({{}, {}, nodes.lookup(&op)});
    }
    forEachPrevious(&op, [&](Operation *before) { addDependence(unit, unitOf(before)); });
    forEachSource(&op, [&](Value source) {
      Operation *producer = source.getDefiningOp();
      if (int other = producer ? unitOf(producer) : -1; other >= 0 && other != unit)
        addDependence(unit, other);
    });
  }
}

/// Returns true if neither unit depends on the other, except directly, and then moves all that the
/// later one needs before the earlier one in the order of kernels.
bool Grouping::canRunTogether(int a, int b) {
  bool isInOrder = order.isBefore(units[a].node, units[b].node);
  int first = isInOrder ? a : b, second = isInOrder ? b : a;
  SmallVector<int> work, later;
  llvm::SmallDenseSet<int> seen;
  auto push = [&](int unit) {
    int node = units[unit].node;
    if (order.isBefore(node, units[first].node) || !seen.insert(unit).second)
      return;
    work.push_back(unit);
    later.push_back(node);
  };
  for (int unit : units[second].dependences)
    if (unit != first)
      push(unit);
  while (!work.empty()) {
    int unit = work.pop_back_val();
    ++visits;
    if (unit == first || seen.size() > kMaxVisited)
      return false;
    llvm::for_each(units[unit].dependences, push);
  }
  order.moveBefore(later, units[first].node);
  return true;
}

/// Returns true if `op` reads a value of the group `producer` at other positions than its own.
bool Grouping::readsMoved(Operation *op, int producer, bool isMoved) {
  isMoved |= op->hasTrait<ContractionRole>() || movesElements(op);
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    Operation *maker = operand.getDefiningOp();
    if (!maker)
      return false;
    if (isRepeated(maker))
      return readsMoved(maker, producer, isMoved);
    return isMoved && groupOf(maker) == producer;
  });
}

/// Returns true if `reader` needs the values of `producer` in memory.
bool Grouping::readsStored(int producer, int reader) {
  return llvm::any_of(groups[reader].ops,
                      [&](Operation *op) { return readsMoved(op, producer, /*isMoved=*/false); });
}

/// Returns true if every operation of the group computes its elements from those at the same
/// position.
static bool isElementwise(const Group &group) {
  return group.root == Root::Parallel &&
         llvm::all_of(group.ops, [](Operation *op) { return isa<ScalarOpInterface>(op); });
}

/// Returns true if a parallel group has the iteration space of `other`.
static bool hasSpaceOf(const Group &group, const Group &other) {
  if (group.space == other.space)
    return true;
  if (other.root != Root::Rows)
    return false;
  Shape kept = other.space;
  kept.resize(other.full.size(), DimExpr(1));
  return group.space == other.full || group.space == kept;
}

/// Returns true if the group computes elementwise values that only the reduction of `reader` reads.
bool Grouping::isInputOf(int producer, int reader) {
  const Group &group = groups[producer], &reduction = groups[reader];
  if (!isElementwise(group) || reduction.root != Root::Reduction)
    return false;
  bool hasInputShape = llvm::any_of(reduction.ops, [&](Operation *op) {
    return op->hasTrait<ReductionRole>() && shapeOf(op->getOperand(0).getType()) == group.space;
  });
  if (!hasInputShape)
    return false;
  const std::set<int> &readers = units[producer].readers;
  return readers.size() == 1 && *readers.begin() == reader;
}

bool Grouping::mayMerge(int a, int b) {
  Group &first = groups[a], &second = groups[b];
  if (first.ops.empty() || second.ops.empty() || first.codeSize + second.codeSize > kMaxCodeSize)
    return false;
  auto isAlone = [](const Group &group) {
    return group.root == Root::Opaque || group.root == Root::Attention;
  };
  if (isAlone(first) || isAlone(second) || !canShareKernel(first.ops.front(), second.ops.front()))
    return false;
  if (isInputOf(a, b))
    return !readsStored(a, b) && canRunTogether(a, b);
  bool isFitting;
  if (first.root == Root::Rows && second.root == Root::Rows) {
    isFitting = first.space == second.space && first.full == second.full;
  } else {
    bool firstIsRoot = first.root != Root::Parallel;
    const Group &root = firstIsRoot ? first : second, &other = firstIsRoot ? second : first;
    if (other.root != Root::Parallel)
      return false;
    isFitting = hasSpaceOf(other, root);
    if (root.root == Root::Contraction || root.root == Root::Reduction)
      isFitting &= isElementwise(other);
  }
  if (!isFitting || readsStored(a, b) || readsStored(b, a))
    return false;
  return canRunTogether(a, b);
}

/// Merges `b` into `a`.
void Grouping::merge(int a, int b) {
  Group &into = groups[a], &from = groups[b];
  if (into.root == Root::Parallel) {
    into.root = from.root;
    into.space = from.space;
    into.full = from.full;
  }
  for (Operation *op : from.ops)
    groupIds[op] = a;
  into.ops.append(from.ops);
  into.codeSize += from.codeSize;
  from.ops.clear();
  llvm::sort(into.ops, [&](Operation *x, Operation *y) { return positions[x] < positions[y]; });
  Unit old = std::move(units[b]);
  units[b] = Unit{{}, {}, old.node};
  for (int unit : old.dependences) {
    units[unit].readers.erase(b);
    if (unit != a)
      addDependence(a, unit);
  }
  for (int unit : old.readers) {
    units[unit].dependences.remove(b);
    if (unit != a)
      addDependence(unit, a);
  }
  if (order.isBefore(old.node, units[a].node))
    units[a].node = old.node;
}

/// The last groups before `unit` that read one of the values that it reads, in order.
SmallVector<int> Grouping::siblingsOf(int unit) const {
  SmallVector<int> siblings;
  for (int source : units[unit].dependences) {
    if (source >= int(groups.size()))
      continue;
    const std::set<int> &readers = units[source].readers;
    auto end = readers.lower_bound(unit), begin = end;
    for (size_t i = 0; i < kMaxSiblings && begin != readers.begin(); ++i)
      --begin;
    siblings.append(begin, end);
  }
  return siblings;
}

bool Grouping::mergeWithPartner(int unit, bool handsOver) {
  SmallVector<int> partners =
      handsOver ? llvm::to_vector(units[unit].dependences.getArrayRef()) : siblingsOf(unit);
  for (int partner : partners)
    if (partner != unit && partner < int(groups.size()) && mayMerge(partner, unit)) {
      merge(partner, unit);
      return true;
    }
  return false;
}

void Grouping::mergeAll() {
  // Kernels of which one reads values of the other come first, then kernels that read the same
  // values.
  for (bool handsOver : {true, false})
    for (bool hasChanged = true; hasChanged;) {
      hasChanged = false;
      for (int unit = 0, count = groups.size(); unit < count; ++unit)
        hasChanged |= mergeWithPartner(unit, handsOver);
    }
}

} // namespace tfc::fusion
