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
  bool isElsewhere(Operation *user, ReadOp read) const;
  ReadOp readOf(Value value) const;
  Operation *placeFor(Operation *user) const;
  Value copyBefore(Operation *place, Value value);
  unsigned partOf(Operation *place) const;

  EntryOp entry;
  const DeviceSets &sets;
  /// The copies of a value in a block, by the number of operations on queues before them.
  DenseMap<std::tuple<Value, Block *, unsigned>, Value> copies;
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

/// Branches, loops and terminators may be on several devices.
bool ReadSinker::isElsewhere(Operation *user, ReadOp read) const {
  bool isLeaf = user->getNumRegions() == 0 && !user->hasTrait<OpTrait::IsTerminator>();
  return !isLeaf || sets.deviceOf(user) != sets.deviceOf(read);
}

/// Returns the outermost operation around `user` such that no operation on a queue comes between
/// the begin of the one and the other, however often `user` runs.
Operation *ReadSinker::placeFor(Operation *user) const {
  for (Operation *parent = user->getParentOp(); parent != entry; parent = parent->getParentOp())
    if (!usesQueues(parent))
      user = parent;
  return user;
}

unsigned ReadSinker::partOf(Operation *place) const {
  unsigned part = 0;
  for (Operation &op : *place->getBlock()) {
    if (&op == place)
      break;
    part += usesQueues(&op);
  }
  return part;
}

Value ReadSinker::copyBefore(Operation *place, Value value) {
  auto [known, isNew] = copies.try_emplace({value, place->getBlock(), partOf(place)}, Value());
  if (!isNew)
    return known->second;
  Operation *producer = value.getDefiningOp();
  IRMapping mapping;
  if (!isa<ReadOp>(producer))
    mapping.map(producer->getOperand(0), copyBefore(place, producer->getOperand(0)));
  OpBuilder b(place);
  Value copy = b.clone(*producer, mapping)->getResult(0);
  return copies[{value, place->getBlock(), partOf(place)}] = copy;
}

void ReadSinker::sinkFor(Operation *user) {
  for (OpOperand &operand : user->getOpOperands())
    if (ReadOp read = readOf(operand.get()); read && isElsewhere(user, read))
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
