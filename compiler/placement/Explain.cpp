//===- Explain.cpp - Why operations are where they are --------------------===//
//
// The report of `--placement=explain`.
//
//===----------------------------------------------------------------------===//

#include "compiler/placement/Explain.h"
#include "dialects/dfg/NodeName.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::placement {

/// The place in a file that a location leads to first.
static FileLineColRange fileOf(Location location) {
  FileLineColRange found;
  location->walk([&](Location nested) {
    found = dyn_cast<FileLineColRange>(nested);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

/// Names an operation or declaration and its place, as far as there is one.
static std::string describe(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op->getName().stripDialect();
  StringRef node = nodeOf(op->getLoc());
  if (auto symbol = dyn_cast<SymbolOpInterface>(op))
    os << " '" << symbol.getName() << "'";
  else if (!node.empty())
    os << " '" << node << "'";
  FileLineColRange file = fileOf(op->getLoc());
  if (file)
    os << " at " << file.getFilename().getValue();
  if (file && file.getStartLine() > 0) // imported graphs have no lines
    os << ':' << file.getStartLine() << ':' << file.getStartColumn();
  return text;
}

static auto inMicroseconds(double seconds) { return llvm::format("%.2f us", seconds * 1e6); }

namespace {
/// Prints the units of one entry.
class Explainer {
public:
  Explainer(llvm::raw_ostream &os, const EntryGraph &graph, const Scheduler &scheduler,
            const Schedule &schedule, const PlacementContext &context)
      : os(os), graph(graph), scheduler(scheduler), schedule(schedule), context(context),
        members(schedule.devices.size()) {
    for (auto [task, op] : llvm::enumerate(graph.getOperations()))
      if (op)
        members[graph.getTasks().tasks[task].unit].push_back(task);
  }

  void printUnits() {
    for (unsigned unit = 0; unit < members.size(); ++unit)
      if (!members[unit].empty())
        printUnit(unit);
  }
  void printSummary();

private:
  void printUnit(unsigned unit);
  void printReason(unsigned unit);
  Operation *operationOf(unsigned task) const { return graph.getOperations()[task]; }
  Groups::Id groupOf(unsigned unit) const;
  Operation *getHeaviest(unsigned unit) const;
  Operation *getRepresentative(unsigned unit) const;
  std::string nameOf(unsigned device) const { return context.machine.getNames()[device].str(); }

  llvm::raw_ostream &os;
  const EntryGraph &graph;
  const Scheduler &scheduler;
  const Schedule &schedule;
  const PlacementContext &context;
  std::vector<SmallVector<unsigned>> members; // tasks, by unit
};
} // namespace

/// The group of a unit's members, which may be followed by others that are in none.
Groups::Id Explainer::groupOf(unsigned unit) const {
  for (unsigned task : members[unit])
    if (Groups::Id group = context.groups.groupOf(operationOf(task)))
      return group;
  return nullptr;
}

Operation *Explainer::getHeaviest(unsigned unit) const {
  auto seconds = [&](unsigned task) {
    return graph.getTasks().tasks[task].seconds[schedule.devices[unit]];
  };
  return operationOf(*llvm::max_element(
      members[unit], [&](unsigned a, unsigned b) { return seconds(a) < seconds(b); }));
}

/// The state or the operation by which the report names a unit.
Operation *Explainer::getRepresentative(unsigned unit) const {
  Operation *state = context.groups.stateOf(groupOf(unit));
  return state ? state : getHeaviest(unit);
}

void Explainer::printUnit(unsigned unit) {
  Operation *state = context.groups.stateOf(groupOf(unit));
  os << "  " << describe(getRepresentative(unit));
  unsigned others = members[unit].size() - (state ? 0 : 1);
  if (others > 0)
    os << (state ? " with " : " and ") << others << (others == 1 ? " operation" : " operations");
  os << ": " << nameOf(schedule.devices[unit]);
  printReason(unit);
  os << '\n';
}

void Explainer::printReason(unsigned unit) {
  Groups::Id group = groupOf(unit);
  Operation *state = context.groups.stateOf(group);
  const std::vector<bool> &allowed = graph.getTasks().units[unit].allowed;
  bool hasChoice = llvm::count(allowed, true) > 1;
  if (std::optional<Groups::Constraint> constraint = context.groups.constraintOf(group)) {
    bool isMoved = !DeviceName::both(constraint->device, deviceOf(constraint->source));
    std::string asking = describe(constraint->source);
    bool isItself = asking == describe(getRepresentative(unit));
    os << (isMoved ? ", as " : ", which ") << (isItself ? "it" : asking) << " asks for by \""
       << deviceOf(constraint->source).str() << '"' << (isMoved ? ", but it cannot be there" : "");
  } else if (state && context.placed.deviceOf(state)) {
    os << ", where another entry has it";
  } else if (context.defaultDevice && !hasChoice) {
    os << ", the default device";
  }
  if (!hasChoice)
    return;
  os << "; finished after";
  std::vector<unsigned> devices = schedule.devices;
  bool isFirst = true;
  for (unsigned device = 0; device < allowed.size(); ++device) {
    if (!allowed[device])
      continue;
    devices[unit] = device;
    os << (isFirst ? " " : ", ") << inMicroseconds(scheduler.simulate(devices).makespan)
       << " if on " << nameOf(device);
    isFirst = false;
  }
}

void Explainer::printSummary() {
  double single = std::numeric_limits<double>::infinity();
  for (const Schedule &other : scheduler.getSingles())
    single = std::min(single, other.makespan);
  unsigned transfers = scheduler.countTransfers(schedule.devices);
  os << "  " << inMicroseconds(single) << " on one device as far as allowed, "
     << inMicroseconds(schedule.makespan) << " as placed, with about " << transfers
     << (transfers == 1 ? " transfer" : " transfers") << '\n';
}

void explain(llvm::raw_ostream &os, EntryOp entry, const EntryGraph &graph,
             const Scheduler &scheduler, const Schedule &schedule,
             const PlacementContext &context) {
  os << "placement of entry '" << entry.getSymName() << "':\n";
  Explainer explainer(os, graph, scheduler, schedule, context);
  explainer.printUnits();
  explainer.printSummary();
}

void explainSingle(llvm::raw_ostream &os, ModuleOp module) {
  for (auto entry : module.getOps<EntryOp>())
    os << "placement of entry '" << entry.getSymName() << "': all is on " << callersDevice().str()
       << ", as nothing names another device\n";
}

} // namespace tfc::placement
