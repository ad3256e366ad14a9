//===- NodeOrder.h - Dependences between nodes ----------------------------===//

#pragma once

#include "compiler/controlflow/Liveness.h"
#include <set>

namespace tfc::controlflow {

/// The required results of an acyclic graph, besides its effects.
struct Demand {
  llvm::SmallVector<Edge> values;
  llvm::SmallVector<Guard> guards;
};

/// The dependences of a set of nodes.
class NodeOrder {
public:
  /// `nodes` are sorted topologically; `known` holds where they run.
  NodeOrder(llvm::ArrayRef<Node *> nodes, const Demand &demand, Liveness &liveness, Guard known);

  /// Returns true if the node is needed.
  bool isNeeded(Node *node) const { return needed.contains(node); }
  /// Returns true if the value is read outside of `nodes`.
  bool isReadOutside(Edge value, const llvm::DenseSet<Node *> &nodes) const;
  llvm::ArrayRef<Node *> predecessors(Node *node) const;

private:
  void addNeeded(llvm::ArrayRef<Node *> nodes, const Demand &demand);
  void addUses(const Node &node, llvm::SetVector<Edge> &uses);
  void addLeaves(Guard guard, llvm::SetVector<Edge> &uses);
  void addOrder(llvm::ArrayRef<Node *> nodes);

  Liveness &liveness;
  Guard known;
  llvm::DenseSet<Node *> needed;
  llvm::DenseSet<Edge> demanded;
  llvm::DenseMap<Edge, llvm::SmallVector<Node *, 2>> readers;
  llvm::DenseMap<Node *, llvm::SmallVector<Node *>> before;
};

/// Nodes of an order that have not been created yet, with their dependences.
class WaitingNodes {
public:
  WaitingNodes(const NodeOrder &order, llvm::ArrayRef<Node *> nodes);

  bool isEmpty() const { return ready.empty(); }
  /// The nodes that depend on none of the others, in order.
  llvm::SmallVector<Node *> getReady() const;
  /// The first nodes that have not been taken, no more than `most`.
  llvm::SmallVector<Node *> getWaiting(size_t most) const;
  void take(Node *node);

private:
  llvm::ArrayRef<Node *> nodes;
  llvm::DenseMap<Node *, unsigned> position;
  llvm::SmallVector<llvm::SmallVector<unsigned>> successors;
  llvm::SmallVector<unsigned> missing;
  std::set<unsigned> ready;
  llvm::SmallVector<bool> isTaken;
  unsigned firstWaiting = 0;
};

} // namespace tfc::controlflow
