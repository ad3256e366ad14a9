// Builds nodes that are branches or loops as operations with regions. The contents of a region are
// mostly a graph in an attribute of the node, but formats differ in what they add to it.
#pragma once

#include "frontend/importer/NodeBuilder.h"

namespace tfc::importer {

class RegionBuilder {
public:
  /// Builds the operations of a region, which gets these arguments. Returns what the region yields,
  /// or std::nullopt after errors.
  using Contents = llvm::function_ref<std::optional<llvm::SmallVector<NodeValue>>(
      llvm::ArrayRef<NodeValue> arguments)>;

  explicit RegionBuilder(NodeBuilder &node) : node(node) {}

  /// Builds `dfg.if`, whose regions have no arguments but may use the values around them. Returns
  /// null after errors.
  mlir::Operation *buildIf(const NodeValue &condition, Contents onTrue, Contents onFalse);
  /// Builds `dfg.while`. Both regions get the carried values; the first one returns whether there
  /// is another iteration, the second one the values for it. Returns null after errors.
  mlir::Operation *buildWhile(llvm::ArrayRef<NodeValue> inits, Contents condition, Contents body);

  /// Returns the number of iterations after the loop whose results these are; it may bind a size.
  using Trips = llvm::function_ref<dfg::DimExpr(mlir::ValueRange results)>;
  /// Builds a loop like `buildWhile` whose body also returns values that are stacked along a new
  /// first axis, after those for the next iteration. The first carried value counts the iterations
  /// from 0. Returns the carried values and the stacked ones, or std::nullopt after errors.
  std::optional<llvm::SmallVector<NodeValue>> buildStackingWhile(llvm::ArrayRef<NodeValue> inits,
                                                                 Contents condition, Contents body,
                                                                 Trips trips);

private:
  /// Fills both regions. Returns the values for the next iteration, or std::nullopt after errors in
  /// the body; `isWhole` is false after errors in the condition.
  std::optional<llvm::SmallVector<mlir::Value>> fillLoop(dfg::WhileOp op, Contents condition,
                                                         Contents body, bool &isWhole);
  /// Lets a loop carry a list with this value of each iteration, which is returned as it is in the
  /// next one.
  mlir::Value addStack(dfg::WhileOp op, mlir::Value value,
                       llvm::SmallVectorImpl<mlir::Value> &added);
  /// Fills a block and returns the values to yield, which may be fewer or others than the operation
  /// takes.
  std::optional<llvm::SmallVector<mlir::Value>> fill(mlir::Block &block, Contents contents);
  bool checkCondition(mlir::Value condition);
  bool checkBranches(mlir::ValueRange onTrue, mlir::ValueRange onFalse);
  bool checkCarried(mlir::ValueRange inits, mlir::ValueRange next);

  NodeBuilder &node;
};

/// Returns true for a bool without axes, on which a branch or a loop may depend.
bool isPredicate(mlir::Type type);

} // namespace tfc::importer
