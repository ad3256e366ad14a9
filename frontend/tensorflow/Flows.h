// Flow edges of TensorArrays, which become lists.
#pragma once

#include "frontend/tensorflow/NodeBuilder.h"

namespace tfc::tensorflow {

/// The lists that a node reads and returns.
class FlowBuilder {
public:
  explicit FlowBuilder(NodeBuilder &node) : node(node), entry(node.entry) {}

  /// Returns the list that an edge carries, if it is a flow.
  std::optional<ListKey> flowOf(Edge edge) const;
  /// Returns the list that input `i` carries; arrayAt returns the TensorArray of handle `i`.
  std::optional<ListKey> flowAt(unsigned i) const;
  std::optional<ListKey> arrayAt(unsigned i) const;
  /// Returns the type of a TensorArray's elements, or null if it is not known yet.
  mlir::RankedTensorType elementType(unsigned array);
  /// Returns the type of the elements of a list: for that of used sizes, integers.
  mlir::RankedTensorType elementType(const ListKey &key);
  /// Returns the number of the input that this node writes to a TensorArray.
  unsigned writtenInput() const;
  /// Returns input `i` as the list of `key`. A constant means zeros, and so does the flow of the
  /// array itself if a list of its gradients is requested.
  NodeValue flow(unsigned i, const ListKey &key);
  /// Returns a list of zeros with the length of the TensorArray.
  NodeValue zeroList(const ListKey &key);
  NodeValue emptyList(const ListKey &key);
  /// Returns a list of zeros with the length of the one at input `i`.
  NodeValue zerosLike(unsigned i, const ListKey &key);
  /// Returns the sum of two lists, of which the second is input `i`; a single element is added in
  /// place.
  NodeValue addLists(NodeValue lhs, NodeValue rhs, unsigned i);

private:
  /// Passes a value of an enclosing frame into the frame of the node's inputs.
  NodeValue bringIn(NodeValue value, unsigned from);
  /// Returns the type of the elements that a node writes to a TensorArray, or null if unknown.
  mlir::RankedTensorType writtenType(unsigned writer);

  NodeBuilder &node;
  EntryContext &entry;
};

} // namespace tfc::tensorflow
