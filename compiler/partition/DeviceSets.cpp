//===- DeviceSets.cpp - Where operations and values are -------------------===//
//
// Reads what placement has decided, and derives on which devices branches and loops run.
//
//===----------------------------------------------------------------------===//

#include "compiler/partition/DeviceSets.h"
#include "compiler/partition/LateReads.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/MemoryPlan.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::partition {

DeviceSets::DeviceSets(EntryOp entry, const FreeValues &free, const RunTimeSizes &sizes,
                       SymbolTable &symbols, ArrayRef<DeviceAttr> devices)
    : free(free), sizes(sizes), symbols(symbols), devices(devices), used(devices.size()) {
  used.set(0);
  entry.getBody().walk([&](Operation *op) { visit(op); });
  for (Operation &op : entry.getBody().front())
    findEverywhere(op);
}

unsigned DeviceSets::numberOf(Attribute device) const {
  return device ? llvm::find(devices, device) - devices.begin() : 0;
}

/// Returns the device of an operation without regions: operations on state are where it is.
unsigned DeviceSets::deviceOf(Operation *op) const {
  if (Attribute device = op->getAttr(kDeviceAttr))
    return numberOf(device);
  if (isa<SymbolUserOpInterface>(op))
    for (NamedAttribute attribute : op->getAttrs())
      if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()))
        if (Operation *state = symbols.lookup(symbol.getAttr()))
          return numberOf(state->getAttr(kDeviceAttr));
  return 0;
}

unsigned DeviceSets::homeOf(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  if (isa<EntryOp>(op))
    return 0;
  unsigned number = argument ? argument.getArgNumber() : cast<OpResult>(value).getResultNumber();
  auto known = homes.find(op);
  return known == homes.end() ? deviceOf(op) : known->second[number];
}

bool DeviceSets::runsOn(Operation *op, unsigned device) const {
  auto known = sets.find(op);
  return known == sets.end() ? deviceOf(op) == device : known->second.test(device);
}

bool DeviceSets::mayRunElsewhere(Operation *op, unsigned device) const {
  bool isLeaf = op->getNumRegions() == 0 && !op->hasTrait<OpTrait::IsTerminator>();
  return !isLeaf || isCopied(op) || deviceOf(op) != device;
}

unsigned DeviceSets::countOf(Operation *op) const {
  auto known = sets.find(op);
  return known == sets.end() ? 1 : known->second.count();
}

/// Operations are visited after those in their regions.
void DeviceSets::visit(Operation *op) {
  if (op->getNumRegions() > 0)
    visitRegions(op);
  else if (!free.isCopied(op) && !op->hasTrait<OpTrait::IsTerminator>())
    used.set(deviceOf(op));
}

/// Returns the device that `dfg.homes` gives to a result.
unsigned DeviceSets::attributeOf(Operation *op, unsigned result) const {
  auto attribute = op->getAttrOfType<ArrayAttr>(kHomesAttr);
  return attribute ? numberOf(attribute[result]) : 0;
}

void DeviceSets::visitRegions(Operation *op) {
  llvm::SmallBitVector set(devices.size());
  for (Region &region : op->getRegions())
    for (Operation &nested : region.front().without_terminator()) {
      auto known = sets.find(&nested);
      if (known != sets.end())
        set |= known->second;
      else if (!free.isCopied(&nested))
        set.set(deviceOf(&nested));
    }
  auto loop = dyn_cast<WhileOp>(op);
  auto isFree = [&](unsigned i) {
    return loop && free.contains(loop.getBodyBlock().getArgument(i));
  };
  SmallVector<unsigned> own;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    own.push_back(attributeOf(op, i));
    if (!isFree(i) && (loop || !op->getResult(i).use_empty()))
      set.set(own.back());
  }
  if (set.none())
    set.set(0);
  // A counter is on each of the devices, and one of them tells others its last value.
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    if (!set.test(own[i]))
      own[i] = set.find_first();
  used |= set;
  sets[op] = set;
  homes[op] = own;
}

llvm::SmallBitVector DeviceSets::devicesWith(Operation *op,
                                             function_ref<bool(Operation *)> has) const {
  llvm::SmallBitVector with(devices.size());
  op->walk([&](Operation *step) {
    if (step->getNumRegions() == 0 && !free.isCopied(step) && has(step))
      with.set(deviceOf(step));
  });
  return with;
}

llvm::SmallBitVector DeviceSets::devicesThatMayFail(Operation *op) const {
  if (anyWithin(op,
                [&](Operation *step) { return isa<CheckOp>(step) && sizes.isPartOfGuard(step); }))
    return used;
  return devicesWith(op, canFail);
}

/// Operations on queues in `op` may have to wait for checks on other devices, or be waited for by
/// reads there. Then these devices run the branches and loops around them too.
void DeviceSets::findEverywhere(Operation &op) {
  if (op.getNumRegions() == 0 || !usesQueues(&op))
    return;
  auto isAwaited = [&](Operation *nested) {
    bool isQueue = nested->getNumRegions() == 0 && usesQueues(nested);
    return WalkResult(isQueue && areReadsLate(nested, *this, &op) ? WalkResult::interrupt()
                                                                  : WalkResult::advance());
  };
  if (devicesThatMayFail(&op).count() < 2 && !op.walk(isAwaited).wasInterrupted())
    return;
  op.walk([&](Operation *nested) {
    if (nested->getNumRegions() > 0 && usesQueues(nested)) {
      everywhere.insert(nested);
      sets[nested] = used;
    }
  });
}

void forEachPlacedEntry(
    ModuleOp module,
    function_ref<void(EntryOp, ArrayRef<DeviceAttr>, const FreeValues &, const DeviceSets &)>
        visit) {
  SmallVector<DeviceAttr> devices = devicesOf(module);
  if (devices.size() < 2)
    return;
  SymbolTable symbols(module);
  for (auto entry : module.getOps<EntryOp>()) {
    FreeValues free(entry);
    RunTimeSizes sizes(entry);
    visit(entry, devices, free, DeviceSets(entry, free, sizes, symbols, devices));
  }
}

} // namespace tfc::partition
