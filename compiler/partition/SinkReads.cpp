//===- SinkReads.cpp - Variables that other devices read ------------------===//
//
// A message of a variable is sent where the variable is read, not where its value is needed. So
// each part of an entry between two operations on queues has reads of its own. They stand after the
// order of operations is known, and before entries are divided.
//
//===----------------------------------------------------------------------===//

#include "compiler/partition/DeviceSets.h"
#include "compiler/partition/Passes.h"
#include "dialects/dfg/MemoryPlan.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_HOISTREADS
#define GEN_PASS_DEF_SINKREADS
#include "compiler/partition/Passes.h.inc"

using namespace partition;

namespace {

/// Sinks the reads of one entry.
class ReadSinker {
public:
  ReadSinker(EntryOp entry, const DeviceSets &sets) : entry(entry), sets(sets) {}

  void run();

private:
  void sinkFor(Operation *user);
  ReadOp readOf(Value value) const;
  Operation *placeFor(Operation *user) const;
  Value copyBefore(Operation *place, Value value);
  unsigned partOf(Operation *place);

  EntryOp entry;
  const DeviceSets &sets;
  /// The copies of a value in a block, by the number of operations on queues before them.
  DenseMap<std::tuple<Value, Block *, unsigned>, Value> copies;
  /// The operations on queues before each operation of the blocks that have been numbered.
  DenseMap<Operation *, unsigned> parts;
  llvm::SmallDenseSet<Block *> numbered;
};

} // namespace

/// Returns the read that a value consists of, seen through views; null for other values.
ReadOp ReadSinker::readOf(Value value) const {
  while (Operation *producer = value.getDefiningOp()) {
    if (auto read = dyn_cast<ReadOp>(producer))
      return read;
    if (!sets.isCopied(producer) || producer->getNumOperands() != 1)
      return {};
    value = producer->getOperand(0);
  }
  return {};
}

/// Returns the outermost operation around `user` such that no operation on a queue comes between
/// the begin of the one and the other, however often `user` runs.
Operation *ReadSinker::placeFor(Operation *user) const {
  for (Operation *parent = user->getParentOp(); parent != entry; parent = parent->getParentOp())
    if (!usesQueues(parent))
      user = parent;
  return user;
}

unsigned ReadSinker::partOf(Operation *place) {
  Block *block = place->getBlock();
  if (numbered.insert(block).second) {
    unsigned part = 0;
    for (Operation &op : *block) {
      parts[&op] = part;
      part += usesQueues(&op);
    }
  }
  return parts.lookup(place);
}

Value ReadSinker::copyBefore(Operation *place, Value value) {
  std::tuple key(value, place->getBlock(), partOf(place));
  if (Value known = copies.lookup(key))
    return known;
  Operation *producer = value.getDefiningOp();
  IRMapping mapping;
  if (!isa<ReadOp>(producer))
    mapping.map(producer->getOperand(0), copyBefore(place, producer->getOperand(0)));
  OpBuilder b(place);
  return copies[key] = b.clone(*producer, mapping)->getResult(0);
}

void ReadSinker::sinkFor(Operation *user) {
  for (OpOperand &operand : user->getOpOperands())
    if (ReadOp read = readOf(operand.get());
        read && sets.mayRunElsewhere(user, sets.deviceOf(read)))
      operand.set(copyBefore(placeFor(user), operand.get()));
}

void ReadSinker::run() {
  SmallVector<Operation *> users;
  entry.getBody().walk([&](Operation *op) {
    if (!isa<ReadOp>(op) && !sets.isCopied(op))
      users.push_back(op);
  });
  for (Operation *user : users)
    sinkFor(user);
  for (ReadOp read : llvm::make_early_inc_range(entry.getBody().getOps<ReadOp>()))
    if (read->use_empty())
      read.erase();
}

static void hoistReads(EntryOp entry) {
  Block &body = entry.getBody().front();
  DenseMap<Attribute, ReadOp> first;
  SmallVector<ReadOp> all;
  entry.getBody().walk([&](ReadOp read) { all.push_back(read); });
  for (ReadOp read : all) {
    auto [known, isNew] = first.try_emplace(read.getVariableAttr(), read);
    if (isNew) {
      read->moveBefore(&body, body.begin());
      continue;
    }
    read.getValue().replaceAllUsesWith(known->second.getValue());
    read.erase();
  }
}

namespace {
class SinkReads final : public impl::SinkReadsBase<SinkReads> {
public:
  void runOnOperation() override {
    forEachPlacedEntry(getOperation(), [](EntryOp entry, ArrayRef<DeviceAttr>, const FreeValues &,
                                          const DeviceSets &sets) {
      if (usesQueues(entry) && sets.getUsed().count() > 1)
        ReadSinker(entry, sets).run();
    });
  }
};

class HoistReads final : public impl::HoistReadsBase<HoistReads> {
public:
  void runOnOperation() override {
    if (devicesOf(getOperation()).size() < 2)
      return;
    for (auto entry : getOperation().getOps<EntryOp>())
      hoistReads(entry);
  }
};
} // namespace
} // namespace tfc
