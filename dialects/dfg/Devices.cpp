//===- Devices.cpp - Where operations shall be ----------------------------===//
//
// Reads and verifies the attributes about devices.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Devices.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/SizeOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace tfc::dfg {

DeviceAttr DeviceAttr::get(MLIRContext *context, const DeviceName &name) {
  return get(context, StringAttr::get(context, name.str()));
}

DeviceName DeviceAttr::getDevice() const {
  std::string reason;
  return *DeviceName::parse(getName().getValue(), reason);
}

LogicalResult DeviceAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr name) {
  std::string reason;
  std::optional<DeviceName> device = DeviceName::parse(name.getValue(), reason);
  if (!device)
    return emitError() << "'" << name.getValue() << "' " << reason;
  if (device->str() != name.getValue() || device->isOpen())
    return emitError() << "expects the name of a device as in '/job:a/task:0/device:cpu:0', but "
                          "got '"
                       << name.getValue() << "'";
  return success();
}

DeviceName callersDevice() { return {"local", 0, "cpu", 0}; }

bool hasOwnMemory(const DeviceName &device) {
  return !device.kind.empty() && device.kind != callersDevice().kind;
}

SmallVector<DeviceAttr> devicesOf(ModuleOp module) {
  if (auto devices = module->getAttrOfType<ArrayAttr>(kDevicesAttr))
    return llvm::to_vector(devices.getAsRange<DeviceAttr>());
  return {DeviceAttr::get(module.getContext(), callersDevice())};
}

bool isOnDevice(Operation *op) {
  // Files and feeds are on no device, so the operations that read them have one of their own.
  bool usesState = isa<SymbolUserOpInterface>(op) && !readsInput(op);
  bool isPlacedByOthers = usesState || isa<ConstantOp, SizeOp, BindSizeOp, DatasetOp>(op);
  return isa<DfgDialect>(op->getDialect()) && op->getNumRegions() == 0 && !isPlacedByOthers &&
         !op->hasTrait<OpTrait::IsTerminator>();
}

DeviceName deviceOf(Operation *op) {
  auto device = op->getAttrOfType<DeviceAttr>(kDeviceAttr);
  return device ? device.getDevice() : DeviceName();
}

SmallVector<FlatSymbolRefAttr> colocatedWith(Operation *op) {
  auto symbols = op->getAttrOfType<ArrayAttr>(kColocateAttr);
  return symbols ? llvm::to_vector(symbols.getAsRange<FlatSymbolRefAttr>())
                 : SmallVector<FlatSymbolRefAttr>();
}

SmallVector<NamedAttribute> placementAttrs(MLIRContext *context, const DeviceName &device,
                                           ArrayRef<std::string> symbols) {
  SmallVector<NamedAttribute> attributes;
  if (!symbols.empty()) {
    auto refer = [&](const std::string &name) -> Attribute {
      return FlatSymbolRefAttr::get(context, name);
    };
    attributes.emplace_back(StringAttr::get(context, kColocateAttr),
                            ArrayAttr::get(context, llvm::map_to_vector(symbols, refer)));
  }
  if (!device.isOpen())
    attributes.emplace_back(StringAttr::get(context, kDeviceAttr),
                            DeviceAttr::get(context, device));
  return attributes;
}

SmallVector<NamedAttribute> placementOf(Operation *op) {
  SmallVector<NamedAttribute> attributes;
  for (llvm::StringLiteral name : {kColocateAttr, kDeviceAttr})
    if (Attribute attribute = op->getAttr(name))
      attributes.emplace_back(StringAttr::get(op->getContext(), name), attribute);
  return attributes;
}

void clearPlacement(Operation *op) {
  op->removeAttr(kColocateAttr);
  op->removeAttr(kDeviceAttr);
}

void copyPlacement(Operation *from, Operation *to) {
  if (isOnDevice(to) && placementOf(to).empty())
    for (NamedAttribute attribute : placementOf(from))
      to->setAttr(attribute.getName(), attribute.getValue());
}

} // namespace tfc::dfg
