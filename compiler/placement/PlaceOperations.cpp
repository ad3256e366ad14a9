//===- PlaceOperations.cpp - Giving operations a device -------------------===//
//
// The pass: collects the devices that may be used, checks that operations can be where they ask to
// be, and places entry by entry. It stands before partition, which makes a function for each
// device, and before fusion, which may not join operations of two devices.
//
//===----------------------------------------------------------------------===//

#include "compiler/placement/EarlySends.h"
#include "compiler/placement/EntryGraph.h"
#include "compiler/placement/Explain.h"
#include "compiler/placement/Order.h"
#include "compiler/placement/Passes.h"
#include "compiler/placement/Replay.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::placement;

namespace tfc {
#define GEN_PASS_DEF_PLACEOPERATIONS
#include "compiler/placement/Passes.h.inc"

namespace {

class PlaceOperations final : public impl::PlaceOperationsBase<PlaceOperations> {
public:
  using Base::Base;

  void runOnOperation() override;

private:
  LogicalResult readCluster(Cluster &tasks);
  LogicalResult readDevices(Machine &machine);
  LogicalResult readDefault(Machine &machine, std::optional<unsigned> &number);
  LogicalResult checkConstraints(Groups &groups, const Machine &machine, const DeviceName &other);
  void placeEntry(EntryOp entry, const PlacementContext &context, Placement &placement);
};

} // namespace

/// Returns null, with an error, for a file that cannot be read.
static std::unique_ptr<llvm::MemoryBuffer> readFile(Location nowhere, StringRef path) {
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path)) {
    emitError(nowhere, "cannot read '") << path << "': not a regular file [devices]";
    return nullptr;
  }
  auto text = llvm::MemoryBuffer::getFile(path);
  if (text)
    return std::move(*text);
  emitError(nowhere, "cannot read '") << path << "': " << text.getError().message() << " [devices]";
  return nullptr;
}

/// Reads the tasks from the option or, if that is no list of them, from the file that it names.
LogicalResult PlaceOperations::readCluster(Cluster &tasks) {
  if (cluster.empty()) {
    tasks = Cluster::of(getOperation());
    return success();
  }
  Location nowhere = UnknownLoc::get(&getContext());
  std::string text = cluster, reason;
  if (!StringRef(cluster).contains('=')) {
    auto file = readFile(nowhere, cluster);
    if (!file)
      return failure();
    text = file->getBuffer().str();
  }
  std::optional<Cluster> read = Cluster::parse(text, reason);
  if (!read)
    return emitError(nowhere, "'")
           << cluster << "' does not describe a cluster: " << reason << " [devices]";
  tasks = *read;
  tasks.write(getOperation());
  return success();
}

/// Adds the devices of the file.
LogicalResult PlaceOperations::readDevices(Machine &machine) {
  if (devices.empty())
    return success();
  Location nowhere = UnknownLoc::get(&getContext());
  std::string reason;
  auto text = readFile(nowhere, devices);
  if (!text)
    return failure();
  if (!machine.read(text->getBuffer(), reason))
    return emitError(nowhere, "'")
           << devices << "' does not describe devices: " << reason << " [devices]";
  return success();
}

/// The word by which `tfc explain` knows the refusal of a device.
static constexpr StringLiteral kRefusal = " [bad-device]";

LogicalResult PlaceOperations::readDefault(Machine &machine, std::optional<unsigned> &number) {
  if (device.empty())
    return success();
  Location nowhere = UnknownLoc::get(&getContext());
  std::string reason;
  std::optional<DeviceName> name = DeviceName::parse(device, reason);
  if (!name)
    return emitError(nowhere, "'") << device << "' is not a device: " << reason << " [devices]";
  if (!machine.isSupported(*name))
    return emitError(nowhere) << "--device '" << device << "': " << machine.refusalOf(*name)
                              << kRefusal;
  number = machine.add(complete(*name));
  return success();
}

/// Refuses devices without kernels, or moves what asks for them to `other`. Each is reported once,
/// where the first operation asks for it; the others are counted.
LogicalResult PlaceOperations::checkConstraints(Groups &groups, const Machine &machine,
                                                const DeviceName &other) {
  llvm::MapVector<std::string, SmallVector<Groups::Constraint>, llvm::StringMap<unsigned>> refused;
  for (const Groups::Constraint &constraint : groups.requests())
    if (!machine.isSupported(constraint.device))
      refused[constraint.device.str()].push_back(constraint);
  for (const auto &[name, constraints] : refused) {
    const Groups::Constraint &first = constraints.front();
    std::string refusal = machine.refusalOf(first.device);
    InFlightDiagnostic diagnostic = soft ? first.source->emitWarning(refusal)
                                               << ": this is on " << other.str() << " instead"
                                         : first.source->emitError(refusal);
    diagnostic << kRefusal;
    if (constraints.size() > 1)
      diagnostic.attachNote(constraints[1].source->getLoc())
          << "this asks for it, too"
          << (constraints.size() > 2 ? ", and " + std::to_string(constraints.size() - 2) + " more"
                                     : "");
    for (const Groups::Constraint &constraint : constraints)
      if (soft)
        groups.setConstraint({other, constraint.source});
  }
  return success(soft || refused.empty());
}

/// A division whose modelled gain is smaller than this is not worth the error of the model:
/// measured gains of training steps are 0.4 to 0.7 of the modelled ones.
static constexpr double kWorthwhile = 0.1;
/// The seconds after which the thread of another device begins its part of a call, if it sleeps.
static constexpr double kWakeSeconds = 20e-6;

/// Returns true if a schedule is better than leaving all of an entry to the caller.
static bool isWorthwhile(const EntryGraph &graph, const Schedule &schedule, const Schedule &single,
                         ArrayRef<Operation *> body) {
  if (llvm::any_of(single.devices, [](unsigned device) { return device != 0; }))
    return true;
  double seconds = replay(graph, schedule, body) + kWakeSeconds;
  return seconds < (1 - kWorthwhile) * single.makespan;
}

/// Schedules an entry, given what other entries have placed.
void PlaceOperations::placeEntry(EntryOp entry, const PlacementContext &context,
                                 Placement &placement) {
  EntryGraph graph(entry, context);
  Scheduler scheduler(graph.getTasks());
  Schedule schedule = scheduler.run(), single = scheduler.getSingles().front();
  BlockOrders orders = orderByStart(entry, [&](Operation *op) {
    std::optional<unsigned> task = graph.taskOf(op);
    return task ? std::optional(schedule.starts[*task]) : std::nullopt;
  });
  if (!isWorthwhile(graph, schedule, single, orders[&entry.getBody().front()]))
    schedule = single;
  if (printReport)
    explain(llvm::errs(), entry, graph, scheduler, schedule, context);
  bool isDivided = false;
  for (auto [task, op] : llvm::enumerate(graph.getOperations())) {
    if (!op)
      continue;
    unsigned number = schedule.devices[graph.getTasks().tasks[task].unit];
    isDivided |= number != 0;
    placement.place(op, number);
    if (Operation *state = context.groups.stateOf(context.groups.groupOf(op)))
      placement.place(state, number);
  }
  if (!isDivided)
    return;
  sendEarly(entry, orders[&entry.getBody().front()], graph, schedule);
  applyOrders(orders);
}

/// Places declarations where their group is.
static void placeDeclarations(ModuleOp module, const PlacementContext &context,
                              Placement &placement) {
  auto decide = [&](Operation *op) -> unsigned {
    std::vector<bool> allowed = context.allowedFor(context.groups.groupOf(op));
    return llvm::find(allowed, true) - allowed.begin();
  };
  SmallVector<std::pair<Operation *, unsigned>> decided;
  for (Operation &op : module.getBody()->getOperations())
    if (isOnDevice(&op))
      decided.emplace_back(&op, decide(&op));
  for (auto [op, number] : decided)
    placement.place(op, number);
}

void PlaceOperations::runOnOperation() {
  ModuleOp module = getOperation();
  Groups groups;
  Cluster tasks;
  if (failed(readCluster(tasks)))
    return signalPassFailure();
  Machine machine(tasks);
  std::optional<unsigned> defaultDevice;
  bool isRead = succeeded(readDevices(machine)) && succeeded(readDefault(machine, defaultDevice));
  DeviceName other = machine.getNames()[defaultDevice.value_or(0)];
  if (!isRead || failed(groups.build(module)) || failed(checkConstraints(groups, machine, other)))
    return signalPassFailure();
  for (const Groups::Constraint &constraint : groups.constraints()) {
    DeviceName device = complete(constraint.device);
    machine.add(device);
    // Queues and reads of feeds need the host of their own task.
    if (groups.staysOnHost(groups.groupOf(constraint.source)))
      machine.add(complete({device.job, device.task, callersDevice().kind, {}}));
  }

  Placement placement(machine.getNames());
  PlacementContext context{groups, machine, placement, defaultDevice};
  if (machine.size() > 1) {
    SmallVector<std::pair<double, EntryOp>> entries;
    for (auto entry : module.getOps<EntryOp>())
      entries.emplace_back(EntryGraph(entry, context).getTotal(), entry);
    llvm::stable_sort(entries, [](auto &a, auto &b) { return a.first > b.first; });
    for (auto [total, entry] : entries)
      placeEntry(entry, context, placement);
    placeDeclarations(module, context, placement);
  } else if (printReport) {
    explainSingle(llvm::errs(), module);
  }
  placement.write(module);
  module.walk([](Operation *op) { op->removeAttr(kListAttr); });
  deviceCount += devicesOf(module).size();
}

} // namespace tfc
