// Nodes that shall be on one device.

#include "frontend/tensorflow/Colocation.h"
#include "frontend/tensorflow/Rules.h"
#include "llvm/ADT/IntEqClasses.h"

using namespace llvm;

namespace tfc::tensorflow {

namespace {
/// Nodes that shall be on one device: the one that they name, and their first variable or queue.
struct Group {
  dfg::DeviceName device;
  std::optional<unsigned> state;
};
} // namespace

static bool isState(const Node &node) { return hasFlag(node.op, OpRule::Handle); }

static void findNeighbours(Graph &graph) {
  for (Node &node : graph.nodes)
    for (StringRef text : node.attr("_class").texts) {
      auto found = text.consume_front("loc:@") ? graph.byName.find(text) : graph.byName.end();
      if (found != graph.byName.end() && &graph.nodes[found->second] != &node)
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
    group.device = group.device.within(node.device);
    if (!group.state && isState(node))
      group.state = index;
    dfg::DeviceName &device = devices.emplace_back(node.device);
    for (unsigned neighbour : node.neighbours)
      device = device.within(graph.nodes[neighbour].device);
  }
  for (auto [index, node] : enumerate(graph.nodes)) {
    const Group &group = groups[groupOf[index]];
    node.device = devices[index].within(group.device);
    if (node.device.isOpen() && group.state && *group.state != index &&
        !is_contained(node.neighbours, *group.state))
      node.neighbours.push_back(*group.state);
  }
  dropContradictions(graph);
}

} // namespace tfc::tensorflow
