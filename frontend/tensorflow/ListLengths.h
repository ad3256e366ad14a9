// The numbers of elements of TensorLists.
#pragma once

#include "frontend/tensorflow/GrowingLists.h"
#include "frontend/tensorflow/NodeBuilder.h"

namespace tfc::tensorflow {

/// Reports that input 0 is no list.
Outcome failWithoutList(NodeBuilder &node);
/// Returns the list at input 0, or null after an error.
NodeValue listOf(NodeBuilder &node);
/// Returns the number of elements of the list at input 0, if it is known while the graph is read.
std::optional<dfg::DimExpr> lengthOfList(NodeBuilder &node);
/// Returns the number of elements of a sum of lists, which must have the same, if it is known for
/// one of the nodes that make them.
std::optional<dfg::DimExpr> lengthOfSum(NodeBuilder &node);
/// Returns true if a write may extend the lists of an array, or a node resizes them.
bool mayResize(const EntryContext &entry, unsigned array);
/// Returns true if the node waits for the sizes with which that list may have been made.
bool waitsForLength(NodeBuilder &node);
/// Returns true if writes may have made that list longer.
bool mayBeLonger(NodeBuilder &node);
/// Returns the number of elements of that list, which calls may find, or std::nullopt after an
/// error. If it grows, input `countInput` is the number.
std::optional<dfg::DimExpr> wholeLength(NodeBuilder &node, NodeValue list, unsigned countInput);
/// Returns all elements of a list of that length as a tensor, or null after an error.
NodeValue stackAll(NodeBuilder &node, NodeValue list, unsigned countInput);
NodeValue stackOf(NodeBuilder &node, NodeValue list, const dfg::DimExpr &length);

} // namespace tfc::tensorflow
