//===- CopyToReaders.cpp - Copies of operations for each device -----------===//
//
// Copies what each device computes for itself. A pass of its own, because kernels depend on it also
// where entries are not divided: operations share a kernel only if they are on one device.
//
//===----------------------------------------------------------------------===//

#include "compiler/partition/DeviceSets.h"
#include "compiler/partition/Passes.h"
#include "dialects/dfg/SizeOps.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_COPYTOREADERS
#include "compiler/partition/Passes.h.inc"

using namespace partition;

namespace {

class Copier {
public:
  Copier(EntryOp entry, SymbolTable &symbols, ArrayRef<DeviceAttr> devices)
      : entry(entry), devices(devices), free(entry), sets(entry, free, symbols, devices) {}

  void run();

private:
  void copy(Operation *op);
  void place(Operation *op, unsigned device);

  EntryOp entry;
  ArrayRef<DeviceAttr> devices;
  FreeValues free;
  DeviceSets sets;
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
    if (free.isCopied(op) && !isa<BindSizeOp, ConstantOp>(op) && !isa<SizeOp>(op))
      copied.push_back(op);
  });
  for (Operation *op : llvm::reverse(copied))
    copy(op);
}

namespace {
class CopyToReaders final : public impl::CopyToReadersBase<CopyToReaders> {
public:
  void runOnOperation() override {
    SmallVector<DeviceAttr> devices = devicesOf(getOperation());
    if (devices.size() < 2)
      return;
    SymbolTable symbols(getOperation());
    for (auto entry : getOperation().getOps<EntryOp>())
      Copier(entry, symbols, devices).run();
  }
};
} // namespace
} // namespace tfc
