// Implements the rules of constants, shapes, and operations that only change the shape of a tensor.

#include "frontend/importer/CommonRules.h"
#include "frontend/onnx/NodeBuilder.h"
#include <cmath>

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using dfg::DimExpr;
using dfg::SizeTensor;

static Type integerType(NodeBuilder &node) { return IntegerType::get(node.context(), 64); }

static Outcome doneWith(NodeBuilder &node, std::optional<SizeTensor> sizes) {
  return sizes ? node.done({NodeValue(std::move(*sizes))})
               : node.fail("expected fewer elements of a shape [dynamic-shape]");
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static Outcome doneWithTensor(NodeBuilder &node, StringRef attr) {
  const Attr &value = node.node.attr(attr);
  if (value.tensor)
    return node.done({constantValue(node.entry, value.tensor, value.number, node.node.name)});
  node.dtypeOf(value.number);
  return node.hasErrors() ? Outcome::Failed : node.fail("expected a value [graph-file]");
}

static Outcome doneWithReals(NodeBuilder &node, ArrayRef<double> values, bool isScalar) {
  Type type = Float32Type::get(node.context());
  SmallVector<Attribute> elements;
  for (double value : values)
    elements.push_back(FloatAttr::get(type, value));
  SmallVector<int64_t> shape;
  if (!isScalar)
    shape.push_back(elements.size());
  return node.done({node.builder().constant(
      DenseElementsAttr::get(RankedTensorType::get(shape, type), elements), node.location())});
}

static Outcome doneWithIntegers(NodeBuilder &node, ArrayRef<int64_t> values) {
  if (auto sizes = dfg::makeSizeVector(integerType(node), dfg::Shape(values.begin(), values.end())))
    return node.done({NodeValue(std::move(*sizes))});
  auto type = RankedTensorType::get(int64_t(values.size()), integerType(node));
  return node.done(
      {node.builder().constant(DenseElementsAttr::get(type, values), node.location())});
}

static Outcome buildConstant(NodeBuilder &node, const OpRule &) {
  const importer::Node &given = node.node;
  if (given.has("value"))
    return doneWithTensor(node, "value");
  if (given.has("value_int"))
    return doneWith(node, dfg::makeSize(integerType(node), given.number("value_int")));
  if (given.has("value_ints"))
    return doneWithIntegers(node, given.attr("value_ints").numbers);
  if (given.has("value_float"))
    return doneWithReals(node, given.real("value_float"), /*isScalar=*/true);
  if (given.has("value_floats"))
    return doneWithReals(node, given.attr("value_floats").reals, /*isScalar=*/false);
  return node.fail("expected a value that is a tensor, or numbers [unsupported-node]");
}

/// Returns the element of an attribute that is a tensor, by default 0 in f32.
static NodeValue elementOfAttr(NodeBuilder &node, StringRef attr) {
  if (!node.node.has(attr))
    return node.scalar(0.0, Float32Type::get(node.context()));
  const Attr &given = node.node.attr(attr);
  ElementsAttr value = given.tensor;
  if (!value || value.getNumElements() != 1) {
    node.error() << "expected '" << attr << "' to be a tensor of one element [graph-attribute]";
    return {};
  }
  return node.reshape(constantValue(node.entry, value, given.number, node.node.name), {});
}

static Outcome buildConstantOfShape(NodeBuilder &node, const OpRule &) {
  std::optional<dfg::Shape> shape = node.dims(0);
  return shape ? node.done({node.broadcast(elementOfAttr(node, "value"), *shape)})
               : Outcome::Failed;
}

static Outcome buildEyeLike(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.inOfRank(0, 2);
  Type type = !x ? Type() : node.node.has("dtype") ? node.dtype("dtype") : elementOf(x);
  if (!type)
    return Outcome::Failed;
  dfg::Shape shape = shapeOf(x);
  NodeValue rows = node.iota(shape[0], integerType(node));
  NodeValue columns = node.iota(shape[1], integerType(node));
  NodeValue shifted = node.op("add", {rows, node.scalar(node.node.number("k"), integerType(node))});
  NodeValue hit = node.op("equal", {node.reshape(shifted, {shape[0], DimExpr(1)}), columns});
  return node.done({node.cast(hit, type)});
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

/// Returns the numbers of a range whose limits are numbers, if there are few.
static std::optional<SizeTensor> rangeSizes(NodeBuilder &node) {
  auto constantOf = [&](unsigned i) {
    const SizeTensor *known = node.sizes(i);
    return known ? known->getConstant() : std::nullopt;
  };
  std::optional<int64_t> start = constantOf(0), limit = constantOf(1), step = constantOf(2);
  if (!start || !limit || !step || *step == 0)
    return std::nullopt;
  dfg::Shape values;
  for (int64_t i = *start; *step > 0 ? i < *limit : i > *limit;) {
    if (int64_t(values.size()) == SizeTensor::kMaxElements)
      return std::nullopt;
    values.push_back(i);
    if (__builtin_add_overflow(i, *step, &i))
      break;
  }
  return dfg::makeSizeVector(node.sizes(0)->elementType, values);
}

/// Returns `start + i * step`.
static Outcome doneWithRange(NodeBuilder &node, const DimExpr &count) {
  NodeValue start = node.in(0), step = node.in(2);
  if (!start || !step)
    return Outcome::Failed;
  NodeValue counted = node.iota(count, elementOf(start));
  NodeValue scaled = node.op("mul", {counted, node.reshape(step, {})});
  return node.done({node.op("add", {scaled, node.reshape(start, {})})});
}

/// Returns the number of elements of a range whose limits depend on sizes, if they are known.
static std::optional<DimExpr> rangeCount(NodeBuilder &node) {
  auto start = node.ratios(0), limit = node.ratios(1), step = node.ratios(2);
  if (!start || !limit || !step || start->size() != 1 || limit->size() != 1 || step->size() != 1)
    return std::nullopt;
  std::optional<Ratio> count = (limit->front() - start->front()) / step->front();
  std::optional<DimExpr> whole = count ? count->ceil() : std::nullopt;
  return whole ? std::optional(node.asSize(*whole)) : std::nullopt;
}

static Outcome buildRange(NodeBuilder &node, const OpRule &) {
  if (auto numbers = rangeSizes(node))
    return node.done({NodeValue(std::move(*numbers))});
  auto isKnown = [&](unsigned i) { return node.knownReals(i).has_value(); };
  bool areKnown = isKnown(0) && isKnown(1) && isKnown(2);
  if (std::optional<DimExpr> count = areKnown ? std::nullopt : rangeCount(node))
    return doneWithRange(node, *count);
  std::optional<double> first = node.real(0), last = node.real(1), by = node.real(2);
  if (!first || !last || !by)
    return Outcome::Failed;
  double count = std::ceil((*last - *first) / *by);
  if (!(std::abs(count) < 1e9))
    return node.fail("expected a range of fewer elements [dynamic-shape]");
  return doneWithRange(node, int64_t(std::max(count, 0.0)));
}

//===----------------------------------------------------------------------===//
// Shapes of tensors
//===----------------------------------------------------------------------===//

/// Returns a position that may count from the end, in the range of a slice.
static int64_t clampPlace(int64_t place, int64_t size) {
  return std::clamp<int64_t>(place < 0 ? place + size : place, 0, size);
}

static Outcome buildShape(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  if (!x)
    return Outcome::Failed;
  dfg::Shape shape = shapeOf(x);
  int64_t start = clampPlace(node.node.number("start", 0), shape.size());
  int64_t end = clampPlace(node.node.number("end", shape.size()), shape.size());
  ArrayRef<DimExpr> part = ArrayRef(shape).slice(start, std::max<int64_t>(end - start, 0));
  return doneWith(node, dfg::makeSizeVector(integerType(node), dfg::Shape(part)));
}

static Outcome buildSize(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  return x ? doneWith(node, dfg::makeSize(integerType(node), dfg::elementCount(shapeOf(x))))
           : Outcome::Failed;
}

//===----------------------------------------------------------------------===//
// Changes of the shape
//===----------------------------------------------------------------------===//

/// A size of 0 is that of the input, unless `allowsZero`.
static Outcome reshapeTo(NodeBuilder &node, dfg::Shape shape, bool allowsZero) {
  NodeValue x = node.in(0);
  if (!x)
    return Outcome::Failed;
  dfg::Shape old = shapeOf(x);
  for (auto [axis, size] : enumerate(shape)) {
    if (!size.isConstant(0) || allowsZero)
      continue;
    if (axis >= old.size())
      return node.fail("expected a size for axis " + Twine(axis) + ", but got 0, and " +
                       dfg::toText(x.getType()) + " has no such axis [axis]");
    size = old[axis];
  }
  return node.done({node.reshape(x, shape)});
}

static Outcome buildReshape(NodeBuilder &node, const OpRule &) {
  std::optional<dfg::Shape> shape = node.dims(1);
  return shape ? reshapeTo(node, *shape, node.flag("allowzero")) : Outcome::Failed;
}

static Outcome buildOldReshape(NodeBuilder &node, const OpRule &) {
  ArrayRef<int64_t> shape = node.ints("shape");
  return reshapeTo(node, dfg::Shape(shape.begin(), shape.end()), false);
}

static Outcome buildFlatten(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  if (!x)
    return Outcome::Failed;
  dfg::Shape shape = shapeOf(x);
  int64_t axis = node.node.number("axis", 1), rank = shape.size();
  if (axis < -rank || axis > rank)
    return node.fail("expected an axis of " + Twine(rank) + ", but got " + Twine(axis) + " [axis]");
  axis += axis < 0 ? rank : 0;
  ArrayRef<DimExpr> sizes = shape;
  return node.done({node.reshape(
      x, {dfg::elementCount(sizes.take_front(axis)), dfg::elementCount(sizes.drop_front(axis))})});
}

static Outcome buildTranspose(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  if (!x)
    return Outcome::Failed;
  SmallVector<int64_t> places(node.ints("perm"));
  if (!node.node.has("perm"))
    for (int64_t axis = rankOf(x); axis-- > 0;)
      places.push_back(axis);
  return node.done({node.transpose(x, places)});
}

static Outcome buildSqueeze(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  std::optional<SmallVector<int64_t>> axes = node.axesFrom("axes", 1);
  if (!x || !axes)
    return Outcome::Failed;
  if (axes->empty() && (node.node.has("axes") || node.hasInput(1)))
    return node.done({x});
  SmallVector<NamedAttribute> attributes;
  if (!axes->empty())
    attributes.push_back(node.attrs.integers("axis", *axes));
  return node.done({node.op("squeeze", x, attributes)});
}

/// The axes are those of the result.
static Outcome buildUnsqueeze(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  std::optional<SmallVector<int64_t>> given = node.axesFrom("axes", 1);
  auto axes = x && given ? node.axesOf(*given, rankOf(x) + given->size()) : std::nullopt;
  if (!axes)
    return Outcome::Failed;
  for (int64_t axis : *axes)
    x = node.op("expand", x, node.attrs.integer("axis", axis));
  return node.done({x});
}

static Outcome buildConcat(NodeBuilder &node, const OpRule &) {
  return node.done({node.op("concat", node.allInputs(),
                            node.attrs.integer("axis", node.node.number("axis", 1)))});
}

/// Both shapes are broadcast.
static Outcome buildExpand(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  std::optional<dfg::Shape> shape = node.dims(1);
  if (!x || !shape)
    return Outcome::Failed;
  std::optional<dfg::Shape> joined = dfg::broadcastShapes(shapeOf(x), *shape);
  if (!joined)
    return node.fail("cannot expand " + dfg::toText(x.getType()) + " to " +
                     dfg::toText(dfg::tensorOf(*shape, elementOf(x))) + " [operand]");
  return node.done({node.broadcast(x, *joined)});
}

/// The first version repeats one axis.
static Outcome buildOldTile(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  std::optional<dfg::Shape> count = node.dims(1);
  std::optional<int64_t> given = node.integer(2);
  auto axis = x && given ? node.axisOf(*given, rankOf(x)) : std::nullopt;
  if (!axis || !count || count->size() != 1)
    return Outcome::Failed;
  dfg::Shape repeats(rankOf(x), DimExpr(1));
  repeats[*axis] = count->front();
  return node.done({node.op("tile", x, node.attrs.sizes("repeats", repeats))});
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

static Outcome doneWithParts(NodeBuilder &node, NodeValue x, int64_t axis,
                             ArrayRef<DimExpr> sizes) {
  if (x.getSizes() && dfg::constantsOf(dfg::Shape(sizes))) {
    dfg::Shape starts(rankOf(x), DimExpr(0)), counts = shapeOf(x);
    SmallVector<NodeValue> parts;
    for (const DimExpr &size : sizes) {
      counts[axis] = size;
      parts.push_back(node.slice(x, starts, counts));
      starts[axis] = starts[axis] + size;
    }
    return node.done(parts);
  }
  return node.doneWith(
      node.make("split", x, {node.attrs.sizes("sizes", sizes), node.attrs.integer("axis", axis)}));
}

/// Parts of the same size; the last one may be smaller.
static std::optional<dfg::Shape> equalParts(NodeBuilder &node, const DimExpr &size) {
  int64_t count = node.node.number("num_outputs", node.node.outputs.size());
  if (count < 1 || count > SizeTensor::kMaxElements) {
    node.error() << "expected a number of parts above 0, but got " << count << " [axis]";
    return std::nullopt;
  }
  DimExpr part = DimExpr::floorDiv(size + DimExpr(count - 1), DimExpr(count));
  // Parts of a size that only the call knows must be equal.
  if (!size.constant())
    part = DimExpr::floorDiv(size, DimExpr(count));
  dfg::Shape parts(count - 1, part);
  parts.push_back(size.constant() ? size - part * DimExpr(count - 1) : part);
  return parts;
}

static Outcome buildSplit(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  auto axis = x ? node.axisOf(node.node.number("axis"), rankOf(x)) : std::nullopt;
  if (!axis)
    return Outcome::Failed;
  std::optional<dfg::Shape> sizes;
  if (node.node.has("split"))
    sizes = dfg::Shape(node.ints("split").begin(), node.ints("split").end());
  else if (node.hasInput(1))
    sizes = node.dims(1);
  else
    sizes = equalParts(node, shapeOf(x)[*axis]);
  return sizes ? doneWithParts(node, x, *axis, *sizes) : Outcome::Failed;
}

static constexpr OpRule kRules[] = {
    {"Constant",
     "0 -> 1; value:tensor?, value_int:int?, value_ints:ints?, value_float:float?, "
     "value_floats:floats?, value_string:string?, value_strings:strings?",
     buildConstant},
    {"ConstantOfShape", "1 -> 1; value:tensor?", buildConstantOfShape},
    {"EyeLike", "1 -> 1; dtype:int?, k:int?", buildEyeLike},
    {"Range", "3 -> 1; stash_type:int?", buildRange},
    {"Shape", "1 -> 1; start:int?, end:int?", buildShape, "", 1, Codes::Read},
    {"Size", "1 -> 1", buildSize, "", 1, Codes::Read},
    {"Reshape", "1 -> 1; shape:ints", buildOldReshape},
    {"Reshape", "2 -> 1; allowzero:int?", buildReshape, "", 5, Codes::Moved},
    {"Flatten", "1 -> 1; axis:int?", buildFlatten, "", 1, Codes::Moved},
    {"Transpose", "1 -> 1; perm:ints?", buildTranspose, "", 1, Codes::Moved},
    {"Squeeze", "1-2 -> 1; axes:ints?", buildSqueeze, "", 1, Codes::Moved},
    {"Unsqueeze", "1-2 -> 1; axes:ints?", buildUnsqueeze, "", 1, Codes::Moved},
    {"Concat", "1+ -> 1; axis:int?", buildConcat, "", 1, Codes::Moved},
    {"Expand", "2 -> 1", buildExpand, "", 1, Codes::Moved},
    {"Tile", "3 -> 1", buildOldTile},
    {"Tile", "2 -> 1", buildTile, "", 6},
    {"Split", "1-2 -> 1+; axis:int?, split:ints?, num_outputs:int?", buildSplit, "", 1,
     Codes::Moved},
};

ArrayRef<OpRule> shapeRules() { return kRules; }

} // namespace tfc::onnx
