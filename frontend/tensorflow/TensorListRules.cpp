// TensorLists: values of the type variant that are lists themselves.

#include "frontend/Fmt.h"
#include "frontend/tensorflow/Flows.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

/// Returns the list at input 0.
static NodeValue listOf(NodeBuilder &node) {
  std::optional<ListKey> key = FlowBuilder(node).flowAt(0);
  if (key)
    return FlowBuilder(node).flow(0, *key);
  node.error() << "its input 0 does not lead to a TensorList [graph-edge]";
  return {};
}

static Outcome buildReserve(NodeBuilder &node, const OpRule &) {
  if (!FlowBuilder(node).elementType(node.index)) {
    node.waitForElements(node.index);
    return Outcome::Failed;
  }
  return node.done({FlowBuilder(node).zeroList({node.index, ""})});
}

static Outcome buildFromTensor(NodeBuilder &node, const OpRule &) {
  NodeValue value = node.in(0);
  if (!value)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(value.getType());
  if (shape.empty())
    return node.fail("expected a tensor with an axis, but got a scalar [graph-edge]");
  node.entry.arrays[node.index].type =
      dfg::tensorOf(ArrayRef(shape).drop_front(), dfg::elementTypeOf(value.getType()));
  return node.done({node.op("list_unstack", value)});
}

static Outcome buildGetItem(NodeBuilder &node, const OpRule &) {
  return node.done({node.op("list_read", {listOf(node), node.in(1)})});
}

static Outcome buildSetItem(NodeBuilder &node, const OpRule &) {
  return node.done({node.op("list_write", {listOf(node), node.in(1), node.in(2)})});
}

/// Returns the number of elements, if it is known while the graph is read.
static std::optional<DimExpr> lengthOf(NodeBuilder &node) {
  std::optional<ListKey> key = FlowBuilder(node).flowAt(0);
  if (int64_t stated = node.node.number("num_elements", -1); stated >= 0)
    return DimExpr(stated);
  if (!key)
    return std::nullopt;
  NodeBuilder maker(node.entry, key->array);
  if (maker.node.op == "TensorListFromTensor") {
    RankedTensorType whole = maker.typeOf(0);
    return whole && whole.getRank() ? std::optional(dfg::shapeOf(whole).front()) : std::nullopt;
  }
  const dfg::SizeTensor *size = maker.sizes(1);
  return size && size->isSingle() ? std::optional(size->values.front()) : std::nullopt;
}

static Outcome buildStack(NodeBuilder &node, const OpRule &) {
  NodeValue list = listOf(node);
  if (!list)
    return Outcome::Failed;
  std::optional<DimExpr> length = lengthOf(node);
  if (!length)
    return node.fail("expected the number of elements to be known when the graph is compiled "
                     "[dynamic-shape]");
  return node.done({node.op("list_stack", list, node.attrs.sizes("size", *length))});
}

static Outcome buildLength(NodeBuilder &node, const OpRule &) {
  if (std::optional<DimExpr> length = lengthOf(node))
    return node.done({NodeValue(*dfg::makeSize(IntegerType::get(node.context(), 32), *length))});
  return node.done({node.op("list_size", listOf(node))});
}

/// Reads the elements at these positions.
static Outcome buildGather(NodeBuilder &node, const OpRule &) {
  NodeValue list = listOf(node), at = node.in(1);
  if (!list || !at)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(at.getType());
  std::optional<int64_t> count = shape.size() == 1 ? shape.front().constant() : std::nullopt;
  if (!count)
    return node.fail("expected a vector of a known number of positions, but got {} [operand]",
                     dfg::toText(at.getType()));
  SmallVector<NodeValue> elements;
  for (int64_t i = 0; i < *count; ++i)
    elements.push_back(
        node.op("list_read", {list, node.reshape(node.slice(at, {DimExpr(i)}, {DimExpr(1)}), {})}));
  if (elements.empty())
    return node.fail("expected at least one position [operand]");
  return node.done({node.op("stack", elements, node.attrs.integer("axis", 0))});
}

/// Writes the slices of input 1 to the positions in input 2.
static Outcome buildScatter(NodeBuilder &node, const OpRule &) {
  NodeValue list = listOf(node), values = node.in(1), at = node.in(2);
  if (!list || !values || !at)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(values.getType()), positions = dfg::shapeOf(at.getType());
  std::optional<int64_t> count =
      positions.size() == 1 ? positions.front().constant() : std::nullopt;
  if (!count || shape.empty() || shape.front() != positions.front())
    return node.fail("expected as many slices as positions, of a known number, but got {} and {} "
                     "[operand]",
                     dfg::toText(values.getType()), dfg::toText(at.getType()));
  dfg::Shape starts(shape.size(), DimExpr(0)), sizes = shape;
  sizes.front() = 1;
  for (int64_t i = 0; i < *count; ++i) {
    starts.front() = i;
    NodeValue slice = node.reshape(node.slice(values, starts, sizes), ArrayRef(shape).drop_front());
    NodeValue place = node.reshape(node.slice(at, {DimExpr(i)}, {DimExpr(1)}), {});
    list = node.op("list_write", {list, place, slice});
  }
  return node.done({list});
}

static constexpr OpRule kRules[] = {
    {"TensorListReserve", "2 -> 1; element_dtype:type", buildReserve, "", OpRule::MakesList},
    {"TensorListFromTensor", "2 -> 1; element_dtype:type", buildFromTensor, "", OpRule::MakesList},
    {"TensorListGetItem", "3 -> 1", buildGetItem},
    {"TensorListSetItem", "3 -> 1", buildSetItem, "", OpRule::ChangesList},
    {"TensorListStack", "2 -> 1; num_elements:int?", buildStack},
    {"TensorListLength", "1 -> 1", buildLength},
    {"TensorListGather", "3 -> 1", buildGather},
    {"TensorListScatterIntoExistingList", "3 -> 1", buildScatter, "", OpRule::ChangesList},
};

ArrayRef<OpRule> tensorListRules() { return kRules; }

} // namespace tfc::tensorflow
