//===- Clusters.cpp - The units that are placed as one --------------------===//
//
// Cheap operations stay with a neighbour, so that placement does not cut what fusion would join.
//
//===----------------------------------------------------------------------===//

#include "compiler/placement/EntryGraph.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::placement {

std::vector<bool> PlacementContext::allowedBy(const DeviceName &name) const {
  std::vector<bool> allowed(machine.size());
  for (auto [number, device] : llvm::enumerate(machine.getNames()))
    allowed[number] = DeviceName::both(name, device).has_value();
  return allowed;
}

std::vector<bool> PlacementContext::allowedFor(Groups::Id group) const {
  if (Operation *state = groups.stateOf(group))
    if (std::optional<unsigned> device = placed.deviceOf(state))
      return allowedBy(machine.getNames()[*device]);
  std::optional<Groups::Constraint> constraint = groups.constraintOf(group);
  DeviceName wanted = constraint ? constraint->device : DeviceName();
  // Queues and reads of files and feeds are on hosts.
  if (groups.staysOnHost(group)) {
    std::optional<DeviceName> host = DeviceName::both(wanted, {"", {}, callersDevice().kind, {}});
    bool isByDefault = !constraint && defaultDevice &&
                       machine.getNames()[*defaultDevice].kind != callersDevice().kind;
    if (isByDefault)
      return allowedBy(callersDevice());
    if (!host) {
      // The host of the device that was asked for.
      std::vector<bool> near = allowedBy({wanted.job, wanted.task, callersDevice().kind, {}});
      return llvm::is_contained(near, true) ? near : allowedBy(callersDevice());
    }
    wanted = *host;
  }
  std::vector<bool> allowed = allowedBy(wanted);
  if (defaultDevice && allowed[*defaultDevice])
    return allowedBy(machine.getNames()[*defaultDevice]);
  return allowed;
}

void EntryGraph::formUnits() {
  unsigned count = graph.tasks.size();
  producers.resize(count);
  consumers.resize(count);
  isAnchored.resize(count);
  classes.grow(count);
  for (unsigned task = 0; task < count; ++task)
    allowed.push_back(allowedFor(task));
  auto link = [&](const auto &edge) {
    if (edge.bytes < 0)
      return;
    double bytes = edge.bytes * edge.times;
    producers[edge.to].push_back({edge.from, bytes});
    consumers[edge.from].push_back({edge.to, bytes});
  };
  llvm::for_each(graph.edges, link);
  llvm::for_each(graph.backEdges, link);
  joinGroups();
  joinLoops();
  joinCheap();
  numberUnits();
}

/// Joins the classes of two tasks, unless no device may have both.
bool EntryGraph::join(unsigned a, unsigned b) {
  a = classes.findLeader(a);
  b = classes.findLeader(b);
  std::vector<bool> both(graph.deviceCount);
  for (unsigned device = 0; device < graph.deviceCount; ++device)
    both[device] = allowed[a][device] && allowed[b][device];
  if (!llvm::is_contained(both, true))
    return false;
  allowed[classes.join(a, b)] = both;
  return true;
}

/// Anchors what says where it is, groups, and heavy operations. All that is on the default device
/// is anchored there.
void EntryGraph::joinGroups() {
  llvm::DenseMap<Groups::Id, unsigned> first;
  join(0, graph.tasks.size() - 1);
  for (auto [task, op] : llvm::enumerate(operations)) {
    if (!op)
      continue;
    if (Groups::Id group = context.groups.groupOf(op)) {
      isAnchored[task] = true;
      join(first.try_emplace(group, task).first->second, task);
    } else {
      isAnchored[task] = context.defaultDevice || Work::isHeavy(op);
    }
  }
}

/// The devices on which a task can be.
std::vector<bool> EntryGraph::allowedFor(unsigned task) const {
  Operation *op = operations[task];
  return op ? context.allowedFor(context.groups.groupOf(op)) : context.allowedBy(callersDevice());
}

/// A loop in which nothing says where it is stays on one device: each iteration would wait for the
/// messages of the one before.
void EntryGraph::joinLoops() {
  llvm::MapVector<Operation *, SmallVector<unsigned>> loops;
  for (auto [task, op] : llvm::enumerate(operations)) {
    Operation *outermost = nullptr;
    for (Operation *around = op ? op->getParentOp() : entry; around != entry;
         around = around->getParentOp())
      if (isa<WhileOp>(around))
        outermost = around;
    if (outermost)
      loops[outermost].push_back(task);
  }
  for (auto &[loop, tasks] : loops) {
    bool isFree = llvm::all_of(tasks, [&](unsigned task) {
      return llvm::all_of(allowedFor(task), [](bool isAllowed) { return isAllowed; });
    });
    if (!isFree)
      continue;
    for (unsigned task : tasks) {
      join(tasks.front(), task);
      isAnchored[task] = true;
    }
  }
}

/// Joins a cheap operation with the anchored neighbour from or to which most bytes would cross.
/// Consumers count forward only if they are groups, such as a variable that is assigned.
bool EntryGraph::joinNeighbour(unsigned task, bool isForward) {
  const Neighbour *best = nullptr;
  auto consider = [&](const Neighbour &neighbour) {
    bool isHeavier = !best || neighbour.bytes > best->bytes;
    if (isAnchored[neighbour.task] && isHeavier)
      best = &neighbour;
  };
  llvm::for_each(producers[task], consider);
  for (const Neighbour &neighbour : consumers[task])
    if (Operation *op = operations[neighbour.task];
        op && (!isForward || isa<SymbolUserOpInterface>(op)))
      consider(neighbour);
  return isAnchored[task] = best && join(task, best->task);
}

/// First each joins a producer, and then those that read only feeds and constants join a consumer.
/// Cheap operations that are connected with nothing else stay together.
void EntryGraph::joinCheap() {
  unsigned count = operations.size();
  for (unsigned task = 1; task + 1 < count; ++task)
    if (!isAnchored[task])
      joinNeighbour(task, /*isForward=*/true);
  for (unsigned task = count - 1; task-- > 1;)
    if (!isAnchored[task])
      joinNeighbour(task, /*isForward=*/false);
  for (unsigned task = 1; task + 1 < count; ++task)
    if (!isAnchored[task])
      for (const Neighbour &neighbour : producers[task])
        if (neighbour.task != 0)
          join(task, neighbour.task);
}

void EntryGraph::numberUnits() {
  classes.compress();
  graph.units.assign(classes.getNumClasses(), {std::vector<bool>(graph.deviceCount, true)});
  for (unsigned task = 0; task < graph.tasks.size(); ++task) {
    unsigned unit = graph.tasks[task].unit = classes[task];
    std::vector<bool> own = allowedFor(task);
    for (unsigned device = 0; device < graph.deviceCount; ++device)
      graph.units[unit].allowed[device] = graph.units[unit].allowed[device] && own[device];
  }
}

} // namespace tfc::placement
