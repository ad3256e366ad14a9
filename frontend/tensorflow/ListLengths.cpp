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

/// Returns the input that says how many elements a list has which a node makes: the number itself,
/// or a tensor with as many rows.
static unsigned lengthInput(const Node &maker) {
  return maker.op == "TensorListFromTensor" ? 0 : maker.op == "TensorListSplit" ? 2 : 1;
}

/// Returns the number of elements of the list that a node creates, if it is known.
static std::optional<DimExpr> createdLength(NodeBuilder &&maker) {
  if (maker.node.op == "EmptyTensorList")
    return std::nullopt;
  unsigned input = lengthInput(maker.node);
  if (input != 1) {
    RankedTensorType whole = maker.typeOf(input);
    return whole && whole.getRank() ? std::optional(dfg::shapeOf(whole).front()) : std::nullopt;
  }
  const dfg::SizeTensor *size = maker.sizes(input);
  return size && size->isSingle() ? std::optional(size->values.front()) : std::nullopt;
}

/// Returns the nodes that make or resize the list at input 0, or its operand, from which nodes that
/// keep the length pass it on; std::nullopt if another node may.
static std::optional<SmallVector<unsigned>> makersOf(NodeBuilder &node) {
  SmallVector<unsigned> makers;
  SmallVector<Edge> work;
  std::set<Edge> visited;
  if (std::optional<Edge> list = node.edge(0))
    work.push_back(*list);
  while (!work.empty()) {
    Edge edge = work.pop_back_val();
    if (!visited.insert(edge).second || node.entry.isDead(edge))
      continue;
    const Node &from = node.entry.graph.nodes[edge.node];
    bool isSum = from.op == "AddN" || from.op == "ZerosLike";
    if (node.entry.isFed(edge))
      return std::nullopt;
    if (hasFlag(from.op, OpRule::MakesList) || from.op == "TensorListResize")
      makers.push_back(edge.node);
    else if (hasFlag(from.op, OpRule::Merges))
      append_range(work, from.inputs);
    else if (!from.inputs.empty() &&
             (isSum || hasFlag(from.op, OpRule::Passes | OpRule::ChangesList)))
      work.push_back(*from.inputs.first()); // all operands of a sum are equally long
    else
      return std::nullopt;
  }
  return makers;
}

std::optional<DimExpr> lengthOfList(NodeBuilder &node) {
  if (int64_t stated = node.node.number("num_elements", -1); stated >= 0)
    return DimExpr(stated);
  std::optional<DimExpr> length;
  for (unsigned maker : makersOf(node).value_or(SmallVector<unsigned>())) {
    std::optional<DimExpr> own = createdLength(NodeBuilder(node.entry, maker));
    if (!own || (length && *length != *own))
      return std::nullopt;
    length = own;
  }
  return length;
}

bool waitsForLength(NodeBuilder &node) {
  for (unsigned maker : makersOf(node).value_or(SmallVector<unsigned>())) {
    const Node &made = node.entry.graph.nodes[maker];
    std::optional<Edge> size = made.inputs.at(lengthInput(made));
    if (size && !node.entry.isFed(*size) &&
        node.entry.states[size->node].status != NodeState::Built && node.waitForSizes(size->node))
      return true;
  }
  return false;
}

/// Returns true if a node that a predicate holds for changes the lists of an array.
static bool isChangedBy(const EntryContext &entry, unsigned array,
                        llvm::function_ref<bool(const Node &)> predicate) {
  return any_of(entry.structure.writtenArrays, [&](auto written) {
    return written.second == array && predicate(entry.graph.nodes[written.first]);
  });
}

/// Returns true for a write after which a list may be longer.
static bool mayExtend(const Node &node) {
  return node.number("resize_if_index_out_of_bounds") != 0 ||
         node.op == "TensorListScatterIntoExistingList";
}

bool mayResize(const EntryContext &entry, unsigned array) {
  return isChangedBy(entry, array, [](const Node &node) {
    return mayExtend(node) || node.op == "TensorListResize";
  });
}

namespace {
/// The effect of writes and of changes of the size on the length of a list.
struct Growth {
  bool mayBeLonger = false;     // than it is made, or of another length
  std::optional<DimExpr> limit; // none if it is not known
};
} // namespace

static Growth growthOf(NodeBuilder &node) {
  std::optional<ListKey> key = FlowBuilder(node).flowAt(0);
  if (!key || node.node.number("num_elements", -1) >= 0 || !mayResize(node.entry, key->array))
    return {};
  std::optional<DimExpr> first = lengthOfList(node);
  if (first && !isChangedBy(node.entry, key->array, mayExtend))
    return {};
  Growth growth{true, largestLength(node.entry, key->array)};
  growth.mayBeLonger = !growth.limit || !first || !isAtMost(*growth.limit, *first);
  return growth;
}

/// Returns the number of elements of a list that writes may have made longer, which calls find, or
/// std::nullopt after an error.
static std::optional<DimExpr> grownLength(NodeBuilder &node, NodeValue list, const Growth &growth) {
  NodeValue count = node.op("list_size", list);
  if (node.entry.bounds.count(node.node.name))
    return node.foundSize(count);
  std::optional<DimExpr> first = growth.limit ? std::nullopt : lengthOfList(node);
  if (first && !first->isConstant(0))
    return first; // the call fails if it is longer
  if (!growth.limit) {
    node.askForBound("number of elements");
    return std::nullopt;
  }
  return node.sizeUpTo(count, *growth.limit);
}

bool mayBeLonger(NodeBuilder &node) { return growthOf(node).mayBeLonger; }

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
  if (waitsForLength(node))
    return std::nullopt;
  Growth growth = growthOf(node);
  std::optional<DimExpr> length =
      growth.mayBeLonger ? grownLength(node, list, growth) : lengthOfList(node);
  if (!length && !growth.mayBeLonger)
    node.error() << "expected the number of elements to be known when the graph is compiled "
                    "[dynamic-shape]";
  return length;
}

NodeValue stackAll(NodeBuilder &node, NodeValue list, unsigned countInput) {
  std::optional<DimExpr> length = wholeLength(node, list, countInput);
  return length ? stackOf(node, list, *length) : NodeValue();
}

NodeValue stackOf(NodeBuilder &node, NodeValue list, const DimExpr &length) {
  // Popped elements are still there.
  if (node.flag(kGrows) && node.flag("_shrinks")) {
    NodeValue count = node.size(length, IntegerType::get(node.context(), 32));
    list = node.library().compute("_first_elements", {list, count});
  }
  return node.op("list_stack", list, node.attrs.sizes("size", length));
}

} // namespace tfc::tensorflow
