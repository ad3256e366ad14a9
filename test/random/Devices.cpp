//===- Devices.cpp - Programs on several devices --------------------------===//
//
// Annotates finished programs with devices. It is apart from the generator because it changes none
// of its draws: a program without its annotations is the one that the generator makes.
//
//===----------------------------------------------------------------------===//

#include "Devices.h"
#include "compiler/pipeline/ModelInfo.h"
#include "compiler/pipeline/Pipeline.h"
#include "dialects/dfg/Devices.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

namespace {

class DeviceDrawer {
public:
  DeviceDrawer(ModuleOp module, Random random) : module(module), random(random) {}

  void run();

private:
  DeviceAttr draw();
  void joinLists(Operation *op);
  Value listOf(Operation *op);
  void visitBlock(Block &block, DeviceAttr outer);
  void visitRegions(Operation *op, DeviceAttr outer);
  void annotate(Operation *op, DeviceAttr outer);
  void declare(Operation *op);

  ModuleOp module;
  Random random;
  int64_t count = 1;                              // of devices
  double singles = 0, runs = 0, regions = 0;      // probabilities of annotations
  llvm::EquivalenceClasses<const void *> lists;   // that are on one device
  llvm::DenseMap<const void *, DeviceAttr> homes; // of lists, by the leader of their class
};

} // namespace

/// A device by its short or its whole name, sometimes a name that leaves the number open.
DeviceAttr DeviceDrawer::draw() {
  DeviceName device{"", std::nullopt, "cpu", random.below(count)};
  double choice = random.unit();
  if (choice < 0.2)
    device = device.within(callersDevice());
  else if (choice < 0.25)
    device.index.reset();
  return DeviceAttr::get(module.getContext(), device);
}

/// Lists that an operation or its regions exchange are on one device.
void DeviceDrawer::joinLists(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      llvm::append_range(values, block.getArguments());
      if (!block.empty() && block.back().hasTrait<OpTrait::IsTerminator>())
        llvm::append_range(values, block.back().getOperands());
    }
  llvm::erase_if(values, [](Value value) { return !isa<ListType>(value.getType()); });
  for (Value value : values)
    lists.unionSets(values.front().getAsOpaquePointer(), value.getAsOpaquePointer());
  for (NamedAttribute attribute : op->getAttrs()) // the tape of a list
    if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()); symbol && !values.empty())
      lists.unionSets(values.front().getAsOpaquePointer(), symbol.getAsOpaquePointer());
}

/// A list that the operation reads or makes.
Value DeviceDrawer::listOf(Operation *op) {
  for (ValueRange values : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
    for (Value value : values)
      if (isa<ListType>(value.getType()))
        return value;
  return {};
}

void DeviceDrawer::annotate(Operation *op, DeviceAttr outer) {
  if (!isOnDevice(op))
    return;
  DeviceAttr device = random.chance(singles) ? draw() : outer;
  if (Value list = listOf(op))
    device =
        homes.try_emplace(lists.getLeaderValue(list.getAsOpaquePointer()), device).first->second;
  if (device)
    op->setAttr(kDeviceAttr, device);
}

void DeviceDrawer::declare(Operation *op) {
  DeviceAttr device = random.chance(0.6) ? draw() : DeviceAttr();
  auto name = FlatSymbolRefAttr::get(cast<SymbolOpInterface>(op).getNameAttr());
  if (lists.contains(name.getAsOpaquePointer()))
    device =
        homes.try_emplace(lists.getLeaderValue(name.getAsOpaquePointer()), device).first->second;
  if (device)
    op->setAttr(kDeviceAttr, device);
}

void DeviceDrawer::visitRegions(Operation *op, DeviceAttr outer) {
  for (Region &region : op->getRegions()) {
    DeviceAttr inner = random.chance(regions) ? draw() : outer;
    for (Block &block : region)
      visitBlock(block, inner);
  }
}

void DeviceDrawer::visitBlock(Block &block, DeviceAttr outer) {
  int64_t left = 0; // of a run of operations that say the same
  DeviceAttr device = outer;
  for (Operation &op : block) {
    if (left > 0 && --left == 0)
      device = outer;
    if (left == 0 && random.chance(runs)) {
      left = random.between(2, 12);
      device = draw();
    }
    if (op.getNumRegions() > 0)
      visitRegions(&op, device);
    else
      annotate(&op, device);
  }
}

void DeviceDrawer::run() {
  count = random.pick(std::initializer_list<int64_t>{1, 2, 2, 2, 2, 3, 3, 4, 4});
  singles = random.pick(std::initializer_list<double>{0, 0.04, 0.1, 0.3, 0.6, 1});
  runs = random.pick(std::initializer_list<double>{0.03, 0.1, 0.3});
  regions = random.pick(std::initializer_list<double>{0, 0.2, 0.5});
  module.walk([&](Operation *op) { joinLists(op); });
  for (Operation &op : *module.getBody())
    if (isOnDevice(&op)) // a variable or a tape
      declare(&op);
  for (auto entry : module.getOps<EntryOp>())
    if (!entry.getInitializer())
      visitBlock(entry.getBody().front(), {});
}

/// Runs the stages up to the last one before placement. A program that they refuse stays as it is.
static void prepareForPlacement(Program &program) {
  Program copy = program.clone();
  PipelineOptions options;
  options.stopAfter = copy.after = "simplify";
  requireSizes(*copy.module);
  if (succeeded(runStages(*copy.module, options)))
    program = std::move(copy);
}

void drawDevices(Program &program, Random random) {
  if (random.chance(0.4))
    prepareForPlacement(program);
  DeviceDrawer(*program.module, random).run();
}

bool hasDevices(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    return op->hasAttr(kDeviceAttr) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

} // namespace tfc::random
