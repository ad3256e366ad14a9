//===- Partitions.cpp - Entries on several devices ------------------------===//
//
// Finds the partitions of an entry and verifies how they refer to each other.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Partitions.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/MessageOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace tfc::dfg;

bool tfc::dfg::isRemote(EntryOp entry) {
  DeviceAttr device = entry.getDeviceAttr();
  return device && hasOwnMemory(device.getDevice());
}

static ArrayRef<Attribute> otherPartitions(EntryOp entry) {
  ArrayAttr partitions = entry.getPartitionsAttr();
  return partitions ? partitions.getValue() : ArrayRef<Attribute>();
}

static SmallVector<SlotAttr> slotsOf(EntryOp entry) {
  ArrayAttr slots = entry.getSlotsAttr();
  return slots ? llvm::to_vector(slots.getAsRange<SlotAttr>()) : SmallVector<SlotAttr>();
}

SmallVector<EntryOp> tfc::dfg::partitionsOf(EntryOp entry, SymbolTable &symbols) {
  SmallVector<EntryOp> all{entry};
  for (Attribute name : otherPartitions(entry))
    all.push_back(symbols.lookup<EntryOp>(cast<FlatSymbolRefAttr>(name).getAttr()));
  return all;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// State is on the device of the partition that uses it.
static LogicalResult verifyState(EntryOp partition, Attribute device,
                                 SymbolTableCollection &symbols) {
  WalkResult result = partition.walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs()) {
      auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue());
      Operation *state = symbol ? symbols.lookupNearestSymbolFrom(partition, symbol) : nullptr;
      if (!isa_and_present<VariableOp, QueueOp, TapeOp>(state))
        continue;
      Attribute home = state->getAttr(kDeviceAttr);
      if ((home ? home : DeviceAttr::get(op->getContext(), callersDevice())) == device)
        continue;
      op->emitOpError("is on ") << device << ", but " << symbol << " is not";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// A partition takes and returns nothing, its entry names it, and it has a device of the module.
static LogicalResult verifyPartition(EntryOp op, SymbolTableCollection &symbols) {
  auto entry = symbols.lookupNearestSymbolFrom<EntryOp>(op, op.getPartitionOfAttr());
  auto isThis = [&](Attribute name) {
    return cast<FlatSymbolRefAttr>(name).getValue() == op.getSymName();
  };
  if (!entry || llvm::count_if(otherPartitions(entry), isThis) != 1)
    return op.emitOpError("expects to be a partition of an entry, but ")
           << op.getPartitionOfAttr() << " does not name it";
  if (!op.getArgumentTypes().empty() || !op.getResultTypes().empty() || !op.getDeviceAttr())
    return op.emitOpError("is a partition of ")
           << op.getPartitionOfAttr() << " and expects a device, no arguments and no results";
  SmallVector<DeviceAttr> devices = devicesOf(op->getParentOfType<ModuleOp>());
  if (!llvm::is_contained(ArrayRef(devices).drop_front(), op.getDeviceAttr()))
    return op.emitOpError("is on ") << op.getDeviceAttr() << ", which is none of the devices of "
                                    << "the module but the caller's";
  return verifyState(op, op.getDeviceAttr(), symbols);
}

/// Messages are between the partitions of an entry.
static LogicalResult verifyWithoutMessages(EntryOp op) {
  WalkResult result = op.walk([](Operation *nested) {
    if (!slotOf(nested) && !isa<CommitOp>(nested))
      return WalkResult::advance();
    nested->emitOpError("expects an entry with partitions");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
/// The ends of the slots of an entry.
class Ends {
public:
  explicit Ends(EntryOp entry)
      : entry(entry), slots(slotsOf(entry)), senders(slots.size()), receivers(slots.size()) {}

  LogicalResult add(Operation *op, unsigned partition);
  LogicalResult verifyComplete();

private:
  EntryOp entry;
  SmallVector<SlotAttr> slots;
  SmallVector<Operation *> senders, receivers;
};
} // namespace

LogicalResult Ends::add(Operation *op, unsigned partition) {
  std::optional<unsigned> slot = slotOf(op);
  if (!slot)
    return success();
  if (*slot >= slots.size())
    return op->emitOpError("expects a slot of ") << SymbolRefAttr::get(entry.getSymNameAttr());
  bool receives = isa<ReceiveOp>(op);
  unsigned expected = receives ? slots[*slot].getReceiver() : slots[*slot].getSender();
  if (partition != expected)
    return op->emitOpError("is in partition ")
           << partition << ", but slot " << *slot << " is " << slots[*slot];
  if (isa<AwaitReleaseOp>(op))
    return success();
  Operation *&end = (receives ? receivers : senders)[*slot];
  if (end)
    return op->emitOpError("expects to be the only one for slot ") << *slot;
  end = op;
  return success();
}

LogicalResult Ends::verifyComplete() {
  for (auto [slot, send, receive] : llvm::enumerate(senders, receivers)) {
    if (!send || !receive)
      return entry.emitOpError("expects a 'dfg.send' and a 'dfg.receive' for slot ") << slot;
    Type sent = send->getOperand(0).getType(), received = receive->getResult(0).getType();
    if (sent != received)
      return receive->emitOpError("receives ")
             << received << ", but slot " << slot << " has " << sent;
  }
  return success();
}

LogicalResult tfc::dfg::verifyPartitions(EntryOp op, SymbolTableCollection &symbols) {
  if (op.isPartition())
    return verifyPartition(op, symbols);
  if (!op.getPartitions())
    return verifyWithoutMessages(op);
  SmallVector<EntryOp> partitions{op};
  llvm::SmallDenseSet<Attribute> devices;
  for (Attribute name : otherPartitions(op)) {
    auto partition = symbols.lookupNearestSymbolFrom<EntryOp>(op, cast<FlatSymbolRefAttr>(name));
    if (!partition || partition.getPartitionOfAttr() != SymbolRefAttr::get(op.getSymNameAttr()))
      return op.emitOpError("expects ") << name << " to be a partition of it";
    if (!devices.insert(partition.getDeviceAttr()).second)
      return partition.emitOpError("is on the device of another partition");
    partitions.push_back(partition);
  }
  for (SlotAttr slot : slotsOf(op))
    if (slot.getSender() == slot.getReceiver() || slot.getSender() >= partitions.size() ||
        slot.getReceiver() >= partitions.size())
      return op.emitOpError("has the slot ")
             << slot << ", but expected two of its " << partitions.size() << " partitions";
  Ends ends(op);
  for (auto [number, partition] : llvm::enumerate(partitions)) {
    WalkResult result = partition.walk([&, number = unsigned(number)](Operation *nested) {
      return failed(ends.add(nested, number)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return ends.verifyComplete();
}
