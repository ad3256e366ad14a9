//===- CopyToReaders.cpp - Copies of operations for each device -----------===//
//
// Copies what each device computes for itself. A pass of its own, because kernels depend on it also
// where entries are not divided: operations share a kernel only if they are on one device.
//
//===----------------------------------------------------------------------===//

#include "compiler/partition/DeviceSets.h"
#include "compiler/partition/Passes.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_COPYTOREADERS
#include "compiler/partition/Passes.h.inc"

using namespace partition;

namespace {

class Copier {
public:
  Copier(EntryOp entry, ArrayRef<DeviceAttr> devices, const FreeValues &free,
         const DeviceSets &sets)
      : entry(entry), devices(devices), free(free), sets(sets) {}

  void run();

private:
  void copy(Operation *op);
  void place(Operation *op, unsigned device);

  EntryOp entry;
  ArrayRef<DeviceAttr> devices;
  const FreeValues &free;
  const DeviceSets &sets;
};

} // namespace

void Copier::place(Operation *op, unsigned device) {
  if (device == 0)
    op->removeAttr(kDeviceAttr);
  else
    op->setAttr(kDeviceAttr, devices[device]);
}

/// Terminators, branches and loops read the value on any device: they read the original.
void Copier::copy(Operation *op) {
  llvm::SmallMapVector<unsigned, SmallVector<OpOperand *>, 4> readers;
  bool hasOthers = false;
  for (Value result : op->getResults())
    for (OpOperand &use : result.getUses()) {
      Operation *user = use.getOwner();
      if (user->getNumRegions() > 0 || user->hasTrait<OpTrait::IsTerminator>())
        hasOthers = true;
      else
        readers[sets.deviceOf(user)].push_back(&use);
    }
  if (readers.empty())
    return;
  if (!hasOthers)
    place(op, readers.front().first);
  unsigned own = sets.deviceOf(op);
  for (auto &[device, uses] : readers) {
    if (device == own)
      continue;
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    Operation *copy = b.clone(*op);
    place(copy, device);
    for (OpOperand *use : uses)
      use->set(copy->getResult(cast<OpResult>(use->get()).getResultNumber()));
  }
}

/// Visits readers before what they read.
void Copier::run() {
  SmallVector<Operation *> copied;
  entry.getBody().walk([&](Operation *op) {
    if (free.isCopied(op) && isOnDevice(op))
      copied.push_back(op);
  });
  for (Operation *op : llvm::reverse(copied))
    copy(op);
}

namespace {
class CopyToReaders final : public impl::CopyToReadersBase<CopyToReaders> {
public:
  void runOnOperation() override {
    forEachPlacedEntry(getOperation(),
                       [](EntryOp entry, ArrayRef<DeviceAttr> devices, const FreeValues &free,
                          const DeviceSets &sets) { Copier(entry, devices, free, sets).run(); });
  }
};
} // namespace
} // namespace tfc
