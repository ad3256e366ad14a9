//===- Order.cpp - The order of operations in an entry --------------------===//
//
// Lets each operation start no later than those that depend on it, and sorts by that: such an order
// keeps all dependences.
//
//===----------------------------------------------------------------------===//

#include "compiler/placement/Order.h"
#include "dialects/dfg/HostForm.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <limits>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::placement {

namespace {
/// Visits the operations of a block in order.
class DependenceFinder {
public:
  DependenceFinder(Block &block, const RunTimeSizes &sizes) : block(block), sizes(sizes) {}

  Dependences run();

private:
  void runBefore(Operation *first, Operation *second) { before[second].push_back(first); }
  void keepValues(Operation *op);
  void keepEffects(Operation *op);
  void keepLists(Operation *op);

  Block &block;
  const RunTimeSizes &sizes;
  Dependences before;
  Operation *lastWrite = nullptr, *lastList = nullptr;
  SmallVector<Operation *> readsSince;
};
} // namespace

void DependenceFinder::keepValues(Operation *op) {
  forEachRead(op, [&](Value value) {
    Operation *producer = value.getDefiningOp();
    if (producer && producer->getBlock() == &block)
      runBefore(producer, op);
  });
  sizes.forEachPrerequisite(op, [&](Operation *earlier) {
    if (earlier->getBlock() == &block)
      runBefore(earlier, op);
  });
}

/// Operations with effects keep their order, except for those that only read.
void DependenceFinder::keepEffects(Operation *op) {
  bool canMove = isMemoryEffectFree(op) && !canFail(op);
  if (canMove)
    return;
  if (lastWrite)
    runBefore(lastWrite, op);
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects = getEffectsRecursively(op);
  bool onlyReads = effects && !canFail(op) &&
                   llvm::all_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
                     return isa<MemoryEffects::Read>(effect.getEffect());
                   });
  if (onlyReads) {
    readsSince.push_back(op);
    return;
  }
  for (Operation *read : readsSince)
    runBefore(read, op);
  readsSince.clear();
  lastWrite = op;
}

/// Operations on lists change them in place.
void DependenceFinder::keepLists(Operation *op) {
  if (!anyWithin(op, usesLists))
    return;
  if (lastList)
    runBefore(lastList, op);
  lastList = op;
}

Dependences DependenceFinder::run() {
  for (Operation &op : block.without_terminator()) {
    keepValues(&op);
    keepEffects(&op);
    keepLists(&op);
  }
  return std::move(before);
}

Dependences findDependences(Block &block, const RunTimeSizes &sizes) {
  return DependenceFinder(block, sizes).run();
}

static SmallVector<Operation *> sortByStart(Block &block, const RunTimeSizes &sizes,
                                            function_ref<double(Operation *)> startOf) {
  Dependences before = findDependences(block, sizes);
  SmallVector<Operation *> operations;
  llvm::DenseMap<Operation *, double> starts;
  for (Operation &op : block.without_terminator()) {
    operations.push_back(&op);
    starts[&op] = startOf(&op);
  }
  for (Operation *op : llvm::reverse(operations))
    for (Operation *earlier : before.lookup(op))
      starts[earlier] = std::min(starts[earlier], starts[op]);
  llvm::stable_sort(
      operations, [&](Operation *a, Operation *b) { return starts.lookup(a) < starts.lookup(b); });
  return operations;
}

BlockOrders orderByStart(EntryOp entry, function_ref<std::optional<double>(Operation *)> startOf) {
  constexpr double kAnywhere = std::numeric_limits<double>::infinity();
  llvm::DenseMap<Operation *, double> first; // of an operation and those in its regions
  entry.getBody().walk([&](Operation *op) {
    double start = startOf(op).value_or(kAnywhere);
    auto [own, isNew] = first.try_emplace(op, start);
    own->second = std::min(own->second, start);
    double earliest = own->second;
    if (Operation *around = op->getParentOp(); around != entry) {
      auto outer = first.try_emplace(around, kAnywhere).first;
      outer->second = std::min(outer->second, earliest);
    }
  });
  RunTimeSizes sizes(entry);
  BlockOrders orders;
  entry.walk([&](Block *block) {
    orders[block] = sortByStart(*block, sizes, [&](Operation *op) { return first.lookup(op); });
  });
  return orders;
}

void applyOrders(const BlockOrders &orders) {
  for (auto &[block, operations] : orders) {
    Block::iterator end = block->without_terminator().end();
    for (Operation *op : operations)
      op->moveBefore(block, end);
  }
}

} // namespace tfc::placement
