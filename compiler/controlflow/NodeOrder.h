//===- NodeOrder.h - Dependences between nodes ----------------------------===//

#pragma once

#include "compiler/controlflow/Liveness.h"
#include "llvm/ADT/BitVector.h"
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
  /// The number of a node, by which others depend on it.
  unsigned numberOf(Node *node) const { return numbers.find(node)->second; }
  unsigned size() const { return before.size(); }
  /// The numbers of the nodes that must precede another one.
  llvm::ArrayRef<unsigned> predecessors(unsigned number) const { return before[number]; }

private:
  void addBefore(llvm::ArrayRef<Node *> predecessors, Node *node);
  void addNeeded(llvm::ArrayRef<Node *> nodes, const Demand &demand);
  void addUses(const Node &node, llvm::SetVector<Edge> &uses);
  void addLeaves(Guard guard, llvm::SetVector<Edge> &uses);
  void addOrder(llvm::ArrayRef<Node *> nodes);

  Liveness &liveness;
  Guard known;
  llvm::DenseSet<Node *> needed;
  llvm::DenseSet<Edge> demanded;
  llvm::DenseMap<Edge, llvm::SmallVector<Node *, 2>> readers;
  llvm::DenseMap<Node *, unsigned> numbers;
  std::vector<llvm::SmallVector<unsigned, 4>> before;
};

/// Nodes of an order that have not been created yet, with their dependences. Nodes are referred to
/// by their positions among those with which it began. Nested regions have a set each, so it is
/// built in few passes over arrays.
class WaitingNodes {
public:
  WaitingNodes(const NodeOrder &order, llvm::ArrayRef<Node *> nodes);

  Node *operator[](unsigned position) const { return nodes[position]; }
  bool isEmpty() const { return ready.empty(); }
  /// The nodes that depend on none of the others, in order.
  llvm::SmallVector<unsigned> getReady() const { return llvm::to_vector(ready); }
  Node *getFirstReady() const { return nodes[*ready.begin()]; }
  /// The first nodes that have not been taken, no more than `most`.
  llvm::SmallVector<Node *> getWaiting(size_t most) const;
  void take(unsigned position);

private:
  llvm::ArrayRef<Node *> nodes;
  /// The successors of all nodes, and where those of each begin.
  std::vector<unsigned> successors, firstSuccessor;
  /// The number of predecessors that have not been taken.
  std::vector<unsigned> missing;
  std::set<unsigned> ready;
  llvm::BitVector isTaken;
  unsigned firstWaiting = 0;
};

} // namespace tfc::controlflow
