// Builds the operations of one node; the interface that the rules of all readers use.
#pragma once

#include "frontend/Fmt.h"
#include "frontend/GraphBuilder.h"
#include "frontend/importer/Attributes.h"
#include "frontend/importer/Diagnostics.h"
#include "frontend/importer/Node.h"
#include "frontend/importer/NodeValue.h"
#include <concepts>

namespace tfc::importer {

/// The outcome of building a node. Later: the node needs a fact that building another node will
/// establish.
enum class Outcome { Done, Failed, Later };

/// Returns a constant, by its elements if it can be a tensor of sizes. INT64_MIN is data, or stands
/// for the end of an axis; it is no size.
NodeValue constantValue(GraphBuilder &builder, mlir::ElementsAttr value, mlir::Location location);
/// Returns true for INT64_MIN.
bool isLowest(const dfg::DimExpr &place);

/// The view of one node that rules work with. Each reader derives from it; the derived class knows
/// where inputs come from, how the format numbers types, and how nodes are connected.
class NodeBuilder {
public:
  NodeBuilder(GraphBuilder &graphBuilder, Diagnostics &diagnostics, const Node &node,
              mlir::Location location)
      : node(node), attrs(graphBuilder.getContext()), graphBuilder(graphBuilder),
        diagnostics(diagnostics), place(location) {}
  virtual ~NodeBuilder() = default;

  const Node &node;
  /// Builds attributes of operations.
  AttributeBuilder attrs;

  //===--- Inputs ---------------------------------------------------------===//

  virtual unsigned numInputs() const = 0;
  /// Returns false for an optional input that is absent.
  virtual bool hasInput(unsigned i) const { return i < numInputs(); }
  /// Returns an input of any type. Emits an error and returns null if there is none.
  virtual NodeValue anyIn(unsigned i) = 0;
  /// Returns the elements of an input, which then counts as used, if they are known at compile
  /// time, else null.
  virtual const dfg::SizeTensor *sizes(unsigned i) = 0;
  /// Returns an input that is a tensor. Emits an error and returns null otherwise.
  NodeValue in(unsigned i);
  /// Returns the name of a type in errors.
  virtual std::string describe(mlir::Type type) const { return dfg::toText(type); }
  /// Returns the inputs from `from` on, except the last `dropped`.
  llvm::SmallVector<NodeValue> allInputs(unsigned from = 0, unsigned dropped = 0);
  /// Returns the elements of an input, or sizes that calls find for them. Emits an error if they
  /// are not known.
  std::optional<dfg::Shape> dims(unsigned i);
  std::optional<llvm::SmallVector<int64_t>> ints(unsigned i);
  std::optional<int64_t> integer(unsigned i);

  //===--- Attributes -----------------------------------------------------===//

  /// Returns the element type that an attribute names. Emits an error and returns null if there is
  /// none.
  virtual mlir::Type dtype(llvm::StringRef attr) = 0;
  bool flag(llvm::StringRef attr) const { return node.number(attr) != 0; }
  /// Builds the nodes of the graph that an attribute holds, at the current position of `builder`,
  /// with these inputs. Returns its outputs, or std::nullopt after errors. Formats whose attributes
  /// hold no graphs need not override it.
  virtual std::optional<llvm::SmallVector<NodeValue>> buildGraph(llvm::StringRef attr,
                                                                 llvm::ArrayRef<NodeValue> inputs);

  //===--- Operations -----------------------------------------------------===//

  /// Creates `dfg.<op>`. Returns null if an operand is null or the operation rejects its operands.
  mlir::Operation *make(llvm::StringRef op, llvm::ArrayRef<NodeValue> operands,
                        llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  /// Returns the result of `dfg.<op>`: sizes, if the sizes of all operands are known and the
  /// operation can be evaluated on them, else the first result of `make`.
  NodeValue op(llvm::StringRef op, llvm::ArrayRef<NodeValue> operands,
               llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  /// Like `make`, for operations that do not depend on the graph.
  mlir::Value outside(llvm::StringRef op, mlir::ValueRange operands,
                      llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  mlir::Value scalar(double value, mlir::Type elementType);
  mlir::Value scalar(std::integral auto value, mlir::Type elementType) {
    return builder().scalar(int64_t(value), elementType, location());
  }
  mlir::Value size(const dfg::DimExpr &value, mlir::Type elementType);
  /// Builds a tensor with the same value in every element.
  mlir::Value filled(double value, llvm::ArrayRef<dfg::DimExpr> shape, mlir::Type elementType);
  mlir::Value iota(const dfg::DimExpr &size, mlir::Type elementType);
  NodeValue reshape(NodeValue x, llvm::ArrayRef<dfg::DimExpr> shape);
  NodeValue broadcast(NodeValue x, llvm::ArrayRef<dfg::DimExpr> shape);
  NodeValue cast(NodeValue x, mlir::Type elementType);
  NodeValue slice(NodeValue x, llvm::ArrayRef<dfg::DimExpr> starts,
                  llvm::ArrayRef<dfg::DimExpr> sizes, llvm::ArrayRef<int64_t> steps = {});
  NodeValue transpose(NodeValue x, llvm::ArrayRef<int64_t> permutation);
  /// Moves axis 1 of images to the end. Returns null for null, and tensors without spatial axes as
  /// they are.
  NodeValue channelsLast(NodeValue x);
  /// Undoes `channelsLast`.
  NodeValue channelsFirst(NodeValue x);

  /// Returns the value of `x`, which is built at the first request. Returns null for null.
  mlir::Value valueOf(const NodeValue &x);
  llvm::SmallVector<mlir::Value> valuesOf(llvm::ArrayRef<NodeValue> values);
  /// Builds an operation that computes these sizes.
  mlir::Value materialise(const dfg::SizeTensor &sizes);
  /// Runs `create` and records the operations that it creates as the node's.
  template <typename F> auto record(F create);
  /// Returns the operations of the node so far.
  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops; }

  GraphBuilder &builder() { return graphBuilder; }
  mlir::MLIRContext *context() { return graphBuilder.getContext(); }
  mlir::Location location() const { return place; }

  //===--- Results --------------------------------------------------------===//

  /// Returns Done with these outputs, or Failed if one of them is null.
  Outcome done(llvm::ArrayRef<NodeValue> values = {});
  Outcome done(std::initializer_list<NodeValue> values) {
    return done(llvm::ArrayRef<NodeValue>(values));
  }
  /// Returns Done with the results of an operation, or Failed for null.
  Outcome doneWith(mlir::Operation *op);
  /// Returns Done with these outputs, or Failed if there are none after errors.
  Outcome doneWith(const std::optional<llvm::SmallVector<NodeValue>> &results);
  Outcome fail(const llvm::Twine &message);
  template <typename Arg, typename... Args>
  Outcome fail(fmt::format_string<Arg, Args...> format, Arg &&arg, Args &&...args) {
    return fail(
        llvm::Twine(fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...)));
  }
  mlir::InFlightDiagnostic error() { return diagnostics.error(place); }

protected:
  /// Returns sizes that calls find for the elements of an input, if the caller of the reader asks
  /// for that; otherwise returns std::nullopt and may set `help` to a way to ask for it.
  virtual std::optional<dfg::Shape> foundDims(unsigned, std::string &help) { return std::nullopt; }
  /// Returns true if the node is going to be built again.
  virtual bool waits() const { return false; }
  /// Returns the value of input `i`.
  virtual mlir::Value inputValue(unsigned i) = 0;
  /// Returns the operands of `dfg.<op>`, of which calls may check sizes that have to be equal.
  virtual llvm::SmallVector<mlir::Value> matchSizes(llvm::StringRef op,
                                                    llvm::SmallVector<mlir::Value> operands) {
    return operands;
  }
  /// Records that the result depends on input `i`, which is not an operand.
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
