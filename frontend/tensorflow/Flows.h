// Flow edges of TensorArrays, which become lists.
#pragma once

#include "frontend/tensorflow/NodeBuilder.h"

namespace tfc::tensorflow {

/// The lists that a node takes and makes.
class FlowBuilder {
public:
  explicit FlowBuilder(NodeBuilder &node) : node(node), entry(node.entry) {}

  /// The list that an edge carries, if it is a flow.
  std::optional<ListKey> flowOf(Edge edge) const;
  /// The list that input `i` carries, and the TensorArray of that handle.
  std::optional<ListKey> flowAt(unsigned i) const;
  std::optional<ListKey> arrayAt(unsigned i) const;
  /// The type of a TensorArray's elements, if it is known already.
  mlir::RankedTensorType elementType(unsigned array);
  /// Input `i` as the list of `key`. The flow of the array itself, where a list of its gradients is
  /// wanted, or a constant, stands for zeros.
  NodeValue flow(unsigned i, const ListKey &key);
  /// A list of zeros as long as the TensorArray.
  NodeValue zeroList(const ListKey &key);
  /// The sum of two lists, of which the second is input `i`; one element is added in place.
  NodeValue addLists(NodeValue lhs, NodeValue rhs, unsigned i);

private:
  /// Brings a value of an outer frame into the frame where the inputs of the node are.
  NodeValue bringIn(NodeValue value, unsigned from);
  /// The type of the elements that a node puts into a TensorArray, if it says one.
  mlir::RankedTensorType writtenType(unsigned writer);

  NodeBuilder &node;
  EntryContext &entry;
};

} // namespace tfc::tensorflow
