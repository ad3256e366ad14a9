// In TensorFlow, a flow is a scalar that orders the uses of a TensorArray; here it is the list
// itself.

#include "frontend/tensorflow/Flows.h"
#include "frontend/tensorflow/VaryingLists.h"

#include "frontend/tensorflow/Values.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

std::optional<ListKey> FlowBuilder::flowOf(Edge edge) const {
  auto found = entry.structure.flows.find(edge);
  return found == entry.structure.flows.end() ? std::nullopt : std::optional(found->second);
}

std::optional<ListKey> FlowBuilder::flowAt(unsigned i) const {
  std::optional<Edge> edge = node.edge(i);
  return edge ? flowOf(*edge) : std::nullopt;
}

std::optional<ListKey> FlowBuilder::arrayAt(unsigned i) const {
  std::optional<Edge> edge = node.edge(i);
  return edge ? entry.handles.array(*edge) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Types of elements
//===----------------------------------------------------------------------===//

unsigned FlowBuilder::writtenInput() const {
  StringRef op = node.node.op;
  return op == "TensorArraySplitV3" || op == "TensorListScatterIntoExistingList" ? 1 : 2;
}

RankedTensorType FlowBuilder::writtenType(unsigned writer) {
  NodeBuilder written(entry, writer);
  bool isWrite = written.node.op == "TensorArrayWriteV3" || written.node.op == "TensorListSetItem";
  // A split declares the type when it is built.
  if (written.node.op == "TensorArraySplitV3")
    return {};
  RankedTensorType type = written.typeOf(FlowBuilder(written).writtenInput());
  if (!type || (!isWrite && type.getRank() == 0))
    return {};
  dfg::Shape sizes = dfg::shapeOf(type);
  return dfg::tensorOf(ArrayRef(sizes).drop_front(isWrite ? 0 : 1), type.getElementType());
}

static bool isTensorList(const NodeBuilder &maker) {
  return hasFlag(maker.node.op, OpRule::MakesList);
}

/// Returns the shape of elements that the node which makes the array declares, if it is whole.
static std::optional<dfg::Shape> declaredShape(NodeBuilder &maker) {
  if (isTensorList(maker)) {
    bool isFilled = maker.node.op == "TensorListFromTensor" || maker.node.op == "TensorListSplit";
    const dfg::SizeTensor *sizes = maker.sizes(isFilled ? 1 : 0);
    auto isNegative = [](const DimExpr &size) { return size.constant().value_or(0) < 0; };
    if (!sizes || sizes->shape.size() != 1 || any_of(sizes->values, isNegative))
      return std::nullopt;
    return dfg::Shape(sizes->values.begin(), sizes->values.end());
  }
  const PartialShape &shape = maker.node.attr("element_shape").shape;
  if (!maker.node.has("element_shape") || !shape.isStatic())
    return std::nullopt;
  return dfg::Shape(shape.sizes.begin(), shape.sizes.end());
}

/// If the array does not specify the type of its elements, it is inferred from a node that writes
/// to it. Looks at each of these once.
RankedTensorType FlowBuilder::elementType(unsigned array) {
  ArrayElements &known = entry.arrays[array];
  if (known.type)
    return known.type;
  NodeBuilder maker(entry, array);
  const VaryingList *varying = entry.varying->getLists().find({array, 0});
  Type element = maker.dtype(isTensorList(maker) ? "element_dtype" : "dtype");
  if (!element)
    return {};
  if (varying)
    return known.type = dfg::tensorOf(varying->room, element);
  if (std::optional<dfg::Shape> shape = declaredShape(maker))
    return known.type = dfg::tensorOf(*shape, element);
  while (!known.type && !known.writers.empty()) {
    unsigned writer = *known.writers.begin();
    known.writers.erase(writer);
    RankedTensorType type = writtenType(writer);
    if (type && !checkElement(entry, array, type))
      return {};
    known.type = type;
  }
  return known.type;
}

RankedTensorType FlowBuilder::elementType(const ListKey &key) {
  if (key.source != kUsed)
    return elementType(key.array);
  const VaryingList *varying = entry.varying->getLists().find({key.array, 0});
  return dfg::tensorOf({DimExpr(varying ? varying->axes.size() : 0)},
                       IntegerType::get(entry.builder.getContext(), 64));
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

static SmallVector<NamedAttribute> listAttributes(NodeBuilder &node, RankedTensorType element) {
  return {node.attrs.sizes("shape", dfg::shapeOf(element)),
          node.attrs.type("dtype", element.getElementType())};
}

NodeValue FlowBuilder::bringIn(NodeValue value, unsigned from) {
  const GraphStructure &structure = entry.structure;
  unsigned frame = structure.frameOf[node.index];
  if (hasFlag(node.node.op, OpRule::Enters))
    frame = structure.frames[frame].parent;
  SmallVector<unsigned> path;
  for (; frame != from && frame != 0; frame = structure.frames[frame].parent)
    path.push_back(frame);
  if (frame != from) {
    node.error() << "the size of its TensorArray is not known here [dynamic-shape]";
    return {};
  }
  for (unsigned inner : llvm::reverse(path))
    value = node.op("enter", value,
                    {node.attrs.text("frame", structure.frames[inner].name),
                     node.attrs.flag("constant", true)});
  return value;
}

NodeValue FlowBuilder::emptyList(const ListKey &key) {
  if (RankedTensorType element = elementType(key))
    return node.outside("list_create", node.size(0, IntegerType::get(node.context(), 32)),
                        listAttributes(node, element));
  node.waitForElements(key.array);
  return {};
}

NodeValue FlowBuilder::zeroList(const ListKey &key) {
  NodeBuilder maker(entry, key.array);
  if (maker.node.op == "EmptyTensorList")
    return emptyList(key);
  RankedTensorType element = elementType(key);
  if (!element) {
    node.waitForElements(key.array);
    return {};
  }
  SmallVector<NamedAttribute> attributes = listAttributes(node, element);
  unsigned ofSize = isTensorList(maker) ? 1 : 0;
  if (const dfg::SizeTensor *known = maker.sizes(ofSize); known && known->isSingle())
    return node.outside("list_create", node.size(known->values.front(), known->elementType),
                        attributes);
  Value size = maker.valueOf(maker.in(ofSize));
  if (!size)
    return {};
  Edge source = *maker.edge(ofSize);
  unsigned frame = entry.isFed(source) ? entry.structure.frameOf[node.index]
                                       : entry.structure.frameOf[source.node];
  return node.op("list_create", bringIn(size, frame), attributes);
}

NodeValue FlowBuilder::zerosLike(unsigned i, const ListKey &key) {
  if (!isTensorList(NodeBuilder(entry, key.array)))
    return zeroList(key);
  NodeValue list = flow(i, key);
  if (!list)
    return {};
  auto element = cast<dfg::ListType>(list.getType()).getElementType();
  return node.op("list_create", node.op("list_size", list), listAttributes(node, element));
}

NodeValue FlowBuilder::flow(unsigned i, const ListKey &key) {
  if (i >= node.numInputs())
    return node.in(i);
  Edge input = *node.edge(i);
  std::optional<ListKey> given = flowOf(input);
  if (given && *given == key) {
    Value value = Values(entry).valueOf(input);
    if (!value || isa<dfg::ListType>(value.getType()))
      return value;
  }
  if (given && given->array == key.array && given->source.empty()) {
    Value forward = Values(entry).valueOf(input);
    if (!forward || !isa<dfg::ListType>(forward.getType()))
      return {};
    auto element = cast<dfg::ListType>(forward.getType()).getElementType();
    return node.op("list_create", node.op("list_size", NodeValue(forward)),
                   listAttributes(node, element));
  }
  node.followInput(i);
  return zeroList(key);
}

NodeValue FlowBuilder::addLists(NodeValue lhs, NodeValue rhs, unsigned i) {
  std::optional<Edge> edge = node.edge(i);
  auto single = edge ? entry.singleWrites.find(*edge) : entry.singleWrites.end();
  if (single == entry.singleWrites.end())
    return node.op("list_sum", {lhs, rhs});
  node.followInput(i);
  return node.op("list_add", {lhs, single->second.first, single->second.second});
}

} // namespace tfc::tensorflow
