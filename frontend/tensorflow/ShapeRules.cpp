// Constants, and the same elements in other shapes.

#include "frontend/tensorflow/Importer.h"
#include <cmath>

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

static Outcome buildConst(NodeBuilder &node, const OpRule &) {
  // A long constant of one number takes no memory as a broadcast.
  constexpr int64_t kMaxStored = int64_t(1) << 26;
  ElementsAttr value = node.node.attr("value").tensor;
  auto dense = dyn_cast_or_null<DenseElementsAttr>(value);
  if (dense && dense.isSplat() && dense.getNumElements() > kMaxStored) {
    Value number = node.builder().constant(
        dense.resizeSplat(RankedTensorType::get({}, dense.getElementType())), node.location());
    auto sizes = dense.getType().getShape();
    return node.done({node.op("broadcast", number,
                              node.dimsAttr("shape", dfg::Shape(sizes.begin(), sizes.end())))});
  }
  if (value)
    return node.done({node.builder().constant(value, node.location())});
  // Texts, as assertions print them, are for nobody to compute with.
  if (node.node.number("dtype") == kStringDtype)
    return node.done();
  node.dtype("dtype");
  return node.hasErrors() ? Outcome::Failed : node.fail("expected a value [graph-file]");
}

/// Sizes that are not known when the graph is compiled.
static Outcome buildUnknownSize(NodeBuilder &node, const OpRule &) {
  return node.fail("expected the inputs of '" + node.node.op +
                   "' to be known when the graph is compiled [dynamic-shape]");
}

static Outcome buildReshape(NodeBuilder &node, const OpRule &) {
  std::optional<dfg::Shape> shape = node.dims(1);
  return shape ? node.done({node.reshape(node.in(0), *shape)}) : Outcome::Failed;
}

static Outcome buildTranspose(NodeBuilder &node, const OpRule &) {
  std::optional<SmallVector<int64_t>> places = node.ints(1);
  return places ? node.done({node.transpose(node.in(0), *places)}) : Outcome::Failed;
}

static Outcome buildExpand(NodeBuilder &node, const OpRule &) {
  std::optional<int64_t> axis = node.integer(1);
  return axis ? node.done({node.op("expand", node.in(0), node.intAttr("axis", *axis))})
              : Outcome::Failed;
}

static Outcome buildSqueeze(NodeBuilder &node, const OpRule &) {
  const std::vector<int64_t> &axes = node.node.attr("squeeze_dims").numbers;
  SmallVector<NamedAttribute> attributes;
  if (!axes.empty())
    attributes.push_back(node.intsAttr("axis", axes));
  return node.done({node.op("squeeze", node.in(0), attributes)});
}

static Outcome buildBroadcastTo(NodeBuilder &node, const OpRule &) {
  std::optional<dfg::Shape> shape = node.dims(1);
  return shape ? node.done({node.broadcast(node.in(0), *shape)}) : Outcome::Failed;
}

static Outcome buildFill(NodeBuilder &node, const OpRule &) {
  std::optional<dfg::Shape> shape = node.dims(0);
  return shape ? node.done({node.broadcast(node.in(1), *shape)}) : Outcome::Failed;
}

static Outcome buildTile(NodeBuilder &node, const OpRule &) {
  std::optional<dfg::Shape> repeats = node.dims(1);
  return repeats ? node.done({node.op("tile", node.in(0), node.dimsAttr("repeats", *repeats))})
                 : Outcome::Failed;
}

static Outcome buildPack(NodeBuilder &node, const OpRule &) {
  return node.done(
      {node.op("stack", node.allInputs(), node.intAttr("axis", node.node.number("axis")))});
}

static Outcome buildUnpack(NodeBuilder &node, const OpRule &) {
  Value x = node.in(0);
  if (!x)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(x.getType());
  auto axis = dfg::normalizeAxis(node.node.number("axis"), shape.size());
  std::optional<int64_t> count = axis ? shape[*axis].constant() : std::nullopt;
  if (!count || *count != node.node.number("num", *count))
    return node.fail("expected an axis of " + Twine(node.node.number("num")) + " parts of " +
                     dfg::toText(x.getType()) + " [axis]");
  SmallVector<Value> parts;
  dfg::Shape starts(shape.size(), DimExpr(0)), sizes = shape, rest = shape;
  sizes[*axis] = 1;
  rest.erase(rest.begin() + *axis);
  for (int64_t i = 0; i < *count; ++i) {
    starts[*axis] = i;
    parts.push_back(node.reshape(node.slice(x, starts, sizes), rest));
  }
  return node.done(parts);
}

/// `argument` says where the axis stands.
static Outcome buildConcat(NodeBuilder &node, const OpRule &rule) {
  bool isFirst = rule.argument == "first";
  std::optional<int64_t> axis = node.integer(isFirst ? 0 : node.numInputs() - 1);
  if (!axis)
    return Outcome::Failed;
  return node.done(
      {node.op("concat", node.allInputs(isFirst, !isFirst), node.intAttr("axis", *axis))});
}

static Outcome buildSplit(NodeBuilder &node, const OpRule &) {
  std::optional<int64_t> axis = node.integer(0);
  if (!axis)
    return Outcome::Failed;
  Operation *made = node.make(
      "split", node.in(1),
      {node.intAttr("sections", node.node.number("num_split", 1)), node.intAttr("axis", *axis)});
  return made ? node.done(made->getResults()) : Outcome::Failed;
}

static Outcome buildSplitV(NodeBuilder &node, const OpRule &) {
  std::optional<dfg::Shape> sizes = node.dims(1);
  std::optional<int64_t> axis = node.integer(2);
  Value x = node.in(0);
  if (!sizes || !axis || !x)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(x.getType());
  std::optional<int64_t> place = dfg::normalizeAxis(*axis, shape.size());
  for (DimExpr &size : *sizes) {
    if (!place || !size.isConstant(-1))
      continue;
    DimExpr rest = shape[*place];
    for (const DimExpr &other : *sizes)
      rest = other.isConstant(-1) ? rest : rest - other;
    size = rest;
  }
  Operation *made =
      node.make("split", x, {node.dimsAttr("sizes", *sizes), node.intAttr("axis", *axis)});
  return made ? node.done(made->getResults()) : Outcome::Failed;
}

/// Of floats; and of integers where only the number of elements is known.
static Outcome buildRange(NodeBuilder &node, const OpRule &rule) {
  const SizeTensor *start = node.sizes(0), *limit = node.sizes(1), *step = node.sizes(2);
  auto isNumber = [](const SizeTensor *x, int64_t n) {
    return x && x->values.size() == 1 && x->values.front().isConstant(n);
  };
  if (limit && limit->values.size() == 1 && isNumber(step, 1) && start &&
      start->values.size() == 1) {
    DimExpr first = start->values.front();
    Value counted = node.iota(limit->values.front() - first, start->elementType);
    if (first.isConstant(0))
      return node.done({counted});
    return node.done({node.op("add", {counted, node.size(first, start->elementType)})});
  }
  return node.floatRange();
}

static constexpr OpRule kRules[] = {
    {"Const", "0 -> 1; dtype:type, value:tensor", buildConst},
    {"Reshape", "2 -> 1", buildReshape},
    {"Transpose", "2 -> 1", buildTranspose},
    {"ExpandDims", "2 -> 1", buildExpand},
    {"Squeeze", "1 -> 1; squeeze_dims:ints?", buildSqueeze},
    {"BroadcastTo", "2 -> 1", buildBroadcastTo},
    {"Fill", "2 -> 1", buildFill},
    {"Tile", "2 -> 1", buildTile},
    {"Pack", "N -> 1; axis:int?", buildPack},
    {"Unpack", "1 -> num; axis:int?", buildUnpack},
    {"Concat", "N+1 -> 1", buildConcat, "first"},
    {"ConcatV2", "N+1 -> 1", buildConcat, "last"},
    {"Split", "2 -> num_split", buildSplit},
    {"SplitV", "3 -> num_split", buildSplitV},
    {"Range", "3 -> 1; Tidx:type?", buildRange},
    {"Shape", "1 -> 1; out_type:type?", buildUnknownSize},
    {"ShapeN", "N -> N; out_type:type?", buildUnknownSize},
    {"Size", "1 -> 1; out_type:type?", buildUnknownSize},
    {"Rank", "1 -> 1", buildUnknownSize},
    {"InvertPermutation", "1 -> 1", buildUnknownSize},
    {"ConcatOffset", "N+1 -> N", buildUnknownSize},
    {"BroadcastGradientArgs", "2 -> 2", buildUnknownSize},
    {"BroadcastArgs", "2 -> 1", buildUnknownSize},
    {"DynamicStitch", "2N -> 1", buildUnknownSize},
};

ArrayRef<OpRule> shapeRules() { return kRules; }

//===----------------------------------------------------------------------===//
// Ranges of floats
//===----------------------------------------------------------------------===//

/// The one number of a constant of floats or integers.
static std::optional<double> constantNumber(NodeBuilder &node, unsigned i) {
  if (!node.edge(i))
    return std::nullopt;
  const Node &producer = node.entry.graph.nodes[node.edge(i)->node];
  auto value = dyn_cast_or_null<DenseElementsAttr>(producer.attr("value").tensor);
  if (producer.op != "Const" || !value || value.getNumElements() != 1)
    return std::nullopt;
  if (isa<FloatType>(value.getElementType()))
    return (*value.value_begin<APFloat>()).convertToDouble();
  return double((*value.value_begin<APInt>()).getSExtValue());
}

Outcome NodeBuilder::floatRange() {
  auto start = constantNumber(*this, 0), limit = constantNumber(*this, 1),
       step = constantNumber(*this, 2);
  Type type = node.has("Tidx") ? dtype("Tidx") : Type(Float32Type::get(context()));
  if (!type)
    return Outcome::Failed;
  double count = start && limit && step ? std::ceil((*limit - *start) / *step) : -1;
  if (!(count >= 0 && count < 1e9) || !isa<FloatType>(type))
    return fail("expected the number of elements to be known when the graph is compiled "
                "[dynamic-shape]");
  Value counted = iota(int64_t(count), type);
  return done({op("add", {op("mul", {counted, scalar(*step, type)}), scalar(*start, type)})});
}

} // namespace tfc::tensorflow
