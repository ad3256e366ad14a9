//===- NumberEpochs.cpp - Which messages operations wait for --------------===//
//
// Numbers the messages that each device waits for in a block, in the order in which operations
// first read them, those with feeds as one, and gives each operation the number of the last one
// that it depends on, or that its readers depend on. A pass of its own, because kernels depend on
// it also where entries are not divided.
//
//===----------------------------------------------------------------------===//

#include "compiler/partition/DeviceSets.h"
#include "compiler/partition/Passes.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/Roles.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_NUMBEREPOCHS
#include "compiler/partition/Passes.h.inc"

using namespace partition;

namespace {

/// Numbers the epochs of a block on one device.
class DeviceEpochs {
public:
  DeviceEpochs(Block &block, unsigned device, const FreeValues &free, const DeviceSets &sets)
      : block(block), device(device), free(free), sets(sets) {}

  void run();

private:
  void visit(Operation *op);
  void delay(Operation *op);
  unsigned epochOf(Value value);
  bool isReadyAtOnce(Operation *op) const;
  bool usesMessages(Operation *op) const;

  Block &block;
  unsigned device;
  const FreeValues &free;
  const DeviceSets &sets;
  unsigned last = 0;                  // the number of the last wait
  unsigned feeds = 0;                 // that for feeds, all of which are sent when the call begins
  DenseMap<Value, unsigned> received; // waits for values of other devices
  llvm::MapVector<Operation *, unsigned> epochs;
  DenseSet<Operation *> ready; // see isReadyAtOnce
};

} // namespace

/// The last wait before the value is on this device. Values from outside the block are.
unsigned DeviceEpochs::epochOf(Value value) {
  if (value.getParentBlock() != &block)
    return 0;
  Operation *producer = value.getDefiningOp();
  if (producer && free.isCopied(producer))
    return epochs.lookup(producer);
  if (free.contains(value) || sets.homeOf(value) == device)
    return epochs.lookup(producer);
  if (feeds && isa<BlockArgument>(value))
    return feeds;
  auto [known, isNew] = received.try_emplace(value, last + 1);
  last += isNew;
  if (isa<BlockArgument>(value) && isa<EntryOp>(block.getParentOp()))
    feeds = known->second;
  return known->second;
}

/// Returns true for branches and loops on several devices: others send to them and receive.
bool DeviceEpochs::usesMessages(Operation *op) const {
  return op->getNumRegions() > 0 && sets.countOf(op) > 1;
}

void DeviceEpochs::visit(Operation *op) {
  unsigned epoch = 0;
  forEachRead(op, [&](Value read) { epoch = std::max(epoch, epochOf(read)); });
  if (usesMessages(op))
    epoch = ++last;
  epochs[op] = epoch;
  if (isReadyAtOnce(op))
    ready.insert(op);
}

/// Returns true for elementwise operations on variables, constants and each other, such as those on
/// the state of an optimizer.
bool DeviceEpochs::isReadyAtOnce(Operation *op) const {
  if (!isa<ScalarOpInterface>(op) && !free.isCopied(op))
    return false;
  return epochs.lookup(op) == 0 && llvm::all_of(op->getOperands(), [&](Value operand) {
           Operation *producer = operand.getDefiningOp();
           return producer && (producer->hasTrait<SourceRole>() || ready.contains(producer));
         });
}

/// Lets an operation that is ready at once wait with the first of its readers, in whose kernel it
/// can be then, unless it is read elsewhere, too.
void DeviceEpochs::delay(Operation *op) {
  std::optional<unsigned> earliest;
  for (Operation *user : op->getUsers()) {
    auto known = epochs.find(user);
    if (known == epochs.end())
      return;
    earliest = std::min(earliest.value_or(known->second), known->second);
  }
  epochs[op] = earliest.value_or(0);
}

void DeviceEpochs::run() {
  for (Operation &op : block) {
    bool isHere = free.isCopied(&op) && op.getNumRegions() == 0
                      ? sets.deviceOf(&op) == device
                      : sets.runsOn(&op, device) && !op.hasTrait<OpTrait::IsTerminator>();
    if (isHere)
      visit(&op);
  }
  for (auto &[op, epoch] : llvm::reverse(epochs)) {
    if (ready.contains(op))
      delay(op);
    if (epoch > 0 && isOnDevice(op))
      op->setAttr(kEpochAttr, Builder(op->getContext()).getI32IntegerAttr(epoch));
  }
}

namespace {
class NumberEpochs final : public impl::NumberEpochsBase<NumberEpochs> {
public:
  void runOnOperation() override {
    forEachPlacedEntry(getOperation(), [](EntryOp entry, ArrayRef<DeviceAttr>,
                                          const FreeValues &free, const DeviceSets &sets) {
      for (unsigned device : sets.getUsed().set_bits())
        entry.getBody().walk([&](Block *block) { DeviceEpochs(*block, device, free, sets).run(); });
    });
  }
};
} // namespace
} // namespace tfc
