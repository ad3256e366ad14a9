// The values and tokens of nodes that have been built.
#pragma once

#include "frontend/tensorflow/EntryContext.h"

namespace tfc::tensorflow {

/// Gives the outputs of nodes values, those that are only known by their sizes and those of
/// handles when something asks for them.
class Values {
public:
  explicit Values(EntryContext &entry) : entry(entry) {}

  /// The value of an output; null after an error has been reported.
  mlir::Value valueOf(Edge edge);
  mlir::Value handleValue(Edge edge);

  void addOps(unsigned node, llvm::ArrayRef<mlir::Operation *> ops);
  dfg::NodeOp addNode(unsigned node, llvm::ArrayRef<mlir::Operation *> ops, mlir::ValueRange after,
                      mlir::ValueRange values);

private:
  void buildHandle(unsigned index);
  /// The nodes whose handles must have values before that of a node can.
  llvm::SmallVector<unsigned> handlesBefore(unsigned index) const;

  EntryContext &entry;
};

/// Tokens, which are live once a node has run.
class Tokens {
public:
  explicit Tokens(EntryContext &entry) : entry(entry) {}

  /// Null where the node always runs.
  mlir::Value tokenOf(unsigned node);
  /// The same for one output: those of a Switch live and die apart.
  mlir::Value tokenOf(Edge edge);

private:
  mlir::Value computeToken(unsigned node);
  llvm::SmallVector<unsigned> foldedBefore(unsigned node) const;

  EntryContext &entry;
};

/// Returns true if the node only passes a handle on, which is followed where it is used.
bool passesHandle(const Node &node);

} // namespace tfc::tensorflow
