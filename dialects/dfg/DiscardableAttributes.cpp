// Discardable attributes of the dialect: what modules say about their code, what stages say to
// later ones about single operations, and the names of feeds and fetches. The dialect verifies
// them, because no operation defines them.

#include "dialects/dfg/Cluster.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/SizeLimits.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace tfc::dfg;

static LogicalResult verifyWeights(Operation *op, Attribute attribute) {
  auto weights = dyn_cast<ArrayAttr>(attribute);
  auto isWeight = [](Attribute weight) {
    return isa<DenseElementsAttr, DenseResourceElementsAttr>(weight) &&
           isDtype(cast<ElementsAttr>(weight).getElementType());
  };
  if (!weights || !llvm::all_of(weights, isWeight))
    return op->emitOpError("expects tensors as weights");
  for (Attribute weight : weights)
    if (!hasData(cast<ElementsAttr>(weight)))
      return op->emitOpError("expects the data of ")
             << cast<ElementsAttr>(weight).getType() << " in a resource";
  return success();
}

static LogicalResult verifyChunks(Operation *op, Attribute attribute) {
  auto count = dyn_cast<IntegerAttr>(attribute);
  if (count && count.getType().isSignlessInteger(32) && count.getInt() >= 0 &&
      count.getInt() <= kMaxChunks)
    return success();
  return op->emitOpError("expects a number of chunks up to ")
         << kMaxChunks << ", but got " << attribute;
}

static LogicalResult verifyFingerprint(Operation *op, Attribute attribute) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  if (number && number.getType().isSignlessInteger(64))
    return success();
  return op->emitOpError("expects an i64 as its fingerprint, but got ") << attribute;
}

static LogicalResult verifyProbeFunction(Operation *op, Attribute attribute) {
  auto address = dyn_cast<IntegerAttr>(attribute);
  if (address && address.getType().isSignlessInteger(64))
    return success();
  return op->emitOpError("expects the address of a function, but got ") << attribute;
}

/// The jobs of a module whose entries may run in several processes.
static LogicalResult verifyCluster(Operation *op, Attribute attribute) {
  auto jobs = dyn_cast<ArrayAttr>(attribute);
  if (!jobs || jobs.empty() || !llvm::all_of(jobs, llvm::IsaPred<JobAttr>))
    return op->emitOpError("expects jobs, but got ") << attribute;
  llvm::SmallDenseSet<Attribute> seen;
  for (JobAttr job : jobs.getAsRange<JobAttr>())
    if (!seen.insert(job.getName()).second)
      return op->emitOpError("has the job ") << job.getName() << " twice";
  return success();
}

/// The devices of a placed module: whole names, the caller's first, none twice.
static LogicalResult verifyDevices(Operation *op, Attribute attribute) {
  auto devices = dyn_cast<ArrayAttr>(attribute);
  auto isWhole = [](Attribute device) {
    return isa<DeviceAttr>(device) && cast<DeviceAttr>(device).getDevice().isWhole();
  };
  if (!devices || devices.empty() || !llvm::all_of(devices, isWhole))
    return op->emitOpError("expects whole names of devices, but got ") << attribute;
  if (cast<DeviceAttr>(devices[0]).getDevice() != callersDevice())
    return op->emitOpError("expects ") << callersDevice().str() << " as the first device";
  llvm::SmallDenseSet<Attribute> seen;
  for (Attribute device : devices)
    if (!seen.insert(device).second)
      return op->emitOpError("has the device ") << device << " twice";
  return success();
}

/// Returns true if the attribute gives a whole device for each result of a branch or loop.
static bool areHomes(Operation *op, Attribute attribute) {
  auto homes = dyn_cast<ArrayAttr>(attribute);
  return isa<IfOp, WhileOp>(op) && homes && homes.size() == op->getNumResults() &&
         llvm::all_of(homes, [](Attribute home) {
           return isa<DeviceAttr>(home) && cast<DeviceAttr>(home).getDevice().isWhole();
         });
}

/// Returns true if the attribute numbers carried tensors of a loop.
static bool areSingleBuffers(Operation *op, Attribute attribute) {
  auto carried = dyn_cast<DenseI64ArrayAttr>(attribute);
  return isa<WhileOp>(op) && carried && llvm::all_of(carried.asArrayRef(), [&](int64_t i) {
           return i >= 0 && i < op->getNumResults() &&
                  isa<RankedTensorType>(op->getResultTypes()[i]);
         });
}

static bool canBeInRegister(Operation *op, Attribute attribute) {
  return isa<UnitAttr>(attribute) && isa<ScalarOpInterface>(op) &&
         llvm::all_of(op->getOperandTypes(), isRegisterType) &&
         llvm::all_of(op->getResultTypes(), isRegisterType);
}

static bool canBeStored(Operation *op, Attribute attribute) {
  return isa<UnitAttr>(attribute) && op->hasTrait<ViewRole>();
}

static bool areSymbols(Operation *op, Attribute attribute) {
  auto symbols = dyn_cast<ArrayAttr>(attribute);
  return isOnDevice(op) && symbols && !symbols.empty() &&
         llvm::all_of(symbols, llvm::IsaPred<FlatSymbolRefAttr>);
}

/// Of a kernel, the kind of the devices that it is for.
static bool isDevice(Operation *op, Attribute attribute) {
  return (isOnDevice(op) || isa<KernelOp>(op)) && isa<DeviceAttr>(attribute);
}

static bool isEpoch(Operation *op, Attribute attribute) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  return isOnDevice(op) && number && number.getType().isInteger(32) && number.getInt() > 0;
}

static bool isListNumber(Operation *op, Attribute attribute) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  return llvm::any_of(op->getResultTypes(), llvm::IsaPred<ListType>) && number &&
         number.getType().isInteger(32);
}

LogicalResult DfgDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  using Verifier = LogicalResult (*)(Operation *, Attribute);
  static constexpr std::pair<StringLiteral, Verifier> kOfModules[] = {
      {WeightsAttrHelper::getNameStr(), verifyWeights},
      {ChunksAttrHelper::getNameStr(), verifyChunks},
      {kClusterAttr, verifyCluster},
      {kFingerprintAttr, verifyFingerprint},
      {kDevicesAttr, verifyDevices},
      {ProbeFunctionAttrHelper::getNameStr(), verifyProbeFunction}};
  using Predicate = bool (*)(Operation *, Attribute);
  static constexpr std::pair<StringLiteral, Predicate> kOfOperations[] = {
      {InRegisterAttrHelper::getNameStr(), canBeInRegister},
      {StoredAttrHelper::getNameStr(), canBeStored},
      {SingleBuffersAttrHelper::getNameStr(), areSingleBuffers},
      {kDeviceAttr, isDevice},
      {kEpochAttr, isEpoch},
      {kListAttr, isListNumber},
      {kHomesAttr, areHomes},
      {kColocateAttr, areSymbols}};
  for (auto [name, verify] : kOfModules) {
    if (attribute.getName() != name)
      continue;
    if (!isa<ModuleOp>(op))
      return op->emitOpError("cannot have the attribute '")
             << name << "': it is an attribute of modules";
    return verify(op, attribute.getValue());
  }
  for (auto [name, isValid] : kOfOperations)
    if (attribute.getName() == name && !isValid(op, attribute.getValue()))
      return op->emitOpError("has an invalid attribute '") << name << "'";
  return success();
}

static LogicalResult verifyValueAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != kNameAttr || isa<StringAttr>(attribute.getValue()))
    return success();
  return op->emitOpError("expects a string as 'dfg.name', but got ") << attribute.getValue();
}

LogicalResult DfgDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                   NamedAttribute attribute) {
  return verifyValueAttribute(op, attribute);
}

LogicalResult DfgDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                                      NamedAttribute attribute) {
  return verifyValueAttribute(op, attribute);
}
