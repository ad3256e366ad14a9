//===- Graph.h - The nodes of a dataflow graph ------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include <memory>

namespace tfc::controlflow {

enum class Kind {
  Outside, // a value from outside of the graph
  Plain,   // any operation that is none of the others
  Switch,
  Merge,
  Enter,
  Exit,
  NextIteration,
  LoopCond,
  Forward,  // an exit or a condition of a frame that is a loop already
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
  /// Where it is entered first.
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
  /// What decides whether there is another iteration, and what that iteration does, topologically
  /// sorted.
  llvm::SmallVector<Node *> head, body;
  /// Values of the head that the body or what follows the loop need and that must not be computed
  /// twice. If there are any, the head stands before the loop and at the end of the body; the loop
  /// carries them, and its node has a result for each, behind those of the variables.
  bool isRotated = false;
  llvm::SmallVector<Edge> shared;

  unsigned firstShared() const { return 3 * variables.size(); }
};

struct Node {
  Kind kind;
  /// Null for values from outside; of a loop the operation where its frame is entered.
  mlir::Operation *op = nullptr;
  mlir::Value outside;
  /// What `op` reads, with the edges that it comes by. A loop has more edges: all that its nodes
  /// read.
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<Edge> inputs;
  llvm::SmallVector<Node *> after;
  /// The loops of whose last iteration this node is a part.
  llvm::SmallVector<Node *> behind;
  /// Runs behind dead control inputs, too.
  bool always = false;
  unsigned order = 0;
  /// The frame in which it runs.
  Frame *frame = nullptr;
  /// Of an enter the frame that it enters.
  Frame *entered = nullptr;
  /// Of the copy of a condition: that the loop has ended.
  bool isLast = false;
  /// A node that is never run: it tells when that node of a loop's head was live in the last
  /// iteration, and its values are those that the loop shares.
  Node *ghostOf = nullptr, *ghostLoop = nullptr;
  std::shared_ptr<Loop> loop;
};

struct Graph {
  dfg::DataflowOp op;
  std::vector<std::unique_ptr<Node>> storage;
  std::vector<std::unique_ptr<Frame>> frames;
  /// Those of the block, in its order.
  llvm::SmallVector<Node *> nodes;
  llvm::SmallVector<Edge> results;

  Node *create(Kind kind, mlir::Operation *op);
  /// A copy that shares nothing but the operation.
  Node *copy(const Node &node);
};

/// Reads the block of `op`.
void buildGraph(dfg::DataflowOp op, Graph &graph);

/// The value of `edge` is that of the edge that this returns, if it is live: switches, frames and
/// nodes without operations only forward.
Edge resolve(Edge edge);

mlir::Type typeOf(Edge edge);

/// What the author calls the operation, in quotes.
std::string nameOf(mlir::Operation *op);
inline std::string nameOf(const Node *node) { return nameOf(node->op); }

/// `a -> b -> c`, the middle left out if there are many.
std::string namesOf(llvm::ArrayRef<Node *> path);

/// Adds the nodes that must stand before `node`.
void addPredecessors(const Node &node, llvm::SmallVectorImpl<Node *> &predecessors);

/// The nodes so that each stands behind its inputs, as far as possible in their order; edges out of
/// `next_iteration` and those from other nodes do not count. If there is a cycle, sets it and
/// returns nothing.
llvm::SmallVector<Node *> sortTopologically(llvm::ArrayRef<Node *> nodes,
                                            llvm::SmallVectorImpl<Node *> &cycle);

} // namespace tfc::controlflow
