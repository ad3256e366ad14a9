//===- Liveness.h - When each node of a graph is live ---------------------===//

#pragma once

#include "compiler/controlflow/Graph.h"
#include "compiler/controlflow/Guards.h"

namespace tfc::controlflow {

/// The liveness of the variables of a loop.
struct LoopLiveness {
  /// True for the variables that are live in every iteration; the others carry a flag.
  llvm::SmallVector<bool> isAlwaysLive;
  /// The condition that an iteration exists, over the flags; the condition that another one
  /// follows.
  Guard exists = kAlways, continues = kAlways;
  /// The condition that the last iteration existed, over the results of the loop's node.
  Guard hasEnded = kAlways;
};

/// The guards of nodes: Boolean functions of predicates, true if the node runs.
class Liveness {
public:
  /// Computes the guards of nodes that are sorted topologically, from those of earlier nodes; nodes
  /// without a guard are live.
  void analyze(llvm::ArrayRef<Node *> nodes, Guard exists = kAlways);

  /// Reports the node at which the guards became too large, after which the analysis stopped.
  mlir::LogicalResult check() const;

  Guard of(const Node *node) const;
  Guard of(Edge edge);
  /// The condition that `node` has run, for nodes after it: a loop may end without a last
  /// iteration.
  Guard done(Node *node);
  const LoopLiveness &ofLoop(const Node *node) const { return loops.find(node)->second; }

  /// The value of a scalar of type bool, over the leaves below.
  Guard valueOf(Edge predicate);
  /// The value that a variable of a guard represents.
  Edge leaf(unsigned variable) const { return leaves[variable]; }
  /// The values that `guard` depends on.
  llvm::SmallVector<Edge> leavesOf(Guard guard) const;

  Guards guards;

private:
  void numberLeaves(llvm::ArrayRef<Node *> nodes);
  bool isTooLarge() const;
  Guard guardOf(const Node &node, Guard exists);
  void analyzeLoop(Node *node);
  Guard analyzeIteration(const Loop &loop, LoopLiveness &info);
  Guard flag(Node *node, unsigned result) { return leafGuard({node, result}); }
  Guard guardOfPredicate(Edge edge);
  Guard leafGuard(Edge edge);
  Guard ofLoopResult(Edge edge);

  llvm::DenseMap<const Node *, Guard> known;
  llvm::DenseMap<const Node *, LoopLiveness> loops;
  llvm::DenseMap<Edge, unsigned> variables;
  llvm::SmallVector<Edge> leaves;
  Node *tooLarge = nullptr;
};

} // namespace tfc::controlflow
