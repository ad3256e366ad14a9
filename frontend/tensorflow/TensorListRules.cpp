// TensorLists: values of the type variant that are lists themselves.

#include "frontend/Fmt.h"
#include "frontend/tensorflow/Flows.h"
#include "frontend/tensorflow/ListLengths.h"
#include "frontend/tensorflow/Values.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

/// Lists that are passed on to the same nodes have elements of one type.
static Outcome buildReserve(NodeBuilder &node, const OpRule &) {
  FlowBuilder flows(node);
  // A list that is made in a branch is there if its inputs are.
  node.followInput(0);
  node.followInput(1);
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

/// Returns true if `TensorListSetItem` has written each element of these lists.
static bool areAllWritten(const EntryContext &entry, unsigned array) {
  auto keeps = [&](const auto &flow) {
    if (flow.second.array != array)
      return true;
    StringRef op = entry.graph.nodes[flow.first.node].op;
    return hasFlag(op, OpRule::Passes | OpRule::Merges) || op == "EmptyTensorList" ||
           op == "OptionalNone" || op == "TensorListSetItem";
  };
  return !mayResize(entry, array) && llvm::all_of(entry.structure.flows, keeps);
}

/// Returns the sizes that are written to a list at each of its positions, or null if they are not
/// known or differ: gradients of loops find the shapes of the forward pass in lists. Returns
/// std::nullopt if the node waits for those that write them.
static std::optional<KnownSizes> writtenSizes(NodeBuilder &node, unsigned array) {
  EntryContext &entry = node.entry;
  Type element = elementTypeOf(node.context(), node.node.number("element_dtype"));
  KnownSizes common;
  if (!isa_and_nonnull<IntegerType>(element) || !areAllWritten(entry, array))
    return common;
  for (auto [writer, written] : entry.structure.writtenArrays) {
    NodeBuilder write(entry, writer);
    unsigned input = FlowBuilder(write).writtenInput();
    std::optional<Edge> value = write.edge(input);
    if (written != array || !value || entry.isDead(*value))
      continue;
    bool isBuilt = entry.isFed(*value) || entry.states[value->node].status == NodeState::Built;
    if (!isBuilt && node.waitForSizes(value->node))
      return std::nullopt;
    KnownSizes sizes = isBuilt ? write.knownSizes(input) : nullptr;
    bool isSame =
        sizes && (!common || (common->shape == sizes->shape && common->values == sizes->values));
    if (!isSame || !node.areFixed(*sizes))
      return nullptr;
    common = sizes;
  }
  return common;
}

static Outcome buildGetItem(NodeBuilder &node, const OpRule &) {
  if (std::optional<ListKey> key = FlowBuilder(node).flowAt(0)) {
    std::optional<KnownSizes> sizes = writtenSizes(node, key->array);
    if (!sizes)
      return Outcome::Failed;
    if (*sizes)
      return node.done({NodeValue(**sizes)});
  }
  return node.done({node.op("list_read", {listOf(node), node.in(1)})});
}

/// Returns the number of elements of the list at input 0: an input of nodes whose list keeps
/// elements beyond these.
static NodeValue countOf(NodeBuilder &node, NodeValue list, unsigned input) {
  return node.hasInput(input) ? node.in(input) : node.op("list_size", list);
}

/// A list that counts its elements, or may be resized, gets those before the position, too.
static Outcome buildSetItem(NodeBuilder &node, const OpRule &) {
  NodeValue list = listOf(node), value = node.in(2);
  if (!list || !value)
    return Outcome::Failed;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (type && cast<dfg::ListType>(list.getType()).getElementType() != type &&
      !checkElement(node.entry, FlowBuilder(node).flowAt(0)->array, type))
    return Outcome::Failed;
  if (node.hasInput(3) || node.flag("resize_if_index_out_of_bounds"))
    list = node.library().compute("_extended", {list, countOf(node, list, 3), node.in(1)});
  return node.done({node.op("list_write", {list, node.in(1), value})});
}

static Outcome buildStack(NodeBuilder &node, const OpRule &) {
  NodeValue list = listOf(node);
  return node.done({list ? stackAll(node, list, /*countInput=*/2) : NodeValue()});
}

/// Joins elements of equal size along their first axis.
static Outcome buildConcat(NodeBuilder &node, const OpRule &) {
  NodeValue list = listOf(node);
  NodeValue stacked = list ? stackAll(node, list, node.numInputs() - 1) : NodeValue();
  if (!stacked)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(stacked.getType());
  if (shape.size() < 2)
    return node.fail("expected elements with an axis, but got scalars [graph-edge]");
  Type i64 = IntegerType::get(node.context(), 64);
  NodeValue lengths = node.broadcast(node.size(shape[1], i64), {shape[0]});
  dfg::Shape joined(shape.begin() + 1, shape.end());
  joined.front() = shape[0] * shape[1];
  return node.done({node.reshape(stacked, joined), lengths});
}

/// Cuts a tensor along its first axis. Parts of several sizes need room for the largest one.
static Outcome buildSplit(NodeBuilder &node, const OpRule &) {
  NodeValue value = node.in(0);
  if (!value)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(value.getType());
  if (shape.empty())
    return node.fail("expected a tensor with an axis, but got a scalar [graph-edge]");
  const dfg::SizeTensor *lengths = node.sizes(2);
  RankedTensorType element = cast<RankedTensorType>(value.getType());
  ListKey key = FlowBuilder(node).flowOf({node.index, 0}).value_or(ListKey{node.index, ""});
  if (!lengths || lengths->values.empty() || !all_equal(lengths->values)) {
    noteElement(node.entry, key.array, element, {0});
    return Outcome::Failed;
  }
  DimExpr count(lengths->values.size()), each = lengths->values.front();
  shape.front() = count * each;
  value = node.ensureSizes(value, shape);
  shape.front() = each;
  node.entry.arrays[node.index].type = dfg::tensorOf(shape, element.getElementType());
  shape.insert(shape.begin(), count);
  return node.done({node.op("list_unstack", node.reshape(value, shape))});
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
  if (waitsForLength(node))
    return Outcome::Failed;
  std::optional<DimExpr> length = mayBeLonger(node) ? std::nullopt : lengthOfList(node);
  if (length)
    return node.done({NodeValue(*dfg::makeSize(IntegerType::get(node.context(), 32), *length))});
  return node.done({node.op("list_size", listOf(node))});
}

/// More positions are read and written in a loop.
static constexpr int64_t kMostUnrolled = 16;

/// Returns the number of positions if there are few, at which operations read or write elements.
static std::optional<int64_t> unrolled(ArrayRef<DimExpr> positions) {
  std::optional<int64_t> count = positions.front().constant();
  return count && *count <= kMostUnrolled ? count : std::nullopt;
}

/// Reads the elements at these positions.
static Outcome buildGather(NodeBuilder &node, const OpRule &) {
  NodeValue list = listOf(node), at = node.in(1);
  if (!list || !at)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(at.getType());
  if (shape.size() != 1)
    return node.fail("expected a vector of positions, but got {} [operand]",
                     dfg::toText(at.getType()));
  std::optional<int64_t> count = unrolled(shape);
  if (!count || *count == 0)
    return node.done({node.library().compute("_elements_at", {list, at})});
  SmallVector<NodeValue> elements;
  for (int64_t i = 0; i < *count; ++i)
    elements.push_back(
        node.op("list_read", {list, node.reshape(node.slice(at, {DimExpr(i)}, {DimExpr(1)}), {})}));
  return node.done({node.op("stack", elements, node.attrs.integer("axis", 0))});
}

/// Returns the list at input 0 with room for the positions in input 2, or null after errors.
static NodeValue roomForPositions(NodeBuilder &node, NodeValue list) {
  const dfg::SizeTensor *known = node.sizes(2);
  std::optional<DimExpr> length = node.hasInput(3) ? std::nullopt : lengthOfList(node);
  auto isInList = [&](const DimExpr &place) { return length && isAtMost(place + 1, *length); };
  if (known && all_of(known->values, isInList))
    return list;
  NodeValue needed = node.library().compute("_size_for", {node.in(2)});
  NodeValue count = countOf(node, list, 3);
  if (!node.flag(kFixed))
    return node.library().compute("_extended", {list, count, needed});
  bool isChecked = node.check(node.op("less_equal", {needed, count}), "positions < num_elements");
  return isChecked ? list : NodeValue();
}

/// Writes the slices of input 1 to the positions in input 2.
static Outcome buildScatter(NodeBuilder &node, const OpRule &) {
  NodeValue list = listOf(node), values = node.in(1), at = node.in(2);
  if (!list || !values || !at)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(values.getType()), positions = dfg::shapeOf(at.getType());
  auto differ = [](const DimExpr &a, const DimExpr &b) {
    return a.constant() && b.constant() && a != b;
  };
  if (positions.size() != 1 || shape.empty() || differ(shape.front(), positions.front()))
    return node.fail("expected as many slices as positions, but got {} and {} [operand]",
                     dfg::toText(values.getType()), dfg::toText(at.getType()));
  list = roomForPositions(node, list);
  std::optional<int64_t> count = unrolled(positions);
  if (!count || shape.front() != *count) {
    shape.front() = positions.front();
    return node.done(
        {node.library().compute("_with_rows", {list, at, node.ensureSizes(values, shape)})});
  }
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

/// Returns a list of another length, of which input 2, if there is one, is the length so far.
static Outcome buildResize(NodeBuilder &node, const OpRule &) {
  NodeValue list = listOf(node), size = node.in(1);
  if (!list || !size)
    return Outcome::Failed;
  const dfg::SizeTensor *known = node.sizes(1);
  std::optional<int64_t> number = known ? known->getConstant() : std::nullopt;
  if (number && *number < 0)
    return node.fail("expected a size that is not negative, but got {} [operand]", *number);
  NodeValue zero = node.scalar(0, IntegerType::get(node.context(), 32));
  if (!number && !node.check(node.op("greater_equal", {size, zero}), "size >= 0",
                             dfg::Failure::InvalidArgument))
    return Outcome::Failed;
  return node.done({node.library().compute("_resized", {list, countOf(node, list, 2), size})});
}

/// The inputs are two lists and the numbers of their elements.
static Outcome buildConcatLists(NodeBuilder &node, const OpRule &) {
  std::optional<ListKey> key = FlowBuilder(node).flowAt(0);
  if (!key || node.numInputs() != 4)
    return failWithoutList(node);
  NodeValue list = listOf(node), other = FlowBuilder(node).flow(1, *key);
  if (!list || !other)
    return Outcome::Failed;
  return node.done(
      {node.library().compute("_joined_lists", {list, node.in(2), other, node.in(3)})});
}

//===----------------------------------------------------------------------===//
// Lists whose length changes, and optional values
//===----------------------------------------------------------------------===//

/// GrowingLists.cpp and ListVectors.cpp replace operations whose list is known.
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
    // The sizes are the same wherever there is a value.
    if (KnownSizes sizes = node.entry.sizesAt(value); sizes && node.areFixed(*sizes))
      return node.done({NodeValue(*sizes)});
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
    {"TensorListSetItem", "3-4 -> 1; resize_if_index_out_of_bounds:bool?", buildSetItem, "",
     OpRule::ChangesList},
    {"TensorListStack", "2+ -> 1; num_elements:int?", buildStack},
    {"TensorListConcat", "1+ -> 2; element_dtype:type", buildConcat},
    {"TensorListConcatV2", "3+ -> 2; element_dtype:type", buildConcat},
    {"TensorListSplit", "3 -> 1; element_dtype:type", buildSplit, "", OpRule::MakesList},
    {"TensorListLength", "1 -> 1", buildLength},
    {"TensorListGather", "3 -> 1", buildGather},
    {"TensorListScatterIntoExistingList", "3-4 -> 1", buildScatter, "", OpRule::ChangesList},
    {"TensorListScatter", "3 -> 1; element_dtype:type", buildStray},
    {"TensorListScatterV2", "4 -> 1; element_dtype:type", buildStray},
    {"TensorListResize", "2-3 -> 1", buildResize, "", OpRule::ChangesList},
    {"TensorListConcatLists", "2-4 -> 1; element_dtype:type", buildConcatLists, "",
     OpRule::ChangesList},
    {"TensorListPushBackBatch", "2 -> 1; element_dtype:type", buildStray},
};

ArrayRef<OpRule> tensorListRules() { return kRules; }

} // namespace tfc::tensorflow
