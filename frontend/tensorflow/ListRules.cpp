// TensorArrays, whose flow edges become lists, and the stacks that gradients of loops use.

#include "frontend/Fmt.h"
#include "frontend/tensorflow/Flows.h"
#include "frontend/tensorflow/Values.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

/// Returns the list that the node works on: its handle is input 0, its flow is input `i`.
static NodeValue listAt(NodeBuilder &node, unsigned i, std::optional<ListKey> &key) {
  key = FlowBuilder(node).arrayAt(0);
  if (!key) {
    node.error() << "its input 0 does not lead to a TensorArray [graph-edge]";
    return {};
  }
  return FlowBuilder(node).flow(i, *key);
}

//===----------------------------------------------------------------------===//
// TensorArrays
//===----------------------------------------------------------------------===//

static Outcome buildTensorArray(NodeBuilder &node, const OpRule &) {
  RankedTensorType element = FlowBuilder(node).elementType(node.index);
  if (!element) {
    node.waitForElements(node.index);
    return Outcome::Failed;
  }
  NodeValue handle = node.scalar(1, IntegerType::get(node.context(), 1));
  return node.done({handle, FlowBuilder(node).zeroList({node.index, ""})});
}

static bool isUsed(const NodeBuilder &node, Edge edge) {
  return llvm::any_of(node.entry.structure.readers[edge.node], [&](unsigned reader) {
    return is_contained(node.entry.graph.nodes[reader].inputs, edge);
  });
}

static Outcome buildGradient(NodeBuilder &node, const OpRule &) {
  std::optional<ListKey> key = node.entry.handles.array({node.index, 0});
  if (!key)
    return node.fail("its input 0 does not lead to a TensorArray [graph-edge]");
  NodeValue handle = node.scalar(1, IntegerType::get(node.context(), 1));
  // Usually only the incoming flow is used from here on.
  if (!isUsed(node, {node.index, 1}))
    return node.done({handle});
  return node.done({handle, FlowBuilder(node).flow(1, *key)});
}

static Outcome buildWrite(NodeBuilder &node, const OpRule &) {
  std::optional<ListKey> key;
  NodeValue list = listAt(node, 3, key), place = node.in(1), value = node.in(2);
  if (!list || !place || !value)
    return Outcome::Failed;
  if (key->source.empty())
    return node.done({node.op("list_write", {list, place, value})});
  // Gradients accumulate. If the list was zero before, sums can add the single element in place.
  if (FlowBuilder(node).flowAt(3) != key)
    node.entry.singleWrites[{node.index, 0}] = {node.valueOf(place), node.valueOf(value)};
  return node.done({node.op("list_add", {list, place, value})});
}

static Outcome buildRead(NodeBuilder &node, const OpRule &) {
  std::optional<ListKey> key;
  NodeValue list = listAt(node, 2, key);
  return node.done({node.op("list_read", {list, node.in(1)})});
}

namespace {
/// The properties of a vector of positions that are known.
struct Places {
  bool isCounting = false; // 0, 1, 2, ...
  std::optional<DimExpr> count;
  std::optional<SmallVector<int64_t>> numbers;
};
} // namespace

static Places placesAt(NodeBuilder &node, unsigned i) {
  Places places;
  if (const dfg::SizeTensor *known = node.sizes(i)) {
    places.numbers = known->getConstants();
    places.count = DimExpr(known->values.size());
    places.isCounting = places.numbers.has_value();
    for (auto [place, number] : enumerate(places.numbers.value_or(SmallVector<int64_t>())))
      places.isCounting &= number == int64_t(place);
    return places;
  }
  if (i >= node.numInputs())
    return places;
  Edge edge = *node.edge(i);
  const Node *producer = &node.entry.graph.nodes[edge.node];
  // Real graphs have few such nodes here; in other graphs the chain may be endless.
  for (unsigned steps = 0; steps < 256 && producer->inputs.first() &&
                           (producer->op == "Enter" || producer->op == "Identity");
       ++steps) {
    edge = *producer->inputs.first();
    producer = &node.entry.graph.nodes[edge.node];
  }
  if (producer->op != "Range")
    return places;
  NodeBuilder range(node.entry, edge.node);
  const dfg::SizeTensor *start = range.sizes(0), *limit = range.sizes(1), *step = range.sizes(2);
  places.isCounting = start && step && start->isSingle() && step->isSingle() &&
                      start->values[0].isConstant(0) && step->values[0].isConstant(1);
  if (!places.isCounting)
    return places;
  if (limit && limit->isSingle())
    places.count = limit->values.front();
  else if (NodeValue found = node.in(i)) // up to a bound
    places.count = dfg::shapeOf(found.getType()).front();
  return places;
}

static NodeValue placeValue(NodeBuilder &node, int64_t place) {
  return node.scalar(place, IntegerType::get(node.context(), 32));
}

static Outcome buildGather(NodeBuilder &node, const OpRule &) {
  std::optional<ListKey> key;
  NodeValue list = listAt(node, 2, key);
  Places places = placesAt(node, 1);
  if (!list)
    return Outcome::Failed;
  if (places.isCounting && places.count)
    return node.done({node.op("list_stack", list, node.attrs.sizes("size", *places.count))});
  if (!places.numbers)
    return node.fail("expected the number of gathered elements to be known when the "
                     "graph is compiled [dynamic-shape]");
  SmallVector<NodeValue> elements;
  for (int64_t place : *places.numbers)
    elements.push_back(node.op("list_read", {list, placeValue(node, place)}));
  return node.done({node.op("stack", elements)});
}

/// Writes the slices of `value` one by one.
static NodeValue writeSlices(NodeBuilder &node, NodeValue list, NodeValue value,
                             ArrayRef<int64_t> places, StringRef write) {
  dfg::Shape shape = dfg::shapeOf(value.getType());
  dfg::Shape starts(shape.size(), DimExpr(0)), sizes = shape;
  sizes.front() = 1;
  for (auto [i, place] : enumerate(places)) {
    starts.front() = i;
    NodeValue slice = node.reshape(node.slice(value, starts, sizes), ArrayRef(shape).drop_front());
    list = node.op(write, {list, placeValue(node, place), slice});
  }
  return list;
}

static Outcome buildScatter(NodeBuilder &node, const OpRule &) {
  std::optional<ListKey> key;
  NodeValue list = listAt(node, 3, key), value = node.in(2);
  if (!list || !value)
    return Outcome::Failed;
  if (dfg::shapeOf(value.getType()).empty())
    return node.fail("expected a tensor with an axis, but got a scalar [graph-edge]");
  Places places = placesAt(node, 1);
  bool isGradient = !key->source.empty();
  if (!places.isCounting && !places.numbers)
    return node.fail("expected the scattered positions to be known when the graph is "
                     "compiled [dynamic-shape]");
  if (!places.isCounting)
    return node.done(
        {writeSlices(node, list, value, *places.numbers, isGradient ? "list_add" : "list_write")});
  NodeValue whole = node.op("list_unstack", value);
  if (isGradient && FlowBuilder(node).flowAt(3) == key)
    whole = node.op("list_sum", {list, whole});
  return node.done({whole});
}

/// Returns the length of an array that does not grow, as declared by the node that creates it, if
/// it is known.
static std::optional<dfg::SizeTensor> fixedSize(NodeBuilder &node) {
  std::optional<ListKey> array = FlowBuilder(node).arrayAt(0);
  if (!array)
    return std::nullopt;
  NodeBuilder maker(node.entry, array->array);
  if (maker.node.op != "TensorArrayV3" || maker.flag("dynamic_size"))
    return std::nullopt;
  const dfg::SizeTensor *size = maker.sizes(0);
  return size ? std::optional(*size) : std::nullopt;
}

static Outcome buildSize(NodeBuilder &node, const OpRule &) {
  if (std::optional<dfg::SizeTensor> size = fixedSize(node))
    return node.done({NodeValue(std::move(*size))});
  std::optional<ListKey> key;
  return node.done({node.op("list_size", listAt(node, 1, key))});
}

/// Joins elements of equal size along their first axis.
static Outcome buildConcat(NodeBuilder &node, const OpRule &) {
  std::optional<ListKey> key;
  NodeValue list = listAt(node, 1, key);
  if (!list)
    return Outcome::Failed;
  NodeBuilder maker(node.entry, key->array);
  const dfg::SizeTensor *count = maker.sizes(0);
  dfg::Shape shape = dfg::shapeOf(cast<dfg::ListType>(list.getType()).getElementType());
  std::optional<int64_t> number =
      count && count->isSingle() ? count->values.front().constant() : std::nullopt;
  if (!number || *number < 0 || *number > dfg::SizeTensor::kMaxElements || shape.empty() ||
      !shape.front().constant())
    return node.fail("expected the number of joined elements to be known when the graph "
                     "is compiled [dynamic-shape]");
  DimExpr total = *number, each = shape.front();
  NodeValue stacked = node.op("list_stack", list, node.attrs.sizes("size", total));
  shape.front() = total * each;
  dfg::SizeTensor lengths{
      IntegerType::get(node.context(), 64), {*number}, SmallVector<DimExpr>(*number, each)};
  return node.done({node.reshape(stacked, shape), node.materialise(lengths)});
}

static Outcome buildSplit(NodeBuilder &node, const OpRule &) {
  std::optional<ListKey> key;
  auto lengths = node.ints(2);
  if (!lengths)
    return Outcome::Failed;
  NodeValue value = node.in(1);
  if (!value || lengths->empty() || !llvm::all_equal(*lengths))
    return node.fail("expected parts of one size [dynamic-shape]");
  dfg::Shape shape = dfg::shapeOf(value.getType());
  if (shape.empty())
    return node.fail("expected a tensor with an axis, but got a scalar [graph-edge]");
  shape.front() = lengths->front();
  shape.insert(shape.begin(), DimExpr(lengths->size()));
  RankedTensorType element =
      dfg::tensorOf(ArrayRef(shape).drop_front(), dfg::elementTypeOf(value.getType()));
  auto array = FlowBuilder(node).arrayAt(0);
  if (array && !node.entry.arrays[array->array].type)
    node.entry.arrays[array->array].type = element;
  return node.done({node.op("list_unstack", node.reshape(value, shape))});
}

static Outcome buildNothing(NodeBuilder &node, const OpRule &) { return node.done(); }

//===----------------------------------------------------------------------===//
// Stacks
//===----------------------------------------------------------------------===//

static std::string tapeName(NodeBuilder &node, unsigned stack) {
  return fmt::format("{}.{}", node.entry.spec.name, node.entry.graph.nodes[stack].name);
}

/// Handles and flows are not pushed: their uses are resolved to the node that created them.
static bool isKept(NodeBuilder &node, Edge pushed) {
  return !FlowBuilder(node).flowOf(pushed) && !node.entry.handles.array(pushed);
}

static Outcome buildPush(NodeBuilder &node, const OpRule &) {
  std::optional<unsigned> stack = node.handle(0);
  if (!stack)
    return Outcome::Failed;
  Value value = node.valueOf(node.anyIn(1));
  // Known sizes are not pushed, either.
  if (!value || !isKept(node, *node.edge(1)) || node.sizes(1))
    return node.done({NodeValue(value)});
  std::string name = tapeName(node, *stack);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return node.fail("expected a tensor, but got a TensorArray for input 1 [graph-edge]");
  if (!node.entry.symbols.claim<dfg::TapeOp>(name))
    return node.fail("the name '{}' is already in use [graph-file]", name);
  if (node.entry.symbols.declare(name))
    node.builder().getResources().createTape(name, type, node.location());
  node.record([&] { node.builder().getResources().push(name, value, node.location()); });
  return node.done({NodeValue(value)});
}

/// Returns the sizes that are pushed to the stack, if they are the same in each iteration.
static KnownSizes pushedSizes(NodeBuilder &node) {
  const EntryContext &entry = node.entry;
  std::optional<Edge> stack = node.edge(0);
  std::optional<Edge> pushed = stack ? entry.handles.pushed(*stack) : std::nullopt;
  KnownSizes sizes = pushed ? entry.sizesAt(*pushed) : nullptr;
  return sizes && node.areFixed(*sizes) ? sizes : nullptr;
}

static Outcome buildPop(NodeBuilder &node, const OpRule &) {
  if (KnownSizes sizes = pushedSizes(node))
    return node.done({NodeValue(*sizes)});
  std::optional<unsigned> stack = node.handle(0);
  if (!stack)
    return Outcome::Failed;
  const std::map<unsigned, unsigned> &pushes = node.entry.structure.pushes;
  auto first = pushes.find(*stack);
  if (first == pushes.end())
    return node.fail("nothing is pushed to its stack [graph-edge]");
  NodeBuilder push(node.entry, first->second);
  Edge pushed = *push.edge(1);
  if (!isKept(node, pushed))
    return node.done({node.scalar(0, Float32Type::get(node.context()))});
  if (!node.entry.isFed(pushed) && node.entry.states[pushed.node].status != NodeState::Built) {
    node.waitForNode(pushed.node);
    return Outcome::Failed;
  }
  RankedTensorType type = push.typeOf(1);
  if (!type)
    return Outcome::Failed;
  std::string name = tapeName(node, *stack);
  if (!node.entry.symbols.claim<dfg::TapeOp>(name))
    return node.fail("the name '{}' is already in use [graph-file]", name);
  if (node.entry.symbols.declare(name))
    node.builder().getResources().createTape(name, type, node.location());
  return node.done({node.record(
      [&] { return node.builder().getResources().pop(name, type, node.location()); })});
}

static constexpr OpRule kRules[] = {
    {"TensorArrayV3", "1 -> 2; dtype:type, element_shape:shape?, dynamic_size:bool?",
     buildTensorArray, "", OpRule::Handle},
    {"TensorArrayGradV3", "2 -> 2; source:string", buildGradient},
    {"TensorArrayWriteV3", "4 -> 1", buildWrite},
    {"TensorArrayReadV3", "3 -> 1", buildRead},
    {"TensorArrayGatherV3", "3 -> 1", buildGather},
    {"TensorArrayScatterV3", "4 -> 1", buildScatter},
    {"TensorArraySizeV3", "2 -> 1", buildSize},
    {"TensorArrayConcatV3", "2 -> 2", buildConcat},
    {"TensorArraySplitV3", "4 -> 1", buildSplit},
    {"TensorArrayCloseV3", "1 -> 0", buildNothing},
    {"StackV2", "1 -> 1", buildNothing, "", OpRule::Handle},
    {"StackPushV2", "2 -> 1", buildPush, "", OpRule::Effect},
    {"StackPopV2", "1 -> 1", buildPop, "", OpRule::Effect},
    {"StackCloseV2", "1 -> 0", buildNothing},
};

ArrayRef<OpRule> listRules() { return kRules; }

} // namespace tfc::tensorflow
