// TensorLists: values of the type variant that are lists themselves.

#include "frontend/Fmt.h"
#include "frontend/tensorflow/Flows.h"
#include "frontend/tensorflow/LoopBounds.h"
#include "frontend/tensorflow/Values.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

static Outcome failWithoutList(NodeBuilder &node) {
  return node.fail("its input 0 does not lead to a TensorList [graph-edge]");
}

/// Returns the list at input 0.
static NodeValue listOf(NodeBuilder &node) {
  std::optional<ListKey> key = FlowBuilder(node).flowAt(0);
  if (key)
    return FlowBuilder(node).flow(0, *key);
  failWithoutList(node);
  return {};
}

/// Lists that are passed on to the same nodes have elements of one type.
static Outcome buildReserve(NodeBuilder &node, const OpRule &) {
  FlowBuilder flows(node);
  ListKey key = flows.flowOf({node.index, 0}).value_or(ListKey{node.index, ""});
  RankedTensorType type = flows.elementType(node.index);
  type = type ? type : flows.elementType(key.array);
  if (!type) {
    node.waitForElements(key.array);
    return Outcome::Failed;
  }
  node.entry.arrays[node.index].type = type;
  return node.done({flows.zeroList({node.index, ""})});
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

/// Returns the number of elements of the list that a node creates, if it is known.
static std::optional<DimExpr> createdLength(NodeBuilder &&maker) {
  if (maker.node.op == "EmptyTensorList")
    return std::nullopt;
  if (maker.node.op == "TensorListFromTensor") {
    RankedTensorType whole = maker.typeOf(0);
    return whole && whole.getRank() ? std::optional(dfg::shapeOf(whole).front()) : std::nullopt;
  }
  const dfg::SizeTensor *size = maker.sizes(1);
  return size && size->isSingle() ? std::optional(size->values.front()) : std::nullopt;
}

/// Returns the number of elements, if it is known while the graph is read.
static std::optional<DimExpr> lengthOf(NodeBuilder &node) {
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

/// Returns true if a write may extend the list.
static bool mayResize(const EntryContext &entry, unsigned array) {
  return llvm::any_of(entry.structure.writtenArrays, [&](auto written) {
    return written.second == array &&
           entry.graph.nodes[written.first].number("resize_if_index_out_of_bounds") != 0;
  });
}

/// Returns true if writes may have made a list longer. Calls find its length, up to the bound that
/// the writes have, if there is one.
static bool mayBeLonger(NodeBuilder &node) {
  std::optional<ListKey> key = FlowBuilder(node).flowAt(0);
  if (!key || node.node.number("num_elements", -1) >= 0 || !mayResize(node.entry, key->array))
    return false;
  std::optional<DimExpr> first = lengthOf(node);
  std::optional<int64_t> largest = largestLength(node.entry, key->array);
  if (largest && first && first->constant().value_or(-1) >= *largest)
    return false;
  if (largest)
    node.entry.bounds.try_emplace(node.node.name, *largest);
  return true;
}

/// Returns the number of elements that a stack of a list whose length changes has, which is input
/// 2, or std::nullopt after an error.
static std::optional<DimExpr> stackedLength(NodeBuilder &node) {
  if (int64_t stated = node.node.number("num_elements", -1); stated >= 0)
    return DimExpr(stated);
  if (const dfg::SizeTensor *known = node.sizes(2); known && known->isSingle())
    return known->values.front();
  if (std::optional<DimExpr> found = node.foundSize(node.in(2)))
    return found;
  node.askForBound("number of elements");
  return std::nullopt;
}

static Outcome buildStack(NodeBuilder &node, const OpRule &) {
  constexpr unsigned kCount = 2; // the input of lists whose length changes
  NodeValue list = listOf(node);
  if (!list)
    return Outcome::Failed;
  bool grows = node.numInputs() > kCount;
  bool isFound = !grows && mayBeLonger(node) && node.entry.bounds.count(node.node.name);
  std::optional<DimExpr> length = grows     ? stackedLength(node)
                                  : isFound ? node.foundSize(node.op("list_size", list))
                                            : lengthOf(node);
  if (!length && grows)
    return Outcome::Failed;
  if (!length)
    return node.fail("expected the number of elements to be known when the graph is compiled "
                     "[dynamic-shape]");
  SmallVector<NamedAttribute> attributes = {node.attrs.sizes("size", *length)};
  // Popped elements are still there.
  if (grows && node.flag("_shrinks"))
    attributes.push_back(node.attrs.unit("prefix"));
  return node.done({node.op("list_stack", list, attributes)});
}

/// The shape of the elements.
static Outcome buildElementShape(NodeBuilder &node, const OpRule &) {
  std::optional<ListKey> key = FlowBuilder(node).flowAt(0);
  if (!key)
    return failWithoutList(node);
  RankedTensorType type = FlowBuilder(node).elementType(key->array);
  if (!type) {
    node.waitForElements(key->array);
    return Outcome::Failed;
  }
  Type number = node.dtype("shape_type");
  if (!number)
    return Outcome::Failed;
  node.followInput(0);
  return node.done({NodeValue(*dfg::makeSizeVector(number, dfg::shapeOf(type)))});
}

static Outcome buildLength(NodeBuilder &node, const OpRule &) {
  std::optional<DimExpr> length = mayBeLonger(node) ? std::nullopt : lengthOf(node);
  if (length)
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

//===----------------------------------------------------------------------===//
// Lists whose length changes, and optional values
//===----------------------------------------------------------------------===//

/// GrowingLists.cpp replaces operations whose list is known.
static Outcome buildStray(NodeBuilder &node, const OpRule &) { return failWithoutList(node); }

static Outcome buildOptional(NodeBuilder &node, const OpRule &) {
  return node.done({node.data(0)});
}

/// Returns true if the type of a value is that which the node states for its result.
static bool isStated(NodeBuilder &node, RankedTensorType type) {
  const Attr &dtypes = node.node.attr("output_types"), &shapes = node.node.attr("output_shapes");
  if (dtypes.numbers.size() == 1 &&
      elementTypeOf(node.context(), dtypes.numbers.front()) != type.getElementType())
    return false;
  if (shapes.shapes.size() != 1 || !shapes.shapes.front().hasRank)
    return true;
  ArrayRef<int64_t> stated = shapes.shapes.front().sizes;
  dfg::Shape shape = dfg::shapeOf(type);
  return equal(stated, shape, [](int64_t size, const DimExpr &own) {
    return size < 0 || own.constant().value_or(size) == size;
  });
}

/// Of several values the inputs of the second half say which one is there.
static Outcome buildGetValue(NodeBuilder &node, const OpRule &rule) {
  unsigned count = node.numInputs() / 2;
  if (node.numInputs() <= 2)
    return buildOptional(node, rule);
  NodeValue result;
  for (unsigned i = 0; i < count; ++i) {
    NodeValue value = node.in(i), isThere = node.in(count + i);
    if (!value || !isThere)
      return Outcome::Failed;
    if (!isStated(node, cast<RankedTensorType>(value.getType())))
      continue;
    result = result ? node.op("select", {isThere, value, result}) : value;
  }
  return result ? node.done({result})
                : node.fail("none of the values has the type that it states [operand]");
}

static Outcome buildHasValue(NodeBuilder &node, const OpRule &) {
  NodeValue result = node.in(0);
  for (unsigned i = 1; i < node.numInputs(); ++i)
    result = node.op("logical_or", {result, node.in(i)});
  return node.done({result});
}

/// Zeros of the type that the value has where there is one, or a list without elements.
static Outcome buildNone(NodeBuilder &node, const OpRule &) {
  FlowBuilder flows(node);
  if (auto key = flows.flowOf({node.index, 0}))
    return node.done({flows.emptyList(*key)});
  ArrayRef<int64_t> like = node.node.attr("_like").numbers;
  for (size_t i = 0; i + 1 < like.size(); i += 2) {
    Edge value{unsigned(like[i]), unsigned(like[i + 1])};
    if (value.node >= node.entry.graph.nodes.size() || !node.entry.structure.isNeeded[value.node])
      continue;
    if (!node.entry.isFed(value) && node.entry.states[value.node].status != NodeState::Built) {
      node.waitForNode(value.node);
      return Outcome::Failed;
    }
    Value built = Values(node.entry).valueOf(value);
    auto type = built ? dyn_cast<RankedTensorType>(built.getType()) : RankedTensorType();
    if (!type)
      return Outcome::Failed;
    return node.done({node.filled(0, dfg::shapeOf(type), type.getElementType())});
  }
  return node.done({node.scalar(0.0, Float32Type::get(node.context()))}); // nothing reads it
}

static constexpr OpRule kRules[] = {
    {"EmptyTensorList", "2 -> 1; element_dtype:type", buildReserve, "", OpRule::MakesList},
    {"OptionalFromValue", "1 -> 1", buildOptional, "", OpRule::Passes, 0, "several components"},
    {"OptionalGetValue", "1+ -> 1", buildGetValue, "", OpRule::Passes},
    {"OptionalHasValue", "1+ -> 1", buildHasValue, "", 0, 0, "lists"},
    {"OptionalNone", "0 -> 1", buildNone},
    {"TensorListElementShape", "1 -> 1; shape_type:type", buildElementShape},
    {"TensorListPopBack", "2 -> 2; element_dtype:type", buildStray},
    {"TensorListPushBack", "2 -> 1; element_dtype:type", buildStray, "", OpRule::ChangesList},
    {"TensorListReserve", "2 -> 1; element_dtype:type", buildReserve, "", OpRule::MakesList},
    {"TensorListFromTensor", "2 -> 1; element_dtype:type", buildFromTensor, "", OpRule::MakesList},
    {"TensorListGetItem", "3 -> 1", buildGetItem},
    {"TensorListSetItem", "3 -> 1", buildSetItem, "", OpRule::ChangesList},
    {"TensorListStack", "2+ -> 1; num_elements:int?", buildStack},
    {"TensorListLength", "1 -> 1", buildLength},
    {"TensorListGather", "3 -> 1", buildGather},
    {"TensorListScatterIntoExistingList", "3 -> 1", buildScatter, "", OpRule::ChangesList},
};

ArrayRef<OpRule> tensorListRules() { return kRules; }

} // namespace tfc::tensorflow
