// Builds a node of TensorFlow: its inputs are edges, variables are read where references are used,
// and tokens say what runs before it.
#pragma once

#include "frontend/tensorflow/EntryContext.h"

namespace tfc::tensorflow {

/// The variable, queue or tape of a node.
std::string variableName(const Node &node);

class NodeBuilder : public importer::NodeBuilder {
public:
  NodeBuilder(EntryContext &entry, unsigned index);

  EntryContext &entry;
  const Node &node;
  const unsigned index;

  //===--- Inputs ---------------------------------------------------------===//

  unsigned numInputs() const override { return node.inputs.size(); }
  NodeValue anyIn(unsigned i) override;
  const dfg::SizeTensor *sizes(unsigned i) override;
  /// The edge of an input, if there is one.
  std::optional<Edge> edge(unsigned i) const { return node.inputs.at(i); }
  /// The sizes of an input, if they are known; the node need not run after it.
  KnownSizes knownSizes(unsigned i) const;
  /// The type of an input, without reading a variable; null as `in`.
  mlir::RankedTensorType typeOf(unsigned i);
  /// Makes the node run after input `i` although that is no operand.
  void followInput(unsigned i);
  /// The node that made the resource of a handle.
  std::optional<unsigned> handle(unsigned i);
  mlir::Value readVariable(const Node &variable);
  /// Input `i`, as a list where this node's output 0 carries one.
  NodeValue data(unsigned i);

  mlir::Type dtype(llvm::StringRef attr) override;
  bool hasErrors() const { return entry.hasErrors(); }

  //===--- Control --------------------------------------------------------===//

  /// The tokens after which the node runs.
  llvm::SmallVector<mlir::Value> tokens();
  /// `value`, dead where a control input is.
  mlir::Value gate(const NodeValue &value);
  /// Returns true if input `i` comes from the end of a loop.
  bool isLoopEdge(unsigned i) const;
  /// The value of such an input, if it has been built already.
  mlir::Value loopValue(unsigned i) const;
  /// Makes the result of a NextIteration an operand of the merges that it leads to.
  Outcome closeLoop();
  void setWitnesses(mlir::ValueRange values) {
    entry.states[index].witnesses.assign(values.begin(), values.end());
  }
  /// Builds the node again later if it fails now.
  void wait() { mustWait = true; }
  /// Takes what the rule has built as the node's.
  Outcome finish(const OpRule &rule, Outcome outcome);

protected:
  mlir::Value inputValue(unsigned i) override;
  void useSizes(unsigned i) override { followInput(i); }

private:
  void follow(Edge edge) { followed.insert(edge); }
  /// Keeps sizes instead of values; false if the node made any operation.
  bool fold();

  bool mustWait = false;   // for the type of a TensorArray's elements
  std::set<Edge> followed; // what must be live, besides control inputs and operands
};

} // namespace tfc::tensorflow
