// Builds the operations of one node: what the rules of all readers work with.
#pragma once

#include "frontend/GraphBuilder.h"
#include "frontend/importer/Attributes.h"
#include "frontend/importer/Diagnostics.h"
#include "frontend/importer/Node.h"
#include "frontend/importer/NodeValue.h"
#include <concepts>

namespace tfc::importer {

/// What became of a node. Later: it needs something that another node will tell.
enum class Outcome { Done, Failed, Later };

/// The view of one node that rules work with. A reader derives from it: it knows where inputs come
/// from, how its format numbers types, and what ties nodes together.
class NodeBuilder {
public:
  NodeBuilder(GraphBuilder &graphBuilder, Diagnostics &diagnostics, const Node &node,
              mlir::Location location)
      : node(node), attrs(graphBuilder.getContext()), graphBuilder(graphBuilder),
        diagnostics(diagnostics), place(location) {}
  virtual ~NodeBuilder() = default;

  const Node &node;
  /// Makes attributes of operations.
  AttributeBuilder attrs;

  //===--- Inputs ---------------------------------------------------------===//

  virtual unsigned numInputs() const = 0;
  /// Returns false for an optional input that is absent.
  virtual bool hasInput(unsigned i) const { return i < numInputs(); }
  /// An input of any type; null where there is none, which has been reported.
  virtual NodeValue anyIn(unsigned i) = 0;
  /// The elements of an input if they are known when the graph is compiled, which then counts as
  /// used; null otherwise.
  virtual const dfg::SizeTensor *sizes(unsigned i) = 0;
  /// A tensor; null otherwise, which has been reported.
  NodeValue in(unsigned i);
  /// The inputs from `from` on, but for the last `dropped`.
  llvm::SmallVector<NodeValue> allInputs(unsigned from = 0, unsigned dropped = 0);
  /// The elements of an input, reported as an error where they are not known.
  std::optional<dfg::Shape> dims(unsigned i);
  std::optional<llvm::SmallVector<int64_t>> ints(unsigned i);
  std::optional<int64_t> integer(unsigned i);

  //===--- Attributes -----------------------------------------------------===//

  /// The element type that an attribute names; null otherwise, which has been reported.
  virtual mlir::Type dtype(llvm::StringRef attr) = 0;
  bool flag(llvm::StringRef attr) const { return node.number(attr) != 0; }

  //===--- Operations -----------------------------------------------------===//

  /// Creates `dfg.<op>`; null if an operand is null or the operation refused them.
  mlir::Operation *make(llvm::StringRef op, llvm::ArrayRef<NodeValue> operands,
                        llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  /// The result of `dfg.<op>`: sizes, if the operation is evaluated on those of all operands, else
  /// the first result of `make`.
  NodeValue op(llvm::StringRef op, llvm::ArrayRef<NodeValue> operands,
               llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  /// As `make`, for what depends on nothing in the graph.
  mlir::Value outside(llvm::StringRef op, mlir::ValueRange operands,
                      llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  mlir::Value scalar(double value, mlir::Type elementType);
  mlir::Value scalar(std::integral auto value, mlir::Type elementType) {
    return builder().scalar(int64_t(value), elementType, location());
  }
  mlir::Value size(const dfg::DimExpr &value, mlir::Type elementType);
  /// A scalar constant in every element.
  mlir::Value filled(double value, llvm::ArrayRef<dfg::DimExpr> shape, mlir::Type elementType);
  mlir::Value iota(const dfg::DimExpr &size, mlir::Type elementType);
  NodeValue reshape(NodeValue x, llvm::ArrayRef<dfg::DimExpr> shape);
  NodeValue broadcast(NodeValue x, llvm::ArrayRef<dfg::DimExpr> shape);
  NodeValue cast(NodeValue x, mlir::Type elementType);
  NodeValue slice(NodeValue x, llvm::ArrayRef<dfg::DimExpr> starts,
                  llvm::ArrayRef<dfg::DimExpr> sizes, llvm::ArrayRef<int64_t> steps = {});
  NodeValue transpose(NodeValue x, llvm::ArrayRef<int64_t> permutation);

  /// The value of `x`, which is made if nothing has asked for it before; null as `x`.
  mlir::Value valueOf(const NodeValue &x);
  llvm::SmallVector<mlir::Value> valuesOf(llvm::ArrayRef<NodeValue> values);
  /// An operation that computes these sizes.
  mlir::Value materialise(const dfg::SizeTensor &sizes);
  /// Runs `create` and counts what it creates as the node's.
  template <typename F> auto record(F create);
  /// The operations of the node so far.
  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops; }

  GraphBuilder &builder() { return graphBuilder; }
  mlir::MLIRContext *context() { return graphBuilder.getContext(); }
  mlir::Location location() const { return place; }

  //===--- Results --------------------------------------------------------===//

  /// Done with these outputs, unless one is null.
  Outcome done(llvm::ArrayRef<NodeValue> values = {});
  Outcome done(std::initializer_list<NodeValue> values) {
    return done(llvm::ArrayRef<NodeValue>(values));
  }
  /// The results of an operation, or Failed for null.
  Outcome doneWith(mlir::Operation *op);
  Outcome fail(const llvm::Twine &message);
  mlir::InFlightDiagnostic error() { return diagnostics.error(place); }

protected:
  /// The value of input `i`.
  virtual mlir::Value inputValue(unsigned i) = 0;
  /// The result depends on input `i`, which is no operand.
  virtual void useSizes(unsigned i) = 0;

  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<NodeValue> results;

private:
  std::optional<dfg::SizeTensor> evaluate(llvm::StringRef op, llvm::ArrayRef<NodeValue> operands,
                                          llvm::ArrayRef<mlir::NamedAttribute> attributes);

  GraphBuilder &graphBuilder;
  Diagnostics &diagnostics;
  mlir::Location place;
};

template <typename F> auto NodeBuilder::record(F create) {
  mlir::Block *block = graphBuilder.currentBlock();
  mlir::Operation *last = block->empty() ? nullptr : &block->back();
  auto collect = [&] {
    for (mlir::Operation *op = last             ? last->getNextNode()
                               : block->empty() ? nullptr
                                                : &block->front();
         op; op = op->getNextNode())
      ops.push_back(op);
  };
  if constexpr (std::is_void_v<decltype(create())>) {
    create();
    collect();
  } else {
    auto result = create();
    collect();
    return result;
  }
}

} // namespace tfc::importer
