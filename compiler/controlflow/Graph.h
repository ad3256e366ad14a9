//===- Graph.h - The nodes of a dataflow graph ----------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include <memory>

namespace tfc::controlflow {

enum class Kind {
  Outside, // a value from outside of the graph
  Plain,   // any other operation
  Switch,
  Merge,
  Enter,
  Exit,
  NextIteration,
  LoopCond,
  Forward,  // an exit or a condition of a frame that has become a loop
  Variable, // the merge at the start of a loop's iteration, once the loop is known
  Loop,     // a whole frame, once it is known to be a loop
};

struct Node;

/// A result of a node.
using Edge = std::pair<Node *, unsigned>;

/// A run of the same graph of operations; frames form a tree.
struct Frame {
  llvm::StringRef name;
  Frame *parent = nullptr;
  unsigned depth = 0;
  /// The first node that enters it.
  Node *entered = nullptr;
  llvm::SmallVector<Node *> nodes;
};

/// A value that a loop carries. The node of the loop has three results for each: the value with
/// which the loop ended, the index of its merge, and whether it is live.
struct LoopVariable {
  Node *node;
  Edge init, next;
  /// The positions of `init` and `next` among the merge's inputs.
  unsigned initIndex, nextIndex;
};

/// A frame in the form of a `dfg.while`.
struct Loop {
  llvm::SmallVector<LoopVariable> variables;
  Node *condition;
  /// The nodes that determine whether there is another iteration, and those of the iteration,
  /// topologically sorted.
  llvm::SmallVector<Node *> head, body;
  /// Values of the head that the body or nodes after the loop need and that must not be computed
  /// twice. If there are any, the head is placed before the loop and at the end of the body; the
  /// loop carries them, and its node has a result for each, after those of the variables.
  bool isRotated = false;
  llvm::SmallVector<Edge> shared;

  unsigned firstShared() const { return 3 * variables.size(); }
};

struct Node {
  Kind kind;
  /// Null for values from outside; for a loop the operation that enters its frame.
  mlir::Operation *op = nullptr;
  mlir::Value outside;
  /// The operands of `op`, with their edges. A loop has more edges: all values that its nodes read.
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<Edge> inputs;
  llvm::SmallVector<Node *> after;
  /// The loops whose last iteration contains this node.
  llvm::SmallVector<Node *> ended;
  /// Runs even after dead control inputs.
  bool always = false;
  unsigned order = 0;
  /// The frame in which it runs.
  Frame *frame = nullptr;
  /// For an enter, the frame that it enters.
  Frame *entered = nullptr;
  /// True for the copy of a condition that is evaluated after the loop has ended.
  bool isLast = false;
  /// The node is never executed: it represents the liveness of `ghostOf`, a node of a loop's head,
  /// in the last iteration, and its values are those that the loop shares.
  Node *ghostOf = nullptr, *ghostLoop = nullptr;
  std::shared_ptr<Loop> loop;
};

struct Graph {
  dfg::DataflowOp op;
  std::vector<std::unique_ptr<Node>> storage;
  std::vector<std::unique_ptr<Frame>> frames;
  /// The nodes of the block, in its order.
  llvm::SmallVector<Node *> nodes;
  llvm::SmallVector<Edge> results;

  Node *create(Kind kind, mlir::Operation *op);
  /// A copy that shares only the operation.
  Node *copy(const Node &node);
};

/// Reads the block of `op`.
void buildGraph(dfg::DataflowOp op, Graph &graph);

/// An edge with the same value as `edge` if that is live: looks through switches, frames and nodes
/// without operations, which only forward.
Edge resolve(Edge edge);

mlir::Type typeOf(Edge edge);

/// The author's name of the operation, in quotes.
std::string nameOf(mlir::Operation *op);
inline std::string nameOf(const Node *node) { return nameOf(node->op); }

/// `a -> b -> c`, without the middle if there are many.
std::string namesOf(llvm::ArrayRef<Node *> path);

/// Adds the nodes that must precede `node`.
void addPredecessors(const Node &node, llvm::SmallVectorImpl<Node *> &predecessors);

/// Sorts the nodes so that each comes after its inputs, keeping their order as far as possible;
/// ignores edges out of `next_iteration` and from other nodes. If there is a cycle, sets `cycle`
/// and returns no nodes.
llvm::SmallVector<Node *> sortTopologically(llvm::ArrayRef<Node *> nodes,
                                            llvm::SmallVectorImpl<Node *> &cycle);

} // namespace tfc::controlflow
