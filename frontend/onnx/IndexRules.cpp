// Implements the rules of reads and writes at data-dependent positions, which may count from the
// end.

#include "frontend/onnx/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using dfg::DimExpr;

static Type integerType(NodeBuilder &node) { return IntegerType::get(node.context(), 64); }

/// Returns positions along an axis of this size, counted from the front.
static NodeValue fromFront(NodeBuilder &node, NodeValue indices, const DimExpr &size) {
  if (!indices)
    return {};
  if (const std::shared_ptr<const dfg::SizeTensor> &known = indices.getSizes())
    if (auto numbers = known->getConstants()) {
      if (all_of(*numbers, [](int64_t number) { return number >= 0; }))
        return indices;
      dfg::SizeTensor front = *known;
      for (DimExpr &value : front.values)
        value = *value.constant() < 0 ? value + size : value;
      return NodeValue(std::move(front));
    }
  indices = node.cast(indices, integerType(node));
  NodeValue zero = node.scalar(0, integerType(node));
  NodeValue shifted = node.op("add", {indices, node.size(size, integerType(node))});
  return node.op("select", {node.op("less", {indices, zero}), shifted, indices});
}

static Outcome buildGather(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  auto axis = x ? node.axisOf(node.node.number("axis"), rankOf(x)) : std::nullopt;
  if (!axis)
    return Outcome::Failed;
  NodeValue indices = fromFront(node, node.in(1), shapeOf(x)[*axis]);
  return node.done({node.op("gather", {x, indices}, node.attrs.integer("axis", *axis))});
}

/// The indices may have fewer elements than the data along other axes.
static Outcome buildGatherElements(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0), indices = node.in(1);
  auto axis = x ? node.axisOf(node.node.number("axis"), rankOf(x)) : std::nullopt;
  if (!axis || !indices)
    return Outcome::Failed;
  if (rankOf(x) != rankOf(indices))
    return node.fail("expected indices with " + Twine(rankOf(x)) + " axes, but got " +
                     dfg::toText(indices.getType()) + " [operand]");
  dfg::Shape sizes = shapeOf(indices);
  DimExpr size = sizes[*axis] = shapeOf(x)[*axis];
  if (sizes != shapeOf(x))
    x = node.slice(x, dfg::Shape(sizes.size(), DimExpr(0)), sizes);
  return node.done({node.op("take_along_axis", {x, fromFront(node, indices, size)},
                            node.attrs.integer("axis", *axis))});
}

/// Returns index vectors with positions counted from the front.
static NodeValue vectorsFromFront(NodeBuilder &node, NodeValue indices, ArrayRef<DimExpr> shape) {
  indices = node.cast(indices, integerType(node));
  NodeValue zero = node.scalar(0, integerType(node));
  SmallVector<NodeValue> sizes;
  for (const DimExpr &size : shape)
    sizes.push_back(node.size(size, integerType(node)));
  NodeValue shifted = node.op("add", {indices, node.op("stack", sizes)});
  return node.op("select", {node.op("less", {indices, zero}), shifted, indices});
}

/// Returns how many axes an index vector addresses, or std::nullopt after an error.
static std::optional<int64_t> depthOf(NodeBuilder &node, NodeValue x, NodeValue indices,
                                      int64_t batch) {
  if (!x || !indices)
    return std::nullopt;
  dfg::Shape places = shapeOf(indices);
  auto depth = places.empty() ? std::nullopt : places.back().constant();
  if (depth && *depth >= 1 && *depth <= rankOf(x) - batch && batch >= 0 &&
      batch < int64_t(places.size()))
    return depth;
  node.error() << "expected index vectors for the axes of " << dfg::toText(x.getType())
               << ", but got " << dfg::toText(indices.getType()) << " [operand]";
  return std::nullopt;
}

static Outcome buildGatherNd(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0), indices = node.in(1);
  int64_t batch = node.node.number("batch_dims");
  std::optional<int64_t> depth = depthOf(node, x, indices, batch);
  if (!depth)
    return Outcome::Failed;
  dfg::Shape places = shapeOf(indices);
  indices = vectorsFromFront(node, indices, ArrayRef(shapeOf(x)).slice(batch, *depth));
  // The positions in the batch precede the others.
  SmallVector<NodeValue> parts;
  places.back() = 1;
  for (int64_t axis = 0; axis < batch; ++axis) {
    dfg::Shape along(places.size(), DimExpr(1));
    along[axis] = places[axis];
    NodeValue counted = node.iota(places[axis], integerType(node));
    parts.push_back(node.broadcast(node.reshape(counted, along), places));
  }
  parts.push_back(indices);
  if (batch > 0)
    indices = node.op("concat", parts, node.attrs.integer("axis", -1));
  return node.done({node.op("gather_nd", {x, indices})});
}

//===----------------------------------------------------------------------===//
// Scattering
//===----------------------------------------------------------------------===//

/// Returns how updates are combined with elements, or emits an error.
static std::optional<std::string> scatterMode(NodeBuilder &node) {
  std::string mode = node.node.attr("reduction").text;
  if (mode.empty() || mode == "none")
    return "set";
  if (mode == "add" || mode == "mul" || mode == "max" || mode == "min")
    return mode;
  node.error() << "there is no reduction '" << mode << "' [graph-attribute]";
  return std::nullopt;
}

/// Returns the elements of known positions with negative ones counted from the end of axis
/// `axisOf(i)`, or std::nullopt if some are not known or outside.
static std::optional<SmallVector<int64_t>>
knownPlaces(NodeBuilder &node, ArrayRef<int64_t> shape,
            llvm::function_ref<int64_t(int64_t)> axisOf) {
  const dfg::SizeTensor *indices = node.sizes(1);
  auto places = indices ? indices->getConstants() : std::nullopt;
  if (!places)
    return std::nullopt;
  for (auto [i, place] : enumerate(*places)) {
    int64_t size = shape[axisOf(i)];
    place += place < 0 ? size : 0;
    if (place < 0 || place >= size)
      return std::nullopt;
  }
  return places;
}

/// Returns the row-major positions in `x` that the updates of ScatterElements go to.
static std::optional<SmallVector<int64_t>> targetsAlong(NodeBuilder &node, int64_t axis) {
  ArrayRef<int64_t> shape = node.sizes(0)->shape;
  auto targets = knownPlaces(node, shape, [&](int64_t) { return axis; });
  if (!targets || node.sizes(1)->shape.size() != shape.size())
    return std::nullopt;
  SmallVector<int64_t> place(shape.size());
  for (auto [i, target] : enumerate(*targets)) {
    int64_t rest = i, along = target, stride = 1;
    for (int64_t k = shape.size(); k-- > 0;) {
      place[k] = rest % node.sizes(1)->shape[k];
      rest /= node.sizes(1)->shape[k];
    }
    place[axis] = along;
    target = 0;
    for (int64_t k = shape.size(); k-- > 0; stride *= shape[k]) {
      if (place[k] >= shape[k])
        return std::nullopt;
      target += place[k] * stride;
    }
  }
  return targets;
}

/// Returns the row-major positions in `x` that the updates of ScatterND go to; an index vector
/// addresses `depth` axes.
static std::optional<SmallVector<int64_t>> targetsOfVectors(NodeBuilder &node, int64_t depth) {
  ArrayRef<int64_t> shape = node.sizes(0)->shape;
  auto places = knownPlaces(node, shape, [&](int64_t i) { return i % depth; });
  auto count = dfg::countSizes(shape.drop_front(depth));
  if (!places || !count)
    return std::nullopt;
  SmallVector<int64_t> targets;
  for (size_t i = 0; i < places->size(); i += depth) {
    int64_t slice = 0;
    for (int64_t k = 0; k < depth; ++k)
      slice = slice * shape[k] + (*places)[i + k];
    for (int64_t k = 0; k < *count; ++k)
      targets.push_back(slice * *count + k);
  }
  return targets;
}

/// Returns the dfg operation that combines updates with elements, or "" for none.
static StringRef combination(StringRef mode) {
  return mode == "max" ? "maximum" : mode == "min" ? "minimum" : mode == "set" ? "" : mode;
}

/// Combines known updates with the known elements at these positions, in order. Returns null if the
/// result is not known.
static NodeValue scatterSizes(NodeBuilder &node, StringRef mode,
                              const std::optional<SmallVector<int64_t>> &targets) {
  dfg::SizeTensor result = *node.sizes(0);
  const dfg::SizeTensor &updates = *node.sizes(2);
  if (!targets || targets->size() != updates.values.size())
    return {};
  for (auto [target, update] : zip(*targets, updates.values)) {
    if (mode == "set") {
      result.values[target] = update;
      continue;
    }
    auto element = dfg::makeSize(result.elementType, result.values[target]);
    auto other = dfg::makeSize(result.elementType, update);
    auto combined = element && other ? dfg::evaluateSizes(combination(mode), {&*element, &*other},
                                                          DictionaryAttr::get(node.context()))
                                     : std::nullopt;
    if (!combined)
      return {};
    result.values[target] = combined->values.front();
  }
  return NodeValue(std::move(result));
}

static bool areKnown(NodeBuilder &node) { return node.sizes(0) && node.sizes(1) && node.sizes(2); }

static Outcome buildScatterNd(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0), indices = node.in(1);
  std::optional<int64_t> depth = depthOf(node, x, indices, 0);
  std::optional<std::string> mode = scatterMode(node);
  if (!depth || !mode)
    return Outcome::Failed;
  if (areKnown(node))
    if (NodeValue sizes = scatterSizes(node, *mode, targetsOfVectors(node, *depth)))
      return node.done({sizes});
  indices = vectorsFromFront(node, indices, ArrayRef(shapeOf(x)).take_front(*depth));
  return node.done(
      {node.library().compute("_scatter_nd", {x, indices, node.in(2)}, {{"mode", *mode}})});
}

static Outcome buildScatterElements(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  auto axis = x ? node.axisOf(node.node.number("axis"), rankOf(x)) : std::nullopt;
  std::optional<std::string> mode = scatterMode(node);
  if (!axis || !mode)
    return Outcome::Failed;
  if (areKnown(node))
    if (NodeValue sizes = scatterSizes(node, *mode, targetsAlong(node, *axis)))
      return node.done({sizes});
  NodeValue indices = fromFront(node, node.in(1), shapeOf(x)[*axis]);
  indices = node.cast(indices, integerType(node));
  return node.done({node.library().compute("_scatter_elements", {x, indices, node.in(2)},
                                           {{"mode", *mode}, {"along", dfg::Shape{*axis}}})});
}

//===----------------------------------------------------------------------===//
// One-hot vectors
//===----------------------------------------------------------------------===//

/// Moves the last axis to `axis`.
static NodeValue moveLast(NodeBuilder &node, NodeValue x, int64_t axis) {
  SmallVector<int64_t> places;
  for (int64_t i = 0; i + 1 < rankOf(x); ++i)
    places.push_back(i);
  places.insert(places.begin() + axis, rankOf(x) - 1);
  return node.transpose(x, places);
}

/// The depth may be a float.
static std::optional<dfg::Shape> depthOfOneHot(NodeBuilder &node) {
  NodeValue given = node.in(1);
  if (!given)
    return std::nullopt;
  if (isFloat(given)) {
    std::optional<double> number = node.real(1);
    return number ? std::optional(dfg::Shape{DimExpr(int64_t(*number))}) : std::nullopt;
  }
  std::optional<dfg::Shape> depth = node.dims(1);
  if (!depth || depth->size() == 1)
    return depth;
  node.error() << "expected one number as the depth [graph-edge]";
  return std::nullopt;
}

static Outcome buildOneHot(NodeBuilder &node, const OpRule &) {
  NodeValue indices = node.in(0), values = node.inOfRank(2, 1);
  std::optional<dfg::Shape> depth = depthOfOneHot(node);
  if (!indices || !depth || !values)
    return Outcome::Failed;
  std::optional<int64_t> axis = node.axisOf(node.node.number("axis", -1), rankOf(indices) + 1);
  if (!axis)
    return Outcome::Failed;
  indices = fromFront(node, node.cast(indices, integerType(node)), depth->front());
  NodeValue marks = node.op("one_hot", indices,
                            {node.attrs.sizes("depth", *depth),
                             node.attrs.type("dtype", IntegerType::get(node.context(), 1))});
  auto value = [&](int64_t i) {
    return node.reshape(node.slice(values, DimExpr(i), DimExpr(1)), {});
  };
  NodeValue result = node.op("select", {marks, value(1), value(0)});
  return node.done({result ? moveLast(node, result, *axis) : result});
}

static constexpr OpRule kRules[] = {
    {"Gather", "2 -> 1; axis:int?", buildGather, "", 1, Codes::Moved},
    {"GatherElements", "2 -> 1; axis:int?", buildGatherElements},
    {"GatherND", "2 -> 1; batch_dims:int?", buildGatherNd},
    {"Scatter", "3 -> 1; axis:int?", buildScatterElements},
    {"ScatterElements", "3 -> 1; axis:int?, reduction:string?", buildScatterElements},
    {"ScatterND", "3 -> 1; reduction:string?", buildScatterNd},
    {"OneHot", "3 -> 1; axis:int?", buildOneHot},
};

ArrayRef<OpRule> indexRules() { return kRules; }

} // namespace tfc::onnx
