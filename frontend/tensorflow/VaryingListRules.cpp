// Implements the rules of lists whose elements have several sizes. A node has the second lists, of
// what is used of the elements, as its last inputs and output; VaryingLists.h explains what for.

#include "frontend/tensorflow/Flows.h"
#include "frontend/tensorflow/ListLengths.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

static const VaryingList *varyingAt(NodeBuilder &node, Edge edge) {
  return node.entry.varying->getLists().find(edge);
}

static NodeValue usedList(NodeBuilder &node) { return node.anyIn(node.numInputs() - 1); }

/// Returns a value with the sizes of the buffers of a list, and a vector of the sizes that are
/// used; axis 0 of an element is axis `first` of the value.
static std::pair<NodeValue, NodeValue> stored(NodeBuilder &node, NodeValue x,
                                              const VaryingList &list, unsigned first = 0) {
  SmallVector<NodeValue> used;
  for (unsigned axis : list.axes) {
    if (!x)
      return {};
    DimExpr size = dfg::shapeOf(x.getType())[axis + first], room = list.room[axis];
    auto found = node.library().on("_stored", {x},
                                   {{"axis", dfg::Shape{DimExpr(axis + first)}},
                                    {"base", dfg::Shape{DimExpr(0)}},
                                    {"room", dfg::Shape{room}},
                                    {"fits", isAtMost(size, room)}});
    if (!found)
      return {};
    x = (*found)[0];
    used.push_back((*found)[1]);
  }
  return {x, node.op("stack", used, node.attrs.integer("axis", 0))};
}

/// Returns the used part of a buffer, of which axis `first` is the first one of the element.
static NodeValue loaded(NodeBuilder &node, NodeValue x, NodeValue used, const VaryingList &list,
                        unsigned first = 0) {
  for (auto [i, axis] : enumerate(list.axes)) {
    if (!x || !used)
      return {};
    NodeValue place = node.slice(used, {DimExpr(int64_t(i))}, {DimExpr(1)});
    x = node.library().compute("_loaded", {x, node.reshape(place, {})},
                               {{"axis", dfg::Shape{DimExpr(axis + first)}},
                                {"base", dfg::Shape{DimExpr(0)}},
                                {"room", dfg::Shape{list.room[axis]}}});
  }
  return x;
}

/// Checks the type of an element of the list at input 0.
static const VaryingList *listFor(NodeBuilder &node, NodeValue value) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  std::optional<ListKey> key = FlowBuilder(node).flowAt(0);
  const VaryingList *list = varyingAt(node, *node.edge(0));
  if (!type || !key || !list)
    return nullptr;
  if (size_t(type.getRank()) != list->room.size()) {
    node.error() << "expected an element of " << list->room.size() << " axes, but got "
                 << dfg::toText(type) << " [operand]";
    return nullptr;
  }
  return checkElement(node.entry, key->array, type) ? list : nullptr;
}

static Outcome buildReserve(NodeBuilder &node, const OpRule &) {
  FlowBuilder flows(node);
  // A list that is made in a branch is there if its inputs are.
  node.followInput(0);
  node.followInput(1);
  ListKey key = flows.flowOf({node.index, 0}).value_or(ListKey{node.index, ""});
  node.entry.arrays[node.index].type = flows.elementType(key.array);
  return node.done({flows.zeroList({node.index, ""}), flows.zeroList({node.index, kUsed.str()})});
}

/// Zeros, of which none are used.
static Outcome buildZeros(NodeBuilder &node, const OpRule &) {
  FlowBuilder flows(node);
  auto list = flows.flowOf({node.index, 0}), used = flows.flowOf({node.index, 1});
  if (!list || !used)
    return failWithoutList(node);
  return node.done({flows.zerosLike(0, *list), flows.zerosLike(1, *used)});
}

static Outcome buildFromTensor(NodeBuilder &node, const OpRule &) {
  const VaryingList *list = varyingAt(node, {node.index, 0});
  NodeValue value = node.in(0);
  if (!value || !list)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(value.getType());
  if (shape.size() != list->room.size() + 1)
    return node.fail("expected elements of {} axes, but got {} [operand]", list->room.size(),
                     dfg::toText(value.getType()));
  auto [buffers, used] = stored(node, value, *list, 1);
  if (!used)
    return Outcome::Failed;
  NodeValue all = node.broadcast(used, {shape.front(), DimExpr(list->axes.size())});
  return node.done({node.op("list_unstack", buffers), node.op("list_unstack", all)});
}

static Outcome buildSplit(NodeBuilder &node, const OpRule &) {
  const VaryingList *list = varyingAt(node, {node.index, 0});
  NodeValue value = node.in(0), lengths = node.in(2);
  if (!value || !lengths || !list)
    return Outcome::Failed;
  if (dfg::shapeOf(value.getType()).size() != list->room.size() ||
      dfg::shapeOf(lengths.getType()).size() != 1 || *list->axes.rbegin() != 0)
    return node.fail("expected parts that differ along the first axis, but got {} [operand]",
                     dfg::toText(value.getType()));
  Type i64 = IntegerType::get(node.context(), 64);
  auto found = node.library().on("_split_rows", {value, node.cast(lengths, i64)},
                                 {{"room", dfg::Shape{list->room.front()}}});
  if (!found)
    return Outcome::Failed;
  return node.done({node.op("list_unstack", (*found)[0]), node.op("list_unstack", (*found)[1])});
}

static Outcome buildGetItem(NodeBuilder &node, const OpRule &) {
  const VaryingList *list = varyingAt(node, *node.edge(0));
  NodeValue buffers = listOf(node), used = usedList(node), at = node.in(1);
  if (!list || !buffers || !used)
    return Outcome::Failed;
  return node.done(
      {loaded(node, node.op("list_read", {buffers, at}), node.op("list_read", {used, at}), *list)});
}

static Outcome buildSetItem(NodeBuilder &node, const OpRule &) {
  NodeValue buffers = listOf(node), at = node.in(1), value = node.in(2), used = usedList(node);
  const VaryingList *list = listFor(node, value);
  if (!list || !buffers)
    return Outcome::Failed;
  auto [buffer, sizes] = stored(node, value, *list);
  return node.done(
      {node.op("list_write", {buffers, at, buffer}), node.op("list_write", {used, at, sizes})});
}

/// Returns all buffers, and a matrix of what is used of them.
static std::pair<NodeValue, NodeValue> stacked(NodeBuilder &node) {
  NodeValue buffers = listOf(node), used = usedList(node);
  auto length = buffers ? wholeLength(node, buffers, node.numInputs() - 2) : std::nullopt;
  if (!length || !used)
    return {};
  return {stackOf(node, buffers, *length), stackOf(node, used, *length)};
}

/// A call in which the elements have different sizes fails.
static Outcome buildStack(NodeBuilder &node, const OpRule &) {
  const VaryingList *list = varyingAt(node, *node.edge(0));
  auto [buffers, used] = stacked(node);
  auto sizes = list && used ? node.library().on("_common_sizes", {used}) : std::nullopt;
  if (!sizes || !node.check((*sizes)[1],
                            "the elements of the list at '" + node.node.name + "' have one size"))
    return Outcome::Failed;
  return node.done({loaded(node, buffers, (*sizes)[0], *list, 1)});
}

static Outcome buildConcat(NodeBuilder &node, const OpRule &) {
  const VaryingList *list = varyingAt(node, *node.edge(0));
  if (list && *list->axes.rbegin() != 0)
    return node.fail("expected elements that differ only along the first axis [operand]");
  auto [buffers, used] = stacked(node);
  if (!list || !used)
    return Outcome::Failed;
  return node.doneWith(node.library().on("_joined_rows", {buffers, used}));
}

/// The sum of lists of which an element is in one of them, or has the same size in several.
static Outcome buildSum(NodeBuilder &node, const OpRule &) {
  unsigned half = node.numInputs() / 2;
  FlowBuilder flows(node);
  auto key = flows.flowOf({node.index, 0}), usedKey = flows.flowOf({node.index, 1});
  auto length = lengthOfSum(node);
  if (!key || !usedKey)
    return failWithoutList(node);
  if (!length)
    return node.fail("expected the number of elements to be known when the graph is compiled "
                     "[dynamic-shape]");
  NodeValue sum = flows.flow(0, *key), used = flows.flow(half, *usedKey);
  for (unsigned i = 1; i < half; ++i) {
    NodeValue next = flows.flow(half + i, *usedKey);
    if (!used || !next)
      return Outcome::Failed;
    sum = node.op("list_sum", {sum, flows.flow(i, *key)});
    NodeValue larger =
        node.op("maximum", {stackOf(node, used, *length), stackOf(node, next, *length)});
    used = node.op("list_unstack", larger);
  }
  return node.done({sum, used});
}

/// Does not depend on what is used.
static Outcome buildWithout(NodeBuilder &node, const OpRule &) {
  return findRule(node.node.op)->build(node, *findRule(node.node.op));
}

static Outcome buildRefused(NodeBuilder &node, const OpRule &) {
  return node.fail(
      "the operation '{}' is not supported for lists whose elements have several sizes "
      "[unsupported-node]",
      node.node.op);
}

static constexpr OpRule kRules[] = {
    {"AddN", "2+ -> 2", buildSum},
    {"EmptyTensorList", "2 -> 2", buildReserve},
    {"TensorListConcat", "2+ -> 2", buildConcat},
    {"TensorListConcatV2", "4+ -> 2", buildConcat},
    {"TensorListElementShape", "2 -> 1; shape_type:type", buildWithout},
    {"TensorListFromTensor", "2 -> 2", buildFromTensor},
    {"TensorListGetItem", "4 -> 1", buildGetItem},
    {"TensorListLength", "2 -> 1", buildWithout},
    {"TensorListReserve", "2 -> 2", buildReserve},
    {"TensorListSetItem", "4 -> 2", buildSetItem},
    {"TensorListSplit", "3 -> 2", buildSplit},
    {"TensorListStack", "3+ -> 1", buildStack},
    {"ZerosLike", "2 -> 2", buildZeros},
};

const OpRule &varyingListRule(StringRef op) {
  static constexpr OpRule kRefused = {"", "0+ -> 2", buildRefused};
  const OpRule *found = llvm::find_if(kRules, [&](const OpRule &rule) { return rule.op == op; });
  return found == std::end(kRules) ? kRefused : *found;
}

} // namespace tfc::tensorflow
