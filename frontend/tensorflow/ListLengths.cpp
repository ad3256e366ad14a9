// Finds how many elements TensorLists have.

#include "frontend/tensorflow/ListLengths.h"
#include "frontend/tensorflow/Flows.h"
#include "frontend/tensorflow/LoopBounds.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

Outcome failWithoutList(NodeBuilder &node) {
  return node.fail("its input 0 does not lead to a TensorList [graph-edge]");
}

NodeValue listOf(NodeBuilder &node) {
  std::optional<ListKey> key = FlowBuilder(node).flowAt(0);
  if (key)
    return FlowBuilder(node).flow(0, *key);
  failWithoutList(node);
  return {};
}

/// Returns the number of elements of the list that a node creates, if it is known.
static std::optional<DimExpr> createdLength(NodeBuilder &&maker) {
  if (maker.node.op == "EmptyTensorList")
    return std::nullopt;
  bool isSplit = maker.node.op == "TensorListSplit";
  if (isSplit || maker.node.op == "TensorListFromTensor") {
    RankedTensorType whole = maker.typeOf(isSplit ? 2 : 0);
    return whole && whole.getRank() ? std::optional(dfg::shapeOf(whole).front()) : std::nullopt;
  }
  const dfg::SizeTensor *size = maker.sizes(1);
  return size && size->isSingle() ? std::optional(size->values.front()) : std::nullopt;
}

std::optional<DimExpr> lengthOfList(NodeBuilder &node) {
  if (int64_t stated = node.node.number("num_elements", -1); stated >= 0)
    return DimExpr(stated);
  std::optional<ListKey> key = FlowBuilder(node).flowAt(0);
  if (!key)
    return std::nullopt;
  std::optional<DimExpr> length;
  for (unsigned maker : node.entry.structure.listMakers[key->array]) {
    std::optional<DimExpr> own = createdLength(NodeBuilder(node.entry, maker));
    if (!own || (length && *length != *own))
      return std::nullopt;
    length = own;
  }
  return length;
}

bool mayResize(const EntryContext &entry, unsigned array) {
  return llvm::any_of(entry.structure.writtenArrays, [&](auto written) {
    return written.second == array &&
           entry.graph.nodes[written.first].number("resize_if_index_out_of_bounds") != 0;
  });
}

bool mayBeLonger(NodeBuilder &node) {
  std::optional<ListKey> key = FlowBuilder(node).flowAt(0);
  if (!key || node.node.number("num_elements", -1) >= 0 || !mayResize(node.entry, key->array))
    return false;
  std::optional<DimExpr> first = lengthOfList(node);
  std::optional<int64_t> largest = largestLength(node.entry, key->array);
  if (largest && first && first->constant().value_or(-1) >= *largest)
    return false;
  if (largest)
    node.entry.bounds.try_emplace(node.node.name, *largest);
  return true;
}

/// Returns the number of elements of a list whose length changes, which is an input, or
/// std::nullopt after an error.
static std::optional<DimExpr> countedLength(NodeBuilder &node, unsigned input) {
  if (int64_t stated = node.node.number("num_elements", -1); stated >= 0)
    return DimExpr(stated);
  if (const dfg::SizeTensor *known = node.sizes(input); known && known->isSingle())
    return known->values.front();
  if (std::optional<DimExpr> found = node.foundSize(node.in(input)))
    return found;
  node.askForBound("number of elements");
  return std::nullopt;
}

std::optional<DimExpr> lengthOfSum(NodeBuilder &node) {
  std::optional<ListKey> key = FlowBuilder(node).flowOf({node.index, 0});
  if (!key)
    return std::nullopt;
  for (unsigned maker : node.entry.structure.listMakers[key->array])
    if (std::optional<DimExpr> length = createdLength(NodeBuilder(node.entry, maker)))
      return length;
  return std::nullopt;
}

std::optional<DimExpr> wholeLength(NodeBuilder &node, NodeValue list, unsigned countInput) {
  if (node.flag(kGrows))
    return countedLength(node, countInput);
  bool isFound = mayBeLonger(node) && node.entry.bounds.count(node.node.name);
  std::optional<DimExpr> length =
      isFound ? node.foundSize(node.op("list_size", list)) : lengthOfList(node);
  if (!length)
    node.error() << "expected the number of elements to be known when the graph is compiled "
                    "[dynamic-shape]";
  return length;
}

NodeValue stackAll(NodeBuilder &node, NodeValue list, unsigned countInput) {
  std::optional<DimExpr> length = wholeLength(node, list, countInput);
  return length ? stackOf(node, list, *length) : NodeValue();
}

NodeValue stackOf(NodeBuilder &node, NodeValue list, const DimExpr &length) {
  SmallVector<NamedAttribute> attributes = {node.attrs.sizes("size", length)};
  // Popped elements are still there.
  if (node.flag(kGrows) && node.flag("_shrinks"))
    attributes.push_back(node.attrs.unit("prefix"));
  return node.op("list_stack", list, attributes);
}

} // namespace tfc::tensorflow
