// TensorArrays, whose flow edges become lists, and the stacks of gradients of loops.

#include "frontend/tensorflow/Importer.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

//===----------------------------------------------------------------------===//
// Lists behind flow edges
//===----------------------------------------------------------------------===//

std::optional<ListKey> NodeBuilder::flowOf(Edge edge) const {
  auto found = entry.facts.flows.find(edge);
  return found == entry.facts.flows.end() ? std::nullopt : std::optional(found->second);
}

std::optional<ListKey> NodeBuilder::flowAt(unsigned i) const {
  return edge(i) ? flowOf(*edge(i)) : std::nullopt;
}

std::optional<ListKey> NodeBuilder::arrayAt(unsigned i) const {
  return edge(i) ? entry.handles.array(*edge(i)) : std::nullopt;
}

Value NodeBuilder::data(unsigned i) {
  std::optional<ListKey> key = flowOf({index, 0});
  return key ? flow(i, *key) : anyIn(i);
}

/// Elements of the type that something writes, where the array does not say it.
RankedTensorType NodeBuilder::elementType(unsigned array) {
  if (auto found = entry.elementTypes.find(array); found != entry.elementTypes.end())
    return found->second;
  NodeBuilder maker(entry, array);
  Type element = maker.dtype("dtype");
  const PartialShape &shape = maker.node.attr("element_shape").shape;
  if (!element)
    return {};
  if (maker.node.has("element_shape") && shape.isStatic())
    return entry.elementTypes[array] =
               dfg::tensorOf(dfg::Shape(shape.sizes.begin(), shape.sizes.end()), element);
  for (unsigned writer : entry.facts.writers[array]) {
    NodeBuilder node(entry, writer);
    bool isWrite = node.node.op == "TensorArrayWriteV3",
         isSplit = node.node.op == "TensorArraySplitV3";
    unsigned place = isSplit ? 1 : 2;
    if (!node.edge(place))
      continue;
    Edge value = *node.edge(place);
    if (!entry.fed.count(value) && entry.states[value.node].status != EntryBuilder::State::Built)
      continue;
    RankedTensorType type = node.typeOf(place);
    if (!type || isSplit || (!isWrite && type.getRank() == 0))
      continue;
    dfg::Shape sizes = dfg::shapeOf(type);
    return entry.elementTypes[array] =
               dfg::tensorOf(ArrayRef(sizes).drop_front(isWrite ? 0 : 1), type.getElementType());
  }
  return {};
}

static NamedAttribute shapeAttr(NodeBuilder &node, RankedTensorType element) {
  return node.dimsAttr("shape", dfg::shapeOf(element));
}

/// Brings a value of an outer frame into the frame where the inputs of the node are.
Value NodeBuilder::bringIn(Value value, unsigned from) {
  unsigned frame = entry.facts.frameOf[index];
  if (node.op == "Enter")
    frame = entry.facts.frames[frame].parent;
  SmallVector<unsigned> path;
  for (; frame != from && frame != 0; frame = entry.facts.frames[frame].parent)
    path.push_back(frame);
  if (frame != from) {
    error() << "the size of its TensorArray is not known here [dynamic-shape]";
    return {};
  }
  for (unsigned inner : llvm::reverse(path))
    value = op("enter", value,
               {textAttr("frame", entry.facts.frames[inner].name), boolAttr("constant", true)});
  return value;
}

Value NodeBuilder::zeroList(const ListKey &key) {
  RankedTensorType element = elementType(key.array);
  NodeBuilder maker(entry, key.array);
  mustWait |= !element;
  if (!element)
    return {};
  SmallVector<NamedAttribute> attributes{shapeAttr(*this, element),
                                         typeAttr("dtype", element.getElementType())};
  if (const SizeTensor *known = maker.sizes(0); known && known->values.size() == 1)
    return outside("list_create", size(known->values.front(), known->elementType), attributes);
  Value size = maker.in(0);
  if (!size)
    return {};
  Edge source = *maker.edge(0);
  unsigned frame =
      entry.fed.count(source) ? entry.facts.frameOf[index] : entry.facts.frameOf[source.node];
  return op("list_create", bringIn(size, frame), attributes);
}

/// Input `i` as the list of `key`. The flow of the array itself, where a list of its gradients is
/// wanted, or a constant, stands for zeros.
Value NodeBuilder::flow(unsigned i, const ListKey &key) {
  if (i >= numInputs())
    return in(i);
  Edge input = *edge(i);
  std::optional<ListKey> given = flowOf(input);
  if (given && *given == key) {
    Value value = entry.valueOf(input);
    if (!value || isa<dfg::ListType>(value.getType()))
      return value;
  }
  if (given && given->array == key.array && given->source.empty()) {
    Value forward = entry.valueOf(input);
    if (!forward || !isa<dfg::ListType>(forward.getType()))
      return {};
    auto element = cast<dfg::ListType>(forward.getType()).getElementType();
    return op("list_create", op("list_size", forward),
              {shapeAttr(*this, element), typeAttr("dtype", element.getElementType())});
  }
  followInput(i);
  return zeroList(key);
}

Value NodeBuilder::addLists(Value lhs, Value rhs, unsigned i) {
  auto single = edge(i) ? entry.singleWrites.find(*edge(i)) : entry.singleWrites.end();
  if (single == entry.singleWrites.end())
    return op("list_sum", {lhs, rhs});
  followInput(i);
  return op("list_add", {lhs, single->second.first, single->second.second});
}

/// The list that the node works on: handle 0, flow `i`.
static Value listAt(NodeBuilder &node, unsigned i, std::optional<ListKey> &key) {
  key = node.arrayAt(0);
  if (!key) {
    node.error() << "its input 0 leads to no TensorArray [graph-edge]";
    return {};
  }
  return node.flow(i, *key);
}

//===----------------------------------------------------------------------===//
// TensorArrays
//===----------------------------------------------------------------------===//

static Outcome buildTensorArray(NodeBuilder &node, const OpRule &) {
  RankedTensorType element = node.elementType(node.index);
  if (!element)
    return node.hasErrors() ? Outcome::Failed : Outcome::Later;
  Value handle = node.scalar(1, IntegerType::get(node.context(), 1));
  return node.done({handle, node.zeroList({node.index, ""})});
}

static bool isUsed(const NodeBuilder &node, Edge edge) {
  return llvm::any_of(node.entry.facts.readers[edge.node], [&](unsigned reader) {
    return is_contained(node.entry.graph.nodes[reader].inputs, edge);
  });
}

static Outcome buildGradient(NodeBuilder &node, const OpRule &) {
  std::optional<ListKey> key = node.entry.handles.array({node.index, 0});
  if (!key)
    return node.fail("its input 0 leads to no TensorArray [graph-edge]");
  Value handle = node.scalar(1, IntegerType::get(node.context(), 1));
  // Mostly the flow that went in is used on.
  if (!isUsed(node, {node.index, 1}))
    return node.done({handle});
  return node.done({handle, node.flow(1, *key)});
}

static Outcome buildWrite(NodeBuilder &node, const OpRule &) {
  std::optional<ListKey> key;
  Value list = listAt(node, 3, key), place = node.in(1), value = node.in(2);
  if (!list || !place || !value)
    return Outcome::Failed;
  if (key->source.empty())
    return node.done({node.op("list_write", {list, place, value})});
  // Gradients accumulate. Where there was nothing, sums may add the one element in its place.
  if (node.flowAt(3) != key)
    node.entry.singleWrites[{node.index, 0}] = {place, value};
  return node.done({node.op("list_add", {list, place, value})});
}

static Outcome buildRead(NodeBuilder &node, const OpRule &) {
  std::optional<ListKey> key;
  Value list = listAt(node, 2, key);
  return node.done({node.op("list_read", {list, node.in(1)})});
}

namespace {
/// What is known of a vector of places.
struct Places {
  bool isCounting = false; // 0, 1, 2, ...
  std::optional<DimExpr> count;
  std::optional<SmallVector<int64_t>> numbers;
};
} // namespace

static Places placesAt(NodeBuilder &node, unsigned i) {
  Places places;
  if (const SizeTensor *known = node.sizes(i)) {
    places.numbers = known->constants();
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
  // Real graphs pass few nodes here; there need not be an end in others.
  for (unsigned steps = 0; steps < 256 && producer->inputs.first() &&
                           (producer->op == "Enter" || producer->op == "Identity");
       ++steps) {
    edge = *producer->inputs.first();
    producer = &node.entry.graph.nodes[edge.node];
  }
  if (producer->op != "Range")
    return places;
  NodeBuilder range(node.entry, edge.node);
  const SizeTensor *start = range.sizes(0), *limit = range.sizes(1), *step = range.sizes(2);
  places.isCounting = start && step && start->values.size() == 1 && step->values.size() == 1 &&
                      start->values[0].isConstant(0) && step->values[0].isConstant(1);
  if (places.isCounting && limit && limit->values.size() == 1)
    places.count = limit->values.front();
  return places;
}

static Value placeValue(NodeBuilder &node, int64_t place) {
  return node.scalar(place, IntegerType::get(node.context(), 32));
}

static Outcome buildGather(NodeBuilder &node, const OpRule &) {
  std::optional<ListKey> key;
  Value list = listAt(node, 2, key);
  Places places = placesAt(node, 1);
  if (!list)
    return Outcome::Failed;
  if (places.isCounting && places.count)
    return node.done({node.op("list_stack", list, node.dimsAttr("size", *places.count))});
  if (!places.numbers)
    return node.fail("expected the number of elements that are gathered to be known when the "
                     "graph is compiled [dynamic-shape]");
  SmallVector<Value> elements;
  for (int64_t place : *places.numbers)
    elements.push_back(node.op("list_read", {list, placeValue(node, place)}));
  return node.done({node.op("stack", elements)});
}

/// Writes the slices of `value` one by one.
static Value writeSlices(NodeBuilder &node, Value list, Value value, ArrayRef<int64_t> places,
                         StringRef write) {
  dfg::Shape shape = dfg::shapeOf(value.getType());
  dfg::Shape starts(shape.size(), DimExpr(0)), sizes = shape;
  sizes.front() = 1;
  for (auto [i, place] : enumerate(places)) {
    starts.front() = i;
    Value slice = node.reshape(node.slice(value, starts, sizes), ArrayRef(shape).drop_front());
    list = node.op(write, {list, placeValue(node, place), slice});
  }
  return list;
}

static Outcome buildScatter(NodeBuilder &node, const OpRule &) {
  std::optional<ListKey> key;
  Value list = listAt(node, 3, key), value = node.in(2);
  if (!list || !value)
    return Outcome::Failed;
  if (dfg::shapeOf(value.getType()).empty())
    return node.fail("expected a tensor with an axis, but got a scalar [graph-edge]");
  Places places = placesAt(node, 1);
  bool isGradient = !key->source.empty();
  if (!places.isCounting && !places.numbers)
    return node.fail("expected the places that are scattered to be known when the graph is "
                     "compiled [dynamic-shape]");
  if (!places.isCounting)
    return node.done(
        {writeSlices(node, list, value, *places.numbers, isGradient ? "list_add" : "list_write")});
  Value whole = node.op("list_unstack", value);
  if (isGradient && node.flowAt(3) == key)
    whole = node.op("list_sum", {list, whole});
  return node.done({whole});
}

static Outcome buildSize(NodeBuilder &node, const OpRule &) {
  std::optional<ListKey> key;
  return node.done({node.op("list_size", listAt(node, 1, key))});
}

/// Joins elements along their first axis; all have one size.
static Outcome buildConcat(NodeBuilder &node, const OpRule &) {
  std::optional<ListKey> key;
  Value list = listAt(node, 1, key);
  if (!list)
    return Outcome::Failed;
  NodeBuilder maker(node.entry, key->array);
  const SizeTensor *count = maker.sizes(0);
  dfg::Shape shape = dfg::shapeOf(cast<dfg::ListType>(list.getType()).getElementType());
  std::optional<int64_t> number =
      count && count->values.size() == 1 ? count->values.front().constant() : std::nullopt;
  if (!number || *number < 0 || *number > kMaxSizes || shape.empty() || !shape.front().constant())
    return node.fail("expected the number of elements that are joined to be known when the graph "
                     "is compiled [dynamic-shape]");
  DimExpr total = *number, each = shape.front();
  Value stacked = node.op("list_stack", list, node.dimsAttr("size", total));
  shape.front() = total * each;
  SizeTensor lengths{
      IntegerType::get(node.context(), 64), {*number}, SmallVector<DimExpr>(*number, each)};
  return node.done({node.reshape(stacked, shape), node.materialise(lengths)});
}

static Outcome buildSplit(NodeBuilder &node, const OpRule &) {
  std::optional<ListKey> key;
  auto lengths = node.ints(2);
  if (!lengths)
    return Outcome::Failed;
  Value value = node.in(1);
  if (!value || lengths->empty() || !llvm::all_equal(*lengths))
    return node.fail("expected parts of one size [dynamic-shape]");
  dfg::Shape shape = dfg::shapeOf(value.getType());
  if (shape.empty())
    return node.fail("expected a tensor with an axis, but got a scalar [graph-edge]");
  shape.front() = lengths->front();
  shape.insert(shape.begin(), DimExpr(lengths->size()));
  RankedTensorType element =
      dfg::tensorOf(ArrayRef(shape).drop_front(), dfg::elementTypeOf(value.getType()));
  auto array = node.arrayAt(0);
  if (array)
    node.entry.elementTypes.try_emplace(array->array, element);
  return node.done({node.op("list_unstack", node.reshape(value, shape))});
}

static Outcome buildNothing(NodeBuilder &node, const OpRule &) { return node.done(); }

//===----------------------------------------------------------------------===//
// Stacks
//===----------------------------------------------------------------------===//

static std::string tapeName(NodeBuilder &node, unsigned stack) {
  return node.entry.spec.name + "." + node.entry.graph.nodes[stack].name;
}

/// Handles and flows need not be kept: they are followed to where they come from.
static bool isKept(NodeBuilder &node, Edge pushed) {
  return !node.flowOf(pushed) && !node.entry.handles.array(pushed);
}

static Outcome buildPush(NodeBuilder &node, const OpRule &) {
  std::optional<unsigned> stack = node.handle(0);
  if (!stack)
    return Outcome::Failed;
  Value value = node.anyIn(1);
  // What is known needs no keeping either: see the evaluation of pops.
  if (!value || !isKept(node, *node.edge(1)) || node.sizes(1))
    return node.done({value});
  std::string name = tapeName(node, *stack);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return node.fail("expected a tensor, but got a TensorArray for input 1 [graph-edge]");
  if (!node.entry.symbols.claim(name, ModuleSymbols::Kind::Tape))
    return node.fail("expected the name '" + name + "' to be free [graph-file]");
  if (node.entry.symbols.tapes.insert(name).second)
    node.builder().createTape(name, type, node.location());
  node.record([&] {
    node.builder().push(name, value, node.location());
    return 0;
  });
  return node.done({value});
}

static Outcome buildPop(NodeBuilder &node, const OpRule &) {
  std::optional<unsigned> stack = node.handle(0);
  if (!stack)
    return Outcome::Failed;
  std::vector<unsigned> &writers = node.entry.facts.writers[*stack];
  if (writers.empty())
    return node.fail("nothing is pushed to its stack [graph-edge]");
  NodeBuilder push(node.entry, writers.front());
  Edge pushed = *push.edge(1);
  if (!isKept(node, pushed))
    return node.done({node.scalar(0, Float32Type::get(node.context()))});
  if (!node.entry.fed.count(pushed) &&
      node.entry.states[pushed.node].status != EntryBuilder::State::Built)
    return Outcome::Later;
  RankedTensorType type = push.typeOf(1);
  if (!type)
    return Outcome::Failed;
  std::string name = tapeName(node, *stack);
  if (!node.entry.symbols.claim(name, ModuleSymbols::Kind::Tape))
    return node.fail("expected the name '" + name + "' to be free [graph-file]");
  if (node.entry.symbols.tapes.insert(name).second)
    node.builder().createTape(name, type, node.location());
  return node.done({node.record([&] { return node.builder().pop(name, type, node.location()); })});
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
