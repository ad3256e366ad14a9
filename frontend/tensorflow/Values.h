// The values and tokens of nodes that have been built.
#pragma once

#include "frontend/tensorflow/EntryContext.h"

namespace tfc::tensorflow {

/// Returns the values of outputs. Outputs that are known only by their sizes, and handles, get
/// values on demand.
class Values {
public:
  explicit Values(EntryContext &entry) : entry(entry) {}

  /// Returns the value of an output, or null after an error.
  mlir::Value valueOf(Edge edge);
  mlir::Value handleValue(Edge edge);

  void addOps(unsigned node, llvm::ArrayRef<mlir::Operation *> ops);
  dfg::NodeOp addNode(unsigned node, llvm::ArrayRef<mlir::Operation *> ops, mlir::ValueRange after,
                      mlir::ValueRange values);
  /// Adds nodes for the sizes that operations bind, each with the operations that compute it, and
  /// removes these from `ops`. So a size is bound wherever its number is live, whatever else the
  /// rest needs. The rest runs after them.
  void addBinders(unsigned node, llvm::SmallVectorImpl<mlir::Operation *> &ops,
                  llvm::SmallVectorImpl<mlir::Value> &after,
                  llvm::MutableArrayRef<mlir::Value> values);

private:
  void buildHandle(unsigned index);
  /// Reports an edge that has no value. Returns null.
  mlir::Value failWithoutValue(Edge edge);
  /// Returns the nodes whose handles must get values before that of node `index`.
  llvm::SmallVector<unsigned> handlesBefore(unsigned index) const;

  EntryContext &entry;
};

/// Tokens, which are live once a node has run.
class Tokens {
public:
  explicit Tokens(EntryContext &entry) : entry(entry) {}

  /// Returns the token of a node, or null if the node always runs.
  mlir::Value tokenOf(unsigned node);
  /// The same for one output: the outputs of a Switch have separate liveness.
  mlir::Value tokenOf(Edge edge);

private:
  mlir::Value computeToken(unsigned node);
  llvm::SmallVector<unsigned> foldedBefore(unsigned node) const;

  EntryContext &entry;
};

} // namespace tfc::tensorflow
