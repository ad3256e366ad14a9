// Builds a node of a TensorFlow graph. Inputs are edges, variables are read where their references
// are used, and tokens determine what runs before the node.
#pragma once

#include "frontend/importer/LibraryCall.h"
#include "frontend/tensorflow/EntryContext.h"

namespace tfc::tensorflow {

class NodeBuilder : public importer::NodeBuilder {
public:
  NodeBuilder(EntryContext &entry, unsigned index);

  EntryContext &entry;
  const Node &node;
  const unsigned index;

  //===--- Inputs ---------------------------------------------------------===//

  unsigned numInputs() const override { return node.inputs.size(); }
  NodeValue anyIn(unsigned i) override;
  /// Returns true if an input carries complex numbers.
  bool isComplex(unsigned i) const { return edge(i) && entry.complex.isComplex(*edge(i)); }
  /// Returns true if the attribute `data_format` says that images have their channels first.
  bool hasChannelsFirst() const {
    return llvm::StringRef(node.attr("data_format").text).starts_with("NC");
  }
  /// Returns the real (0) or the imaginary (1) parts of a complex value.
  NodeValue planeOf(NodeValue value, unsigned number);
  const dfg::SizeTensor *sizes(unsigned i) override;
  /// Returns the edge of an input, if there is one.
  std::optional<Edge> edge(unsigned i) const { return node.inputs.at(i); }
  /// Returns the sizes of an input, if they are known, without making the node run after it.
  KnownSizes knownSizes(unsigned i) const;
  /// Returns the type of an input without reading a variable. Returns null after an error, like
  /// `in`.
  mlir::RankedTensorType typeOf(unsigned i);
  /// Returns the elements of an input of floats or integers, if they can be derived from constants,
  /// sizes and feeds whose elements the caller specifies. Does not make the node run after it.
  std::optional<llvm::SmallVector<importer::Ratio>> knownRatios(unsigned i);
  std::optional<llvm::SmallVector<double>> knownReals(unsigned i);
  /// Makes the node run after input `i`, which is not an operand.
  void followInput(unsigned i);
  /// Returns a size that calls find, up to the bound that the caller of the reader specifies for
  /// this node, for a scalar that counts elements. Returns std::nullopt if there is no bound.
  std::optional<dfg::DimExpr> foundSize(const NodeValue &count);
  /// Returns a size that calls find up to a limit, for a scalar that counts elements. Returns
  /// std::nullopt for null, or after an error.
  std::optional<dfg::DimExpr> sizeUpTo(const NodeValue &count, const dfg::DimExpr &limit);
  /// Makes calls fail in which a condition does not hold. Returns false for null.
  bool check(const NodeValue &condition, const llvm::Twine &subject,
             dfg::Failure failure = dfg::Failure::OutOfRange);
  /// Emits an error that a size has to be known, or to have such a bound.
  void askForBound(llvm::StringRef size);
  /// Returns the node that created the resource of a handle.
  std::optional<unsigned> handle(unsigned i);
  /// Returns the variable that input `i` refers to. Returns null after an error.
  const Node *variable(unsigned i);
  mlir::Value readVariable(const Node &variable);
  /// Assigns a value to a variable and returns it.
  NodeValue assign(const Node &variable, NodeValue value);
  /// Returns input `i`, as a list if this node's output 0 carries one.
  NodeValue data(unsigned i);

  /// Calls functions in graph source.
  importer::LibraryCall library() { return importer::LibraryCall(*this, entry.functions); }

  mlir::Type dtype(llvm::StringRef attr) override;
  std::string describe(mlir::Type type) const override;
  bool hasErrors() const { return entry.hasErrors(); }

  /// Returns true if a size depends on data, so that no caller passes it.
  bool isFound(const dfg::DimExpr &size) const { return !foundNames(size).empty(); }
  /// Returns true for sizes that each mention of them means alike: callers pass them, or they are
  /// bound where each call passes exactly once.
  bool areFixed(const dfg::SizeTensor &sizes) const;
  /// Returns `x` with these sizes, which each call checks where they are not equal for all calls.
  NodeValue ensureSizes(NodeValue x, llvm::ArrayRef<dfg::DimExpr> wanted);

  /// Returns `x`, with a check in calls if it has these sizes but for one that depends on data.
  NodeValue ensureFoundSize(NodeValue x, llvm::ArrayRef<dfg::DimExpr> wanted);

  //===--- Control --------------------------------------------------------===//

  /// Returns the tokens after which the node runs.
  llvm::SmallVector<mlir::Value> tokens();
  /// Returns `value`, which becomes dead if a control input is dead.
  mlir::Value gate(const NodeValue &value);
  /// Returns the values of the inputs from `first` on, which are `count` lists of the same length
  /// one after the other; std::nullopt after errors.
  std::optional<llvm::SmallVector<llvm::SmallVector<mlir::Value>>> listsFrom(unsigned first,
                                                                             unsigned count);
  /// Returns true if no call computes input `i`.
  bool isDeadInput(unsigned i) const { return edge(i) && entry.isDead(*edge(i)); }
  /// Returns true for a switch whose condition is known when the graph is compiled.
  bool isDecided() const {
    return entry.deadEdges.count({index, 0}) || entry.deadEdges.count({index, 1});
  }
  /// Returns true if input `i` is a loop back edge.
  bool isLoopEdge(unsigned i) const;
  /// Returns the value of a loop back edge, if it has been built already.
  mlir::Value loopValue(unsigned i) const;
  /// Makes the result of a NextIteration an operand of the merges that read it.
  Outcome closeLoop();
  void setWitnesses(mlir::ValueRange values) {
    entry.states[index].witnesses.assign(values.begin(), values.end());
  }
  /// Lets the node be built again if it fails now: once the type of the elements of a TensorArray
  /// is known, or once another node has been built.
  void waitForElements(unsigned array);
  void waitForNode(unsigned other);
  /// Lets the node be built again if it fails now, once another node has been built, of which it
  /// wants the sizes. Returns false if the other node waits for this one.
  bool waitForSizes(unsigned other);
  /// Returns the outcome of a node that changes a variable: operations on references return the new
  /// value, those on handles return nothing.
  Outcome doneWithUpdate(const OpRule &rule, NodeValue value);
  /// Builds the node by a rule and registers what the rule has built as its outputs.
  Outcome build(const OpRule &rule);

protected:
  std::optional<dfg::Shape> foundDims(unsigned i, std::string &help) override;
  mlir::Value inputValue(unsigned i) override;
  /// Operands of elementwise operations whose sizes depend on data have the sizes of the others.
  llvm::SmallVector<mlir::Value> matchSizes(llvm::StringRef op,
                                            llvm::SmallVector<mlir::Value> operands) override;
  void useSizes(unsigned i) override { followInput(i); }
  bool waits() const override { return mustWait; }

private:
  /// Returns the names in sizes that depend on data.
  llvm::SmallVector<std::string> foundNames(llvm::ArrayRef<dfg::DimExpr> sizes) const;
  /// Returns limits of the numbers in input `i` if it is an element of a list to which only known
  /// sizes are written.
  std::optional<dfg::Shape> writtenLimits(unsigned i);
  /// Returns the elements of a vector as sizes that calls find, up to these limits.
  std::optional<dfg::Shape> sizesUpTo(NodeValue x, llvm::ArrayRef<dfg::DimExpr> limits);
  /// Returns a way to give the node a bound.
  std::string boundHelp() const;
  /// Runs a rule, once for each plane of complex numbers if it treats these separately.
  Outcome runRule(const OpRule &rule);
  Outcome finish(const OpRule &rule, Outcome outcome);
  void follow(Edge edge) { followed.insert(edge); }
  /// Returns true if the node has no effects and all that it reads are constants.
  bool readsConstants(const OpRule &rule) const;
  /// Replaces integers that the node computes from constants by their values, and floats that are
  /// returned with them.
  void evaluateConstants(const OpRule &rule);
  /// Returns the elements of the results, if some of them are worth to be known.
  llvm::SmallVector<mlir::ElementsAttr> constantResults();
  /// Replaces results by constants, and erases the operations of the node if all are known.
  void replaceResults(llvm::ArrayRef<mlir::ElementsAttr> constants);
  NodeValue constantResult(mlir::ElementsAttr constant);
  /// Keeps sizes instead of values; returns false if the rule created operations.
  bool fold();

  bool mustWait = false;
  std::optional<unsigned> plane; // of complex inputs, of which the rule sees only this one
  std::set<Edge> followed;       // edges that must be live, besides control inputs and operands
};

} // namespace tfc::tensorflow
