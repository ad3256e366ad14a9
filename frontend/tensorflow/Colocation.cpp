// Nodes that shall be on one device.

#include "frontend/tensorflow/Colocation.h"
#include "frontend/tensorflow/Rules.h"
#include "llvm/ADT/IntEqClasses.h"

using namespace llvm;

namespace tfc::tensorflow {

namespace {
/// Nodes that shall be on one device: the one that they name, and their variables and queues.
struct Group {
  dfg::DeviceName device;
  std::vector<unsigned> states;
};
} // namespace

static bool isState(const Node &node) { return hasFlag(node.op, OpRule::Declares); }

/// Of a group without a device, no more variables and queues than these are named to each node.
static constexpr size_t kMostStates = 8;

/// Completes a name, unless the other one contradicts it.
static void complete(dfg::DeviceName &name, const dfg::DeviceName &other) {
  if (dfg::DeviceName::both(name, other))
    name = name.within(other);
}

/// Returns true if a name says more than the task.
static bool saysWhere(const dfg::DeviceName &name) { return !name.kind.empty() || name.index; }

static void findNeighbours(Graph &graph) {
  for (Node &node : graph.nodes)
    for (StringRef text : node.attr("_class").texts) {
      auto found = text.consume_front("loc:@") ? graph.byName.find(text) : graph.byName.end();
      if (found != graph.byName.end() && &graph.nodes[found->second] != &node &&
          !is_contained(node.neighbours, found->second))
        node.neighbours.push_back(found->second);
    }
}

static IntEqClasses groupsOf(const Graph &graph) {
  IntEqClasses groups(graph.nodes.size());
  for (auto [index, node] : enumerate(graph.nodes))
    for (unsigned neighbour : node.neighbours)
      groups.join(index, neighbour);
  groups.compress();
  return groups;
}

/// Nodes that name another device than a neighbour stay there.
static void dropContradictions(Graph &graph) {
  for (Node &node : graph.nodes)
    llvm::erase_if(node.neighbours, [&](unsigned neighbour) {
      return !dfg::DeviceName::both(node.device, graph.nodes[neighbour].device);
    });
}

void colocate(Graph &graph) {
  findNeighbours(graph);
  IntEqClasses groupOf = groupsOf(graph);
  std::vector<Group> groups(groupOf.getNumClasses());
  std::vector<dfg::DeviceName> devices;
  for (auto [index, node] : enumerate(graph.nodes)) {
    Group &group = groups[groupOf[index]];
    complete(group.device, node.device);
    if (isState(node))
      group.states.push_back(index);
    dfg::DeviceName &device = devices.emplace_back(node.device);
    for (unsigned neighbour : node.neighbours)
      complete(device, graph.nodes[neighbour].device);
  }
  for (auto [index, node] : enumerate(graph.nodes)) {
    const Group &group = groups[groupOf[index]];
    node.device = devices[index];
    complete(node.device, group.device);
    bool isNextToState =
        any_of(node.neighbours, [&](unsigned i) { return isState(graph.nodes[i]); });
    if (node.neighbours.empty() || isNextToState || saysWhere(node.device))
      continue;
    for (unsigned state : ArrayRef(group.states).take_front(kMostStates))
      if (state != index)
        node.neighbours.push_back(state);
  }
  dropContradictions(graph);
}

} // namespace tfc::tensorflow
