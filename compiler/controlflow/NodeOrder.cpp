//===- NodeOrder.cpp - Dependences between nodes --------------------------===//
//
// Computes which nodes are needed and which of them must precede others. RegionEmitter chooses
// among the orders that this file allows.
//
//===----------------------------------------------------------------------===//

#include "compiler/controlflow/NodeOrder.h"
#include "compiler/controlflow/Effects.h"

using namespace mlir;

namespace tfc::controlflow {

NodeOrder::NodeOrder(ArrayRef<Node *> nodes, const Demand &demand, Liveness &liveness, Guard known)
    : liveness(liveness), known(known) {
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

ArrayRef<Node *> NodeOrder::predecessors(Node *node) const { return before.find(node)->second; }

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
    before[node] = std::move(predecessors);
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
        before[node].push_back(earlier);
    effects.push_back({node, std::move(own)});
  }
}

//===----------------------------------------------------------------------===//
// WaitingNodes
//===----------------------------------------------------------------------===//

WaitingNodes::WaitingNodes(const NodeOrder &order, ArrayRef<Node *> nodes)
    : nodes(nodes), successors(nodes.size()), missing(nodes.size(), 0),
      isTaken(nodes.size(), false) {
  for (auto [i, node] : llvm::enumerate(nodes))
    position[node] = i;
  for (auto [i, node] : llvm::enumerate(nodes)) {
    for (Node *input : order.predecessors(node))
      if (auto found = position.find(input); found != position.end() && input != node) {
        successors[found->second].push_back(i);
        ++missing[i];
      }
    if (missing[i] == 0)
      ready.insert(i);
  }
}

SmallVector<Node *> WaitingNodes::getReady() const {
  return llvm::map_to_vector(ready, [&](unsigned i) { return nodes[i]; });
}

SmallVector<Node *> WaitingNodes::getWaiting(size_t most) const {
  SmallVector<Node *> waiting;
  for (unsigned i = firstWaiting; i < nodes.size() && waiting.size() < most; ++i)
    if (!isTaken[i])
      waiting.push_back(nodes[i]);
  return waiting;
}

void WaitingNodes::take(Node *node) {
  unsigned i = position.find(node)->second;
  ready.erase(i);
  isTaken[i] = true;
  while (firstWaiting < nodes.size() && isTaken[firstWaiting])
    ++firstWaiting;
  for (unsigned successor : successors[i])
    if (--missing[successor] == 0)
      ready.insert(successor);
}

} // namespace tfc::controlflow
