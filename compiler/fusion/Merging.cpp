//===- Merging.cpp - Merging kernels --------------------------------------===//

#include "compiler/fusion/Grouping.h"
#include "compiler/fusion/HostValues.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::fusion {

/// A kernel with more operations than this compiles slowly and runs out of registers.
static constexpr size_t kMaxOps = 256;

/// Visits the values that `op` reads, looking through operations that every kernel repeats.
static void forEachSource(Operation *op, llvm::function_ref<void(Value)> visit) {
  forEachRead(op, [&](Value read) {
    Operation *producer = read.getDefiningOp();
    if (producer && Grouping::isRepeated(producer))
      forEachSource(producer, visit);
    else
      visit(read);
  });
}

void Grouping::buildDependences(Block &block) {
  DenseMap<Operation *, int> hostUnits;
  dependences.resize(groups.size());
  auto unitOf = [&](Operation *op) {
    int group = groupOf(op);
    return group >= 0 ? group : hostUnits.lookup_or(op, -1);
  };
  for (Operation &op : block) {
    int unit = groupOf(&op);
    if (unit < 0) {
      if (!staysInHost(&op))
        continue;
      unit = hostUnits[&op] = dependences.size();
      dependences.emplace_back();
    }
    forEachPrevious(&op, [&](Operation *before) { dependences[unit].insert(unitOf(before)); });
    forEachSource(&op, [&](Value source) {
      Operation *producer = source.getDefiningOp();
      if (int other = producer ? unitOf(producer) : -1; other >= 0 && other != unit)
        dependences[unit].insert(other);
    });
  }
}

/// Returns true if `from` depends on `to`, other than directly through `except`.
bool Grouping::isReached(int from, int to, int except) {
  llvm::SmallDenseSet<int> seen;
  SmallVector<int> work;
  for (int unit : dependences[from])
    if (unit != except && seen.insert(unit).second)
      work.push_back(unit);
  while (!work.empty()) {
    int unit = work.pop_back_val();
    if (unit == to)
      return true;
    for (int next : dependences[unit])
      if (seen.insert(next).second)
        work.push_back(next);
  }
  return false;
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
  for (size_t unit = 0; unit < dependences.size(); ++unit)
    if (int(unit) != reader && dependences[unit].contains(producer))
      return false;
  return dependences[reader].contains(producer);
}

bool Grouping::mayMerge(int a, int b) {
  Group &first = groups[a], &second = groups[b];
  if (first.ops.empty() || second.ops.empty() || first.ops.size() + second.ops.size() > kMaxOps)
    return false;
  if (first.root == Root::Opaque || second.root == Root::Opaque)
    return false;
  if (isInputOf(a, b))
    return !readsStored(a, b) && !isReached(b, a, a);
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
  return !isReached(a, b, b) && !isReached(b, a, a);
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
  from.ops.clear();
  llvm::sort(into.ops, [&](Operation *x, Operation *y) { return positions[x] < positions[y]; });
  for (int unit : dependences[b])
    dependences[a].insert(unit);
  dependences[b].clear();
  for (auto &waiting : dependences)
    if (waiting.remove(b))
      waiting.insert(a);
  dependences[a].remove(a);
}

void Grouping::mergeAll() {
  // Kernels of which one reads values of the other come first, then kernels that read the same
  // values.
  for (bool handsOver : {true, false}) {
    for (bool hasChanged = true; hasChanged;) {
      hasChanged = false;
      for (int b = 0, count = groups.size(); b < count; ++b) {
        SmallVector<int> partners;
        for (int unit : dependences[b]) {
          if (unit >= count)
            continue;
          if (handsOver) {
            partners.push_back(unit);
            continue;
          }
          for (int sibling = 0; sibling < b; ++sibling)
            if (dependences[sibling].contains(unit))
              partners.push_back(sibling);
        }
        for (int a : partners) {
          if (a == b || !mayMerge(a, b))
            continue;
          merge(a, b);
          hasChanged = true;
          break;
        }
      }
    }
  }
}

} // namespace tfc::fusion
