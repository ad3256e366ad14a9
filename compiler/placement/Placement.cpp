//===- Placement.cpp - The devices of operations --------------------------===//
//
// Writes the decisions of placement as attributes.
//
//===----------------------------------------------------------------------===//

#include "compiler/placement/Placement.h"
#include "compiler/placement/Homes.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::placement {

std::optional<unsigned> Placement::deviceOf(Operation *op) const {
  auto known = numbers.find(op);
  return known == numbers.end() ? std::nullopt : std::optional(known->second);
}

namespace {
/// Writes attributes, and collects the devices that they name.
class AttributeWriter {
public:
  AttributeWriter(const Placement &placement, MLIRContext *context)
      : placement(placement), homes(placement), used(placement.getDevices().size()) {
    for (const DeviceName &device : placement.getDevices())
      devices.push_back(DeviceAttr::get(context, device));
    used.set(0);
  }

  void write(Operation *op) {
    op->removeAttr(kDeviceAttr);
    op->removeAttr(kColocateAttr);
    op->removeAttr(kHomesAttr);
    if (isa<IfOp, WhileOp>(op))
      writeHomes(op);
    else if (std::optional<unsigned> device = placement.deviceOf(op); device && *device != 0) {
      used.set(*device);
      if (isOnDevice(op))
        op->setAttr(kDeviceAttr, devices[*device]);
    }
  }

  void writeHomes(Operation *op) {
    SmallVector<Attribute> attributes;
    bool isElsewhere = false;
    for (Value result : op->getResults()) {
      unsigned home = homes.homeOf(result).value_or(0);
      isElsewhere |= home != 0;
      attributes.push_back(devices[home]);
    }
    if (isElsewhere)
      op->setAttr(kHomesAttr, ArrayAttr::get(op->getContext(), attributes));
  }

  /// The devices that the module uses; null if that is the caller's alone.
  ArrayAttr getUsed(MLIRContext *context) const {
    SmallVector<Attribute> names;
    for (unsigned device : used.set_bits())
      names.push_back(devices[device]);
    return names.size() == 1 ? nullptr : ArrayAttr::get(context, names);
  }

private:
  const Placement &placement;
  Homes homes;
  SmallVector<Attribute> devices;
  llvm::SmallBitVector used;
};
} // namespace

void Placement::write(ModuleOp module) const {
  MLIRContext *context = module.getContext();
  AttributeWriter writer(*this, context);
  module.walk([&](Operation *op) { writer.write(op); });
  module->removeAttr(kDevicesAttr);
  if (ArrayAttr used = writer.getUsed(context))
    module->setAttr(kDevicesAttr, used);
}

} // namespace tfc::placement
