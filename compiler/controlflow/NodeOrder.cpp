//===- NodeOrder.cpp - Dependences between nodes --------------------------===//
//
// Computes which nodes are needed and which of them must precede others. RegionEmitter chooses
// among the orders that this file allows.
//
//===----------------------------------------------------------------------===//

#include "compiler/controlflow/NodeOrder.h"
#include "compiler/controlflow/Effects.h"
#include <numeric>

using namespace mlir;

namespace tfc::controlflow {

NodeOrder::NodeOrder(ArrayRef<Node *> nodes, const Demand &demand, Liveness &liveness, Guard known)
    : liveness(liveness), known(known) {
  for (auto [number, node] : llvm::enumerate(nodes))
    numbers[node] = number;
  before.resize(nodes.size());
  addNeeded(nodes, demand);
  addOrder(nodes);
}

bool NodeOrder::isReadOutside(Edge value, const DenseSet<Node *> &nodes) const {
  if (demanded.contains(value))
    return true;
  auto found = readers.find(value);
  return found != readers.end() &&
         llvm::any_of(found->second, [&](Node *reader) { return !nodes.contains(reader); });
}

void NodeOrder::addBefore(ArrayRef<Node *> predecessors, Node *node) {
  for (Node *predecessor : predecessors)
    if (auto known = numbers.find(predecessor); known != numbers.end() && predecessor != node)
      before[numberOf(node)].push_back(known->second);
}

void NodeOrder::addLeaves(Guard guard, SetVector<Edge> &uses) {
  for (Edge leaf : liveness.leavesOf(liveness.guards.simplify(guard, known)))
    uses.insert(resolve(leaf));
}

/// Adds the values that running `node` requires, including those of its guard.
void NodeOrder::addUses(const Node &node, SetVector<Edge> &uses) {
  addLeaves(liveness.of(&node), uses);
  for (Edge input : node.inputs) {
    uses.insert(resolve(input));
    if (node.kind == Kind::Merge || node.kind == Kind::Loop)
      addLeaves(liveness.of(input), uses);
  }
  if (node.kind != Kind::Loop)
    return;
  for (Node *inner : node.loop->head)
    addUses(*inner, uses);
  for (Node *inner : node.loop->body)
    addUses(*inner, uses);
}

void NodeOrder::addNeeded(ArrayRef<Node *> nodes, const Demand &demand) {
  SetVector<Edge> uses;
  for (Edge value : demand.values)
    uses.insert(resolve(value));
  for (Guard guard : demand.guards)
    addLeaves(guard, uses);
  demanded.insert(uses.begin(), uses.end());
  DenseSet<Node *> asked;
  for (Edge value : uses)
    asked.insert(value.first);
  for (Node *node : llvm::reverse(nodes)) {
    bool isEffect = !liveness.guards.exclude(known, liveness.of(node)) && hasEffects(*node);
    SmallVector<Node *> predecessors;
    addPredecessors(*node, predecessors);
    if (isEffect || asked.contains(node)) {
      needed.insert(node);
      SetVector<Edge> values;
      addUses(*node, values);
      for (Edge value : values) {
        asked.insert(value.first);
        readers[value].push_back(node);
        predecessors.push_back(value.first);
      }
    }
    addBefore(predecessors, node);
  }
}

/// Orders conflicting effects.
void NodeOrder::addOrder(ArrayRef<Node *> nodes) {
  SmallVector<std::pair<Node *, Effects>> effects;
  for (Node *node : nodes) {
    if (!needed.contains(node))
      continue;
    Effects own = effectsOf(*node);
    if (!own.any())
      continue;
    for (auto &[earlier, other] : effects)
      if (conflict(own, other))
        addBefore(earlier, node);
    effects.push_back({node, std::move(own)});
  }
}

//===----------------------------------------------------------------------===//
// WaitingNodes
//===----------------------------------------------------------------------===//

WaitingNodes::WaitingNodes(const NodeOrder &order, ArrayRef<Node *> nodes)
    : nodes(nodes), firstSuccessor(nodes.size() + 1), missing(nodes.size()), isTaken(nodes.size()) {
  static constexpr unsigned kNowhere = ~0u;
  std::vector<unsigned> numbers(nodes.size()), positions(order.size(), kNowhere);
  for (auto [i, node] : llvm::enumerate(nodes))
    positions[numbers[i] = order.numberOf(node)] = i;
  auto forEachEdge = [&](auto visit) {
    for (unsigned i = 0; i < nodes.size(); ++i)
      for (unsigned predecessor : order.predecessors(numbers[i]))
        if (positions[predecessor] != kNowhere)
          visit(positions[predecessor], i);
  };
  forEachEdge([&](unsigned from, unsigned to) {
    ++firstSuccessor[from + 1];
    ++missing[to];
  });
  std::partial_sum(firstSuccessor.begin(), firstSuccessor.end(), firstSuccessor.begin());
  successors.resize(firstSuccessor.back());
  std::vector<unsigned> next(firstSuccessor);
  forEachEdge([&](unsigned from, unsigned to) { successors[next[from]++] = to; });
  for (unsigned i = 0; i < nodes.size(); ++i)
    if (missing[i] == 0)
      ready.insert(ready.end(), i);
}

SmallVector<Node *> WaitingNodes::getWaiting(size_t most) const {
  SmallVector<Node *> waiting;
  for (unsigned i = firstWaiting; i < nodes.size() && waiting.size() < most; ++i)
    if (!isTaken[i])
      waiting.push_back(nodes[i]);
  return waiting;
}

void WaitingNodes::take(unsigned position) {
  ready.erase(position);
  isTaken.set(position);
  while (firstWaiting < nodes.size() && isTaken[firstWaiting])
    ++firstWaiting;
  for (unsigned i = firstSuccessor[position]; i < firstSuccessor[position + 1]; ++i)
    if (--missing[successors[i]] == 0)
      ready.insert(successors[i]);
}

} // namespace tfc::controlflow
