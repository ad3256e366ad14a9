// Implements the rules that find the elements that are not 0. How many there are is known where all
// elements are the same or are known, as in the ranges of PyTorch's exporters; elsewhere the call
// finds it, once for each tensor.

#include "frontend/onnx/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using dfg::DimExpr;

static Type integerType(NodeBuilder &node) { return IntegerType::get(node.context(), 64); }

/// Larger constants are searched in the call.
static constexpr int64_t kMostSearched = 1 << 20;

static bool isZero(Attribute element) {
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValue().isZero();
  return cast<IntegerAttr>(element).getValue().isZero();
}

/// Returns the row-major positions of the elements of input `i` that are not 0, if they are known.
static std::optional<SmallVector<int64_t>> knownPositions(NodeBuilder &node, unsigned i) {
  SmallVector<int64_t> positions;
  auto add = [&](auto &&elements, auto isZero) {
    for (auto [position, element] : enumerate(elements))
      if (!isZero(element))
        positions.push_back(position);
    return positions;
  };
  if (std::optional<SmallVector<double>> numbers = node.knownReals(i))
    return add(*numbers, [](double number) { return number == 0; });
  auto constant = node.in(i).getValue() ? node.in(i).getValue().getDefiningOp<dfg::ConstantOp>()
                                        : dfg::ConstantOp();
  if (!constant || constant.getValue().getNumElements() > kMostSearched)
    return std::nullopt;
  // Constants in files have no iterators.
  auto elements = constant.getValue().tryGetValues<Attribute>();
  return elements ? std::optional(add(*elements, isZero)) : std::nullopt;
}

static NodeValue integers(NodeBuilder &node, ArrayRef<int64_t> shape, ArrayRef<int64_t> values) {
  if (auto sizes =
          dfg::makeSizes(integerType(node), shape, dfg::Shape(values.begin(), values.end())))
    return NodeValue(std::move(*sizes));
  auto type = RankedTensorType::get(shape, integerType(node));
  return node.builder().constant(DenseElementsAttr::get(type, values), node.location());
}

/// Returns the positions of all elements of this shape: a row for each axis.
static NodeValue allCoordinates(NodeBuilder &node, ArrayRef<DimExpr> shape) {
  SmallVector<NodeValue> rows;
  for (auto [axis, size] : enumerate(shape)) {
    dfg::Shape along(shape.size(), DimExpr(1));
    along[axis] = size;
    NodeValue counted = node.reshape(node.iota(size, integerType(node)), along);
    rows.push_back(node.reshape(node.broadcast(counted, shape), {dfg::elementCount(shape)}));
  }
  return node.op("stack", rows, node.attrs.integer("axis", 0));
}

/// Returns the coordinates of known positions: a row for each axis.
static NodeValue coordinatesOf(NodeBuilder &node, ArrayRef<int64_t> positions,
                               ArrayRef<int64_t> shape) {
  SmallVector<int64_t> values(shape.size() * positions.size());
  for (auto [i, position] : enumerate(positions))
    for (int64_t axis = shape.size(), rest = position; axis-- > 0; rest /= shape[axis])
      values[axis * positions.size() + i] = rest % shape[axis];
  return integers(node, {int64_t(shape.size()), int64_t(positions.size())}, values);
}

/// Returns a value with zeros at the same row-major positions from which `x` has been computed.
static Value sourceOf(Value x) {
  while (Operation *op = x.getDefiningOp()) {
    auto cast = dyn_cast<dfg::CastOp>(op);
    bool keepsZeros = cast && dfg::elementTypeOf(cast.getX().getType()).isInteger(1);
    if (!keepsZeros && !isa<dfg::ReshapeOp, dfg::ExpandOp, dfg::SqueezeOp>(op))
      break;
    x = op->getOperand(0);
  }
  return x;
}

/// Returns the row-major positions of the elements of input `i` that are not 0, whose number the
/// call finds. They have the same size for all nodes that ask for those of the same tensor, so that
/// what is selected by them can be combined.
static NodeValue foundPositions(NodeBuilder &node, unsigned i) {
  Value x = node.valueOf(node.in(i));
  if (!x)
    return {};
  Value source = sourceOf(x);
  if (NodeValue found = node.sharedResult("nonzero", source))
    return found;
  NodeValue mask = x;
  if (!elementOf(mask).isInteger(1))
    mask = node.op("not_equal", {mask, node.scalar(0.0, elementOf(mask))});
  mask = node.reshape(mask, {dfg::elementCount(shapeOf(x))});
  NodeValue found = node.library().compute("_true_positions", {mask});
  node.shareResult("nonzero", source, found);
  return found;
}

static Outcome buildNonZero(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  if (!x)
    return Outcome::Failed;
  dfg::Shape shape = shapeOf(x);
  auto numbers = dfg::constantsOf(shape);
  auto known = numbers ? knownPositions(node, 0) : std::nullopt;
  if (known)
    return node.done({coordinatesOf(node, *known, *numbers)});
  if (Attribute element = evaluateUniform(x.getValue()); element && !shape.empty()) {
    if (isZero(element))
      return node.done({coordinatesOf(node, {}, SmallVector<int64_t>(shape.size(), 1))});
    return node.done({allCoordinates(node, shape)});
  }
  return node.done(
      {node.library().compute("_coordinates_of", {foundPositions(node, 0)}, {{"sizes", shape}})});
}

/// Without an axis, the elements are those of all axes. The condition may have fewer elements.
static Outcome buildCompress(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  if (!x || !node.in(1))
    return Outcome::Failed;
  int64_t given = 0;
  if (node.node.has("axis"))
    given = node.node.number("axis");
  else
    x = node.reshape(x, {dfg::elementCount(shapeOf(x))});
  auto axis = x ? node.axisOf(given, rankOf(x)) : std::nullopt;
  if (!axis)
    return Outcome::Failed;
  auto known = knownPositions(node, 1);
  NodeValue at = known ? integers(node, int64_t(known->size()), *known) : foundPositions(node, 1);
  return node.done({node.op("gather", {x, at}, node.attrs.integer("axis", *axis))});
}

static constexpr OpRule kRules[] = {
    {"NonZero", "1 -> 1", buildNonZero},
    {"Compress", "2 -> 1; axis:int?", buildCompress},
};

ArrayRef<OpRule> selectionRules() { return kRules; }

} // namespace tfc::onnx
