// Creates the symbols, weights and numbers that the host functions of a module share.

#include "compiler/host/HostModule.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/MemoryPlan.h"
#include "dialects/rt/Names.h"
#include "dialects/rt/Rt.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::host;

HostModule::HostModule(ModuleOp module)
    : module(module), symbols(module), devices(dfg::devicesOf(module)) {
  // Without partitions, all runs on the caller's device.
  bool isDivided = llvm::any_of(module.getOps<dfg::EntryOp>(),
                                [](dfg::EntryOp entry) { return bool(entry.getDeviceAttr()); });
  for (auto variable : module.getOps<dfg::VariableOp>()) {
    variableNumbers.try_emplace(variable.getSymNameAttr(), variableNumbers.size());
    auto device = variable->getAttrOfType<dfg::DeviceAttr>(dfg::kDeviceAttr);
    variableDevices.push_back(isDivided && device ? llvm::find(devices, device) - devices.begin()
                                                  : 0);
  }
  for (auto [number, grid] : llvm::enumerate(kernel::gridsOf(module)))
    gridNumbers.try_emplace(grid.getName(), number);
  for (auto queue : module.getOps<dfg::QueueOp>())
    queueNumbers.try_emplace(queue.getSymNameAttr(), queueNumbers.size());
  for (auto dataset : module.getOps<dfg::DatasetOp>())
    datasetNumbers.try_emplace(dataset.getSymNameAttr(), datasetNumbers.size());
}

LLVM::LLVMFuncOp HostModule::addFunction(const Twine &name, Type result, ArrayRef<Type> arguments,
                                         Location loc) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(result, arguments);
  auto function = LLVM::LLVMFuncOp::create(b, loc, name.str(), type);
  symbols.insert(function);
  return function;
}

LLVM::LLVMFuncOp HostModule::addEntryFunction(unsigned entry, StringRef name, Type result,
                                              ArrayRef<Type> arguments, Location loc) {
  LLVM::LLVMFuncOp function =
      addFunction(rt::entryFunctionName(entry, name), result, arguments, loc);
  rt::setEntryFunction(function);
  return function;
}

static int64_t bytesOf(ElementsAttr value) {
  return value.getNumElements() * dfg::elementBytes(value.getElementType());
}

/// Returns the offset of a value among the weights, which it becomes one of.
int64_t HostModule::offsetOf(ElementsAttr value) {
  auto [it, inserted] = weights.insert({value, weightBytes});
  if (inserted)
    weightBytes += llvm::alignTo(bytesOf(value), 64);
  return it->second;
}

unsigned HostModule::copiedConstant(ElementsAttr value, dfg::DeviceAttr device) {
  int64_t number = llvm::find(devices, device) - devices.begin();
  auto constant =
      rt::CopiedConstantAttr::get(module.getContext(), offsetOf(value), bytesOf(value), number);
  return copied.try_emplace(constant, copied.size()).first->second;
}

Value HostModule::weight(OpBuilder &b, Location loc, ElementsAttr value) {
  auto global = symbols.lookup<LLVM::GlobalOp>(rt::kWeightsName);
  if (!global) {
    OpBuilder top = OpBuilder::atBlockEnd(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
    global = LLVM::GlobalOp::create(top, module.getLoc(), type, /*isConstant=*/true,
                                    LLVM::Linkage::External, rt::kWeightsName, Attribute());
    global.setVisibility_(LLVM::Visibility::Hidden);
    symbols.insert(global);
  }
  Value base = LLVM::AddressOfOp::create(b, loc, global);
  Value offset = LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(offsetOf(value)));
  return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

void HostModule::finish() {
  MLIRContext *context = module.getContext();
  SmallVector<Attribute> all;
  for (auto &[value, offset] : weights)
    all.push_back(value);
  if (!all.empty())
    dfg::DfgDialect::WeightsAttrHelper(context).setAttr(module, ArrayAttr::get(context, all));
  if (llvm::any_of(variableDevices, [](int64_t device) { return device != 0; }))
    module->setAttr(rt::kVariableDevicesAttr, DenseI64ArrayAttr::get(context, variableDevices));
  if (!copied.empty())
    module->setAttr(
        rt::kCopiedConstantsAttr,
        ArrayAttr::get(context, llvm::to_vector_of<Attribute>(llvm::make_first_range(copied))));
  if (chunkCount > 0)
    dfg::DfgDialect::ChunksAttrHelper(context).setAttr(
        module, Builder(context).getI32IntegerAttr(chunkCount));
}
