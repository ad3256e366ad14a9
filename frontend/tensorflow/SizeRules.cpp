// Shapes of tensors, and operations of TensorFlow that only compute with shapes. Their results are
// sizes and need no operations.

#include "frontend/tensorflow/Flows.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;
using dfg::SizeTensor;

static Outcome failUnknown(NodeBuilder &node) {
  return node.fail(
      "expected the inputs of '{}' to be known when the graph is compiled [dynamic-shape]",
      node.node.op);
}

static Outcome doneWith(NodeBuilder &node, std::optional<SizeTensor> sizes) {
  return sizes ? node.done({NodeValue(std::move(*sizes))}) : failUnknown(node);
}

/// Returns the sizes of all inputs, or std::nullopt if some are unknown.
static std::optional<SmallVector<const SizeTensor *>> knownInputs(NodeBuilder &node) {
  SmallVector<const SizeTensor *> inputs;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    inputs.push_back(node.sizes(i));
    if (!inputs.back())
      return std::nullopt;
  }
  return inputs;
}

//===----------------------------------------------------------------------===//
// Shapes of tensors
//===----------------------------------------------------------------------===//

/// Returns the integer type that an attribute names; i32 if it is absent.
static Type indexType(NodeBuilder &node, StringRef attr) {
  Type type = elementTypeOf(node.context(), node.node.number(attr, 3));
  return type && isa<IntegerType>(type) ? type : IntegerType::get(node.context(), 32);
}

static RankedTensorType tensorType(NodeBuilder &node, unsigned i) {
  return FlowBuilder(node).flowAt(i) ? RankedTensorType() : node.typeOf(i);
}

static Outcome buildShape(NodeBuilder &node, const OpRule &) {
  SmallVector<NodeValue> results;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    RankedTensorType type = tensorType(node, i);
    auto shape =
        type ? dfg::makeSizeVector(indexType(node, "out_type"), dfg::shapeOf(type)) : std::nullopt;
    if (!shape)
      return failUnknown(node);
    results.push_back(NodeValue(std::move(*shape)));
  }
  return node.done(results);
}

static Outcome buildSize(NodeBuilder &node, const OpRule &) {
  RankedTensorType type = tensorType(node, 0);
  if (!type)
    return failUnknown(node);
  return doneWith(
      node, dfg::makeSize(indexType(node, "out_type"), dfg::elementCount(dfg::shapeOf(type))));
}

static Outcome buildRank(NodeBuilder &node, const OpRule &) {
  RankedTensorType type = tensorType(node, 0);
  if (!type)
    return failUnknown(node);
  return doneWith(node, dfg::makeSize(indexType(node, ""), type.getRank()));
}

//===----------------------------------------------------------------------===//
// Shapes from shapes
//===----------------------------------------------------------------------===//

/// Inverts a permutation that calls compute.
static Outcome invert(NodeBuilder &node) {
  NodeValue x = node.in(0);
  if (!x)
    return Outcome::Failed;
  if (dfg::shapeOf(x.getType()).size() != 1)
    return node.fail("expected a vector, but got {} [operand]", dfg::toText(x.getType()));
  return node.done({node.library().compute("_inverted", {x})});
}

static Outcome buildInvertPermutation(NodeBuilder &node, const OpRule &) {
  const SizeTensor *x = node.sizes(0);
  auto places = x ? x->getConstants() : std::nullopt;
  if (!places)
    return invert(node);
  dfg::Shape inverse(places->size(), DimExpr(0));
  for (auto [i, place] : enumerate(*places)) {
    if (place < 0 || place >= int64_t(places->size()))
      return failUnknown(node);
    inverse[place] = i;
  }
  return doneWith(node, dfg::makeSizeVector(x->elementType, inverse));
}

/// Returns the offset of each part in the concatenation.
static Outcome buildConcatOffset(NodeBuilder &node, const OpRule &) {
  auto inputs = knownInputs(node);
  std::optional<int64_t> axis = inputs ? inputs->front()->getConstant() : std::nullopt;
  if (!axis)
    return failUnknown(node);
  SmallVector<NodeValue> results;
  DimExpr offset = 0;
  for (const SizeTensor *shape : ArrayRef(*inputs).drop_front()) {
    std::optional<int64_t> place = dfg::normalizeAxis(*axis, shape->values.size());
    if (!place)
      return failUnknown(node);
    SizeTensor starts{shape->elementType, shape->shape,
                      dfg::Shape(shape->values.size(), DimExpr(0))};
    starts.values[*place] = offset;
    offset = offset + shape->values[*place];
    results.push_back(NodeValue(std::move(starts)));
  }
  return node.done(results);
}

/// Returns the axes over which the gradients of two broadcast operands are summed.
static Outcome buildBroadcastGradientArgs(NodeBuilder &node, const OpRule &) {
  auto inputs = knownInputs(node);
  if (!inputs)
    return failUnknown(node);
  ArrayRef<DimExpr> a = (*inputs)[0]->values, b = (*inputs)[1]->values;
  int64_t rank = std::max(a.size(), b.size());
  auto sizeAt = [&](ArrayRef<DimExpr> shape, int64_t axis) {
    int64_t place = axis - (rank - int64_t(shape.size()));
    return place < 0 ? DimExpr(1) : shape[place];
  };
  dfg::Shape first, second;
  for (int64_t axis = 0; axis < rank; ++axis) {
    DimExpr x = sizeAt(a, axis), y = sizeAt(b, axis);
    if (x == y && !x.isConstant(1))
      continue;
    // If both sizes are 1, both axes are summed, which changes nothing.
    if (x.isConstant(1))
      first.push_back(axis);
    if (y.isConstant(1))
      second.push_back(axis);
  }
  Type type = inputs->front()->elementType;
  return node.done({NodeValue(*dfg::makeSizeVector(type, first)),
                    NodeValue(*dfg::makeSizeVector(type, second))});
}

static Outcome buildBroadcastArgs(NodeBuilder &node, const OpRule &) {
  auto inputs = knownInputs(node);
  auto shape =
      inputs ? dfg::broadcastShapes((*inputs)[0]->values, (*inputs)[1]->values) : std::nullopt;
  return doneWith(node,
                  shape ? dfg::makeSizeVector(inputs->front()->elementType, *shape) : std::nullopt);
}

/// Compares lists that calls compute.
static Outcome compareLists(NodeBuilder &node) {
  auto found = node.library().on("_list_diff", {node.in(0), node.in(1)});
  if (!found)
    return Outcome::Failed;
  return node.done({(*found)[0], node.cast((*found)[1], indexType(node, "out_idx"))});
}

/// The elements of the first list that are not in the second one, and their positions.
static Outcome buildListDiff(NodeBuilder &node, const OpRule &) {
  auto inputs = knownInputs(node);
  auto all = inputs ? (*inputs)[0]->getConstants() : std::nullopt,
       others = inputs ? (*inputs)[1]->getConstants() : std::nullopt;
  if (!all || !others)
    return compareLists(node);
  dfg::Shape rest, places;
  for (auto [place, number] : enumerate(*all))
    if (!llvm::is_contained(*others, number)) {
      rest.push_back(number);
      places.push_back(int64_t(place));
    }
  auto left = dfg::makeSizeVector((*inputs)[0]->elementType, rest),
       at = dfg::makeSizeVector(indexType(node, "out_idx"), places);
  return left && at ? node.done({NodeValue(*left), NodeValue(*at)}) : failUnknown(node);
}

static Outcome buildVariableShape(NodeBuilder &node, const OpRule &) {
  const Node *variable = node.variable(0);
  if (!variable)
    return Outcome::Failed;
  RankedTensorType type = node.entry.symbols.variables[variableName(*variable)];
  return doneWith(node, dfg::makeSizeVector(indexType(node, "out_type"), dfg::shapeOf(type)));
}

/// Returns how many slices there are if the indices are known, or if they are those that one node
/// has partitioned.
static std::optional<DimExpr> stitchedSize(NodeBuilder &node, unsigned count) {
  bool areKnown = true, arePartitions = true;
  int64_t size = 0;
  std::optional<Edge> first = node.edge(0);
  for (unsigned i = 0; i < count; ++i) {
    const SizeTensor *known = node.sizes(i);
    auto places = known ? known->getConstants() : std::nullopt;
    areKnown &= places.has_value();
    for (int64_t place : places.value_or(SmallVector<int64_t>()))
      size = std::max(size, place + 1);
    arePartitions &= node.edge(i) == std::optional(Edge{first->node, i});
  }
  if (areKnown)
    return DimExpr(size);
  const Node &source = node.entry.graph.nodes[first->node];
  if (!arePartitions || source.op != "DynamicPartition" ||
      source.number("num_partitions") != int64_t(count))
    return std::nullopt;
  RankedTensorType partitions = NodeBuilder(node.entry, first->node).typeOf(1);
  return partitions ? std::optional(dfg::elementCount(dfg::shapeOf(partitions))) : std::nullopt;
}

/// Joins slices. Without a size that is known, the call finds it.
static Outcome stitchTensors(NodeBuilder &node) {
  unsigned count = node.numInputs() / 2;
  SmallVector<Value> values = node.valuesOf(node.allInputs());
  if (llvm::is_contained(values, Value()))
    return Outcome::Failed;
  ArrayRef<Value> all(values);
  SmallVector<LibraryCall::Argument> arguments{
      {"indices", SmallVector<Value>(all.take_front(count))},
      {"data", SmallVector<Value>(all.drop_front(count))}};
  std::optional<DimExpr> size = stitchedSize(node, count);
  if (size)
    arguments.push_back({"size", dfg::Shape{*size}});
  return node.doneWith(node.library().on(size ? "dynamic_stitch" : "_stitch", {}, arguments));
}

/// Interleaves elements by positions; if a position occurs twice, the later element is used.
static Outcome buildDynamicStitch(NodeBuilder &node, const OpRule &) {
  auto inputs = knownInputs(node);
  if (!inputs)
    return stitchTensors(node);
  size_t count = inputs->size() / 2;
  std::map<int64_t, DimExpr> merged;
  for (size_t i = 0; i < count; ++i) {
    auto places = (*inputs)[i]->getConstants();
    const SizeTensor &data = *(*inputs)[count + i];
    if (!places || places->size() != data.values.size())
      return failUnknown(node);
    for (auto [place, value] : zip(*places, data.values))
      merged[place] = value;
  }
  dfg::Shape values;
  for (auto &[place, value] : merged) {
    if (place != int64_t(values.size()))
      return failUnknown(node);
    values.push_back(value);
  }
  return doneWith(node, dfg::makeSizeVector((*inputs)[count]->elementType, values));
}

static constexpr OpRule kRules[] = {
    {"Shape", "1 -> 1; out_type:type?", buildShape, "", OpRule::OnePlane},
    {"ShapeN", "N -> N; N:int>=1?, out_type:type?", buildShape, "", OpRule::OnePlane},
    {"Size", "1 -> 1; out_type:type?", buildSize, "", OpRule::OnePlane},
    {"Rank", "1 -> 1", buildRank, "", OpRule::OnePlane},
    {"InvertPermutation", "1 -> 1", buildInvertPermutation},
    {"ConcatOffset", "N+1 -> N; N:int>=1?", buildConcatOffset},
    {"BroadcastGradientArgs", "2 -> 2", buildBroadcastGradientArgs},
    {"BroadcastArgs", "2 -> 1", buildBroadcastArgs},
    {"ListDiff", "2 -> 2; out_idx:type?", buildListDiff},
    {"VariableShape", "1 -> 1; out_type:type?", buildVariableShape},
    {"DynamicStitch", "2N -> 1; N:int>=1?", buildDynamicStitch},
    {"ParallelDynamicStitch", "2N -> 1; N:int>=1?", buildDynamicStitch},
};

ArrayRef<OpRule> sizeRules() { return kRules; }

} // namespace tfc::tensorflow
