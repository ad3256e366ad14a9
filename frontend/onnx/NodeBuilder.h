// Builds the operations of one node of a model.
#pragma once

#include "frontend/importer/LibraryCall.h"
#include "frontend/importer/Reals.h"
#include "frontend/onnx/EntryContext.h"
#include "frontend/onnx/Rules.h"

namespace tfc::onnx {

class NodeBuilder : public importer::NodeBuilder {
public:
  NodeBuilder(EntryContext &entry, const Node &node, Scope &scope);

  //===--- Inputs ---------------------------------------------------------===//

  unsigned numInputs() const override { return node.inputs.size(); }
  bool hasInput(unsigned i) const override {
    return i < node.inputs.size() && !node.inputs[i].empty();
  }
  NodeValue anyIn(unsigned i) override;
  const dfg::SizeTensor *sizes(unsigned i) override;
  /// Returns the value of that name in the graph, or null.
  NodeValue named(llvm::StringRef name) const { return scope.find(name); }
  /// Returns the elements of an input of floats or integers, or std::nullopt if they are not known.
  std::optional<llvm::SmallVector<double>> knownReals(unsigned i);
  /// The same, with an error if they are not known.
  std::optional<llvm::SmallVector<double>> reals(unsigned i);
  std::optional<double> real(unsigned i);
  /// Returns the elements of an input, which may depend on sizes, if they are known.
  std::optional<llvm::SmallVector<Ratio>> ratios(unsigned i);
  /// Returns a size that the call finds: `count`, a scalar of type i64 that is at most `bound`.
  /// Those that are computed in the same way, as `key` says, are the same.
  std::optional<dfg::DimExpr> foundSize(NodeValue count, const dfg::DimExpr &bound,
                                        llvm::StringRef key);
  /// Returns an input that is a tensor with this number of axes or more, or null after an error.
  NodeValue inOfRank(unsigned i, size_t rank);

  //===--- Attributes -----------------------------------------------------===//

  mlir::Type dtype(llvm::StringRef attr) override;
  /// Returns the element type of this number. Emits an error and returns null if there is none.
  mlir::Type dtypeOf(int64_t number);
  llvm::ArrayRef<int64_t> ints(llvm::StringRef attr) const { return node.attr(attr).numbers; }
  using importer::NodeBuilder::ints;
  std::optional<llvm::SmallVector<NodeValue>> buildGraph(llvm::StringRef attr,
                                                         llvm::ArrayRef<NodeValue> inputs) override;

  //===--- Helpers --------------------------------------------------------===//

  /// Returns an axis that may count from the end. Emits an error if there is none.
  std::optional<int64_t> axisOf(int64_t axis, int64_t rank);
  /// Returns different axes in ascending order, or emits an error.
  std::optional<llvm::SmallVector<int64_t>> axesOf(llvm::ArrayRef<int64_t> axes, int64_t rank);
  /// Returns the axes of an attribute or, if it is absent, of input `i`; std::nullopt after an
  /// error. Without both there are none.
  std::optional<llvm::SmallVector<int64_t>> axesFrom(llvm::StringRef attr, unsigned i);
  /// Returns the limits of an expression in any call.
  dfg::DimExpr::Interval intervalOf(const dfg::DimExpr &value) const {
    return entry.intervalOf(value);
  }
  /// Returns true for a size that is not negative in any call.
  bool isSize(const dfg::DimExpr &value) const;
  /// Returns true if `low` is at most `high` in any call. Otherwise records a limit by a number as
  /// one that the model may need, such as the length of a table, or the one element of `x[:, :1]`.
  bool isWithin(const dfg::DimExpr &low, const dfg::DimExpr &high);
  /// Makes `low <= high` a fact of the entry. Emits an error about `low` and fails if a call cannot
  /// check it when it starts.
  bool require(const dfg::DimExpr &low, const dfg::DimExpr &high);
  /// Returns the value, or 0 where it is negative.
  dfg::DimExpr asSize(const dfg::DimExpr &value);
  importer::LibraryCall library() { return importer::LibraryCall(*this, entry.functions); }
  /// Returns what `shareResult` has kept for `operation` on `operand`, or null.
  NodeValue sharedResult(llvm::StringRef operation, mlir::Value operand) const {
    return scope.findShared(operation, operand);
  }
  /// Keeps a result for the later nodes of this graph, and of graphs in it.
  void shareResult(llvm::StringRef operation, mlir::Value operand, const NodeValue &result) {
    scope.share(operation, operand, result);
  }
  llvm::ArrayRef<NodeValue> getResults() const { return results; }
  bool hasErrors() const { return entry.diagnostics.getErrorCount() != errorsBefore; }

  EntryContext &entry;
  const Node &node;

protected:
  mlir::Value inputValue(unsigned i) override;
  void useSizes(unsigned) override {}

private:
  Scope &scope;
  unsigned errorsBefore;
};

/// The sizes of a tensor.
inline dfg::Shape shapeOf(const NodeValue &x) { return dfg::shapeOf(x.getType()); }
inline int64_t rankOf(const NodeValue &x) { return shapeOf(x).size(); }
inline mlir::Type elementOf(const NodeValue &x) { return dfg::elementTypeOf(x.getType()); }
inline bool isFloat(const NodeValue &x) { return mlir::isa<mlir::FloatType>(elementOf(x)); }

} // namespace tfc::onnx
