// Constants, and operations that only change the shape of a tensor.

#include "frontend/importer/CommonRules.h"
#include "frontend/tensorflow/LoopBounds.h"
#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

static Outcome buildConst(NodeBuilder &node, const OpRule &) {
  // A large splat constant becomes a broadcast, which needs no memory.
  constexpr int64_t kMaxStored = int64_t(1) << 26;
  ElementsAttr value = node.node.attr("value").tensor;
  auto dense = dyn_cast_or_null<DenseElementsAttr>(value);
  if (dense && dense.isSplat() && dense.getNumElements() > kMaxStored) {
    NodeValue number = node.builder().constant(
        dense.resizeSplat(RankedTensorType::get({}, dense.getElementType())), node.location());
    auto sizes = dense.getType().getShape();
    return node.done({node.op("broadcast", number,
                              node.attrs.sizes("shape", dfg::Shape(sizes.begin(), sizes.end())))});
  }
  // The text form has no constants without elements.
  if (value && value.getNumElements() == 0 && !dfg::readSizes(value))
    return node.done({node.filled(0, dfg::shapeOf(value.getShapedType()), value.getElementType())});
  if (value)
    return node.done({importer::constantValue(node.builder(), value, node.location())});
  // Strings, which assertions print, cannot be computed with.
  if (node.node.number("dtype") == kStringDtype)
    return node.done();
  node.dtype("dtype");
  return node.hasErrors() ? Outcome::Failed : node.fail("expected a value [graph-file]");
}

static Outcome buildReshape(NodeBuilder &node, const OpRule &) {
  std::optional<dfg::Shape> shape = node.dims(1);
  NodeValue x = node.in(0);
  if (!shape || !x)
    return Outcome::Failed;
  return node.done({node.reshape(node.ensureFoundSize(x, *shape), *shape)});
}

static Outcome buildTranspose(NodeBuilder &node, const OpRule &) {
  std::optional<SmallVector<int64_t>> places = node.ints(1);
  return places ? node.done({node.transpose(node.in(0), *places)}) : Outcome::Failed;
}

static Outcome buildExpand(NodeBuilder &node, const OpRule &) {
  std::optional<int64_t> axis = node.integer(1);
  return axis ? node.done({node.op("expand", node.in(0), node.attrs.integer("axis", *axis))})
              : Outcome::Failed;
}

static Outcome buildSqueeze(NodeBuilder &node, const OpRule &) {
  const std::vector<int64_t> &axes = node.node.attr("squeeze_dims").numbers;
  SmallVector<NamedAttribute> attributes;
  if (!axes.empty())
    attributes.push_back(node.attrs.integers("axis", axes));
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

static Outcome buildPack(NodeBuilder &node, const OpRule &) {
  return node.done(
      {node.op("stack", node.allInputs(), node.attrs.integer("axis", node.node.number("axis")))});
}

static Outcome buildUnpack(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  if (!x)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(x.getType());
  auto axis = dfg::normalizeAxis(node.node.number("axis"), shape.size());
  std::optional<int64_t> count = axis ? shape[*axis].constant() : std::nullopt;
  if (!count || *count != node.node.number("num", *count))
    return node.fail("expected an axis of {} parts of {} [axis]", node.node.number("num"),
                     dfg::toText(x.getType()));
  SmallVector<NodeValue> parts;
  dfg::Shape starts(shape.size(), DimExpr(0)), sizes = shape, rest = shape;
  sizes[*axis] = 1;
  rest.erase(rest.begin() + *axis);
  for (int64_t i = 0; i < *count; ++i) {
    starts[*axis] = i;
    parts.push_back(node.reshape(node.slice(x, starts, sizes), rest));
  }
  return node.done(parts);
}

/// `argument` says which input is the axis.
static Outcome buildConcat(NodeBuilder &node, const OpRule &rule) {
  bool isFirst = rule.argument == "first";
  std::optional<int64_t> axis = node.integer(isFirst ? 0 : node.numInputs() - 1);
  if (!axis)
    return Outcome::Failed;
  return node.done(
      {node.op("concat", node.allInputs(isFirst, !isFirst), node.attrs.integer("axis", *axis))});
}

/// Returns the parts of numbers that are known, which slices keep; none if `sizes` do not add up.
static SmallVector<NodeValue> splitNumbers(NodeBuilder &node, unsigned input, int64_t axis,
                                           ArrayRef<DimExpr> sizes) {
  SmallVector<NodeValue> parts;
  NodeValue x = node.sizes(input) ? node.in(input) : NodeValue();
  dfg::Shape shape = x ? dfg::shapeOf(x.getType()) : dfg::Shape();
  std::optional<int64_t> place = x ? dfg::normalizeAxis(axis, shape.size()) : std::nullopt;
  DimExpr total(0);
  for (const DimExpr &size : sizes)
    total = total + size;
  if (!place || total != shape[*place])
    return parts;
  dfg::Shape starts(shape.size(), DimExpr(0));
  for (const DimExpr &size : sizes) {
    shape[*place] = size;
    parts.push_back(node.slice(x, starts, shape));
    starts[*place] = starts[*place] + size;
  }
  return parts;
}

static Outcome buildSplit(NodeBuilder &node, const OpRule &) {
  std::optional<int64_t> axis = node.integer(0);
  if (!axis)
    return Outcome::Failed;
  int64_t count = std::max<int64_t>(node.node.number("num_split", 1), 1);
  const dfg::SizeTensor *known = node.sizes(1);
  int64_t all = known ? known->values.size() : 0;
  if (SmallVector<NodeValue> parts =
          splitNumbers(node, 1, *axis, dfg::Shape(count <= all ? count : 0, DimExpr(all / count)));
      !parts.empty())
    return node.done(parts);
  return node.doneWith(node.make("split", node.in(1),
                                 {node.attrs.integer("sections", node.node.number("num_split", 1)),
                                  node.attrs.integer("axis", *axis)}));
}

static Outcome buildSplitV(NodeBuilder &node, const OpRule &) {
  std::optional<dfg::Shape> sizes = node.dims(1);
  std::optional<int64_t> axis = node.integer(2);
  NodeValue x = node.in(0);
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
  if (SmallVector<NodeValue> parts = splitNumbers(node, 0, *axis, *sizes); !parts.empty())
    return node.done(parts);
  return node.doneWith(node.make(
      "split", x, {node.attrs.sizes("sizes", *sizes), node.attrs.integer("axis", *axis)}));
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

/// Returns the numbers of a range if its start, end and step are known and there are few.
static std::optional<dfg::SizeTensor>
rangeSizes(const dfg::SizeTensor *first, const dfg::SizeTensor *end, const dfg::SizeTensor *by) {
  auto start = first ? first->getConstant() : std::nullopt,
       limit = end ? end->getConstant() : std::nullopt,
       step = by ? by->getConstant() : std::nullopt;
  if (!start || !limit || !step || *step == 0)
    return std::nullopt;
  dfg::Shape values;
  for (int64_t i = *start; *step > 0 ? i < *limit : i > *limit;) {
    if (int64_t(values.size()) == dfg::SizeTensor::kMaxElements)
      return std::nullopt;
    values.push_back(i);
    if (__builtin_add_overflow(i, *step, &i))
      break;
  }
  return dfg::makeSizeVector(first->elementType, values);
}

/// Returns how many elements the range of a type has, if that is known.
static std::optional<DimExpr> rangeLength(NodeBuilder &node, Type type) {
  auto start = node.knownReals(0), limit = node.knownReals(1), step = node.knownReals(2);
  auto isOne = [](auto &numbers) { return numbers && numbers->size() == 1; };
  if (isOne(start) && isOne(limit) && isOne(step)) {
    double count = countSteps(start->front(), limit->front(), step->front(), type);
    return count >= 0 && count < 1e9 ? std::optional(DimExpr(int64_t(count))) : std::nullopt;
  }
  auto from = node.knownRatios(0), to = node.knownRatios(1), by = node.knownRatios(2);
  if (!isOne(from) || !isOne(to) || !isOne(by))
    return std::nullopt;
  std::optional<Ratio> count = (to->front() - from->front()) / by->front();
  return count ? count->ceil() : std::nullopt;
}

/// Notes a bound of the length if the loops of the graph limit the numbers.
static void boundRange(NodeBuilder &node) {
  const dfg::SizeTensor *start = node.sizes(0), *step = node.sizes(2);
  std::optional<Edge> limit = node.edge(1);
  std::optional<DimExpr> most = limit ? largestValue(node.entry, *limit) : std::nullopt;
  std::optional<int64_t> largest = most ? most->constant() : std::nullopt;
  if (largest && *largest >= 0 && start && step && start->getConstant().value_or(-1) >= 0 &&
      step->getConstant().value_or(0) >= 1)
    node.entry.bounds.try_emplace(node.node.name, *largest);
}

static Outcome buildOtherRange(NodeBuilder &node) {
  NodeValue start = node.in(0), limit = node.in(1), step = node.in(2);
  if (!start || !limit || !step)
    return Outcome::Failed;
  Type type = dfg::elementTypeOf(start.getType());
  std::optional<DimExpr> count = rangeLength(node, type);
  if (count)
    node.followInput(1);
  else
    boundRange(node);
  if (!count && node.entry.bounds.count(node.node.name))
    count = node.foundSize(node.library().compute("_range_lengths", {start, limit, step}));
  if (!count) {
    node.askForBound("number of elements");
    return Outcome::Failed;
  }
  NodeValue scaled = node.op("mul", {node.iota(*count, type), step});
  return node.done({node.op("add", {scaled, start})});
}

/// Ranges of floats, and ranges of integers of which only the length is known.
static Outcome buildRange(NodeBuilder &node, const OpRule &) {
  const dfg::SizeTensor *start = node.sizes(0), *limit = node.sizes(1), *step = node.sizes(2);
  if (step && step->getConstant() == 0)
    return node.fail("the step of a range must not be 0 [operand]");
  if (auto numbers = rangeSizes(start, limit, step))
    return node.done({NodeValue(std::move(*numbers))});
  bool isCounting =
      start && start->isSingle() && limit && limit->isSingle() && step && step->getConstant() == 1;
  if (!isCounting)
    return buildOtherRange(node);
  DimExpr first = start->values.front();
  NodeValue counted = node.iota(limit->values.front() - first, start->elementType);
  if (first.isConstant(0))
    return node.done({counted});
  return node.done({node.op("add", {counted, node.size(first, start->elementType)})});
}

/// Returns the axes of a layout of tensors, a letter for each, without batch and channels if they
/// are only `count`. Emits an error and returns an empty text if that is not one of its letters.
static std::optional<std::string> axesOfLayout(NodeBuilder &node, StringRef attr,
                                               StringRef otherwise, size_t count) {
  std::string layout = node.node.has(attr) ? node.node.attr(attr).text : otherwise.str();
  if (count + 2 == layout.size())
    llvm::erase_if(layout, [](char axis) { return axis == 'N' || axis == 'C'; });
  if (count == layout.size())
    return layout;
  node.error() << "expected a number for each axis of '" << layout << "', but got " << count
               << " [operand]";
  return std::nullopt;
}

/// Brings numbers for the axes of one layout into the order of another.
static Outcome buildLayoutPermute(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  dfg::Shape shape = x ? dfg::shapeOf(x.getType()) : dfg::Shape();
  std::optional<int64_t> count = shape.empty() ? std::nullopt : shape.front().constant();
  if (!count)
    return x ? node.fail("expected a number for each axis [operand]") : Outcome::Failed;
  std::optional<std::string> from = axesOfLayout(node, "src_format", "NHWC", *count);
  std::optional<std::string> to =
      from ? axesOfLayout(node, "dst_format", "NCHW", *count) : std::nullopt;
  if (!to)
    return Outcome::Failed;
  if (to->empty())
    return node.done({x});
  SmallVector<NodeValue> rows;
  for (char axis : *to) {
    size_t place = from->find(axis);
    if (place == std::string::npos)
      return node.fail("'{}' and '{}' have different axes [graph-attribute]", *from, *to);
    dfg::Shape starts(shape.size(), DimExpr(0)), sizes = shape;
    starts.front() = int64_t(place);
    sizes.front() = 1;
    rows.push_back(node.slice(x, starts, sizes));
  }
  return node.done({node.op("concat", rows, node.attrs.integer("axis", 0))});
}

/// Returns the places that axes of one layout, by their numbers, have in another.
static Outcome buildLayoutMap(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  std::string from = node.node.has("src_format") ? node.node.attr("src_format").text : "NHWC";
  std::string to = node.node.has("dst_format") ? node.node.attr("dst_format").text : "NCHW";
  Type type = x ? dfg::elementTypeOf(x.getType()) : Type();
  if (!type)
    return Outcome::Failed;
  NodeValue result = node.op("mul", {x, node.scalar(0, type)});
  for (auto [i, axis] : enumerate(from)) {
    size_t place = to.find(axis);
    if (place == std::string::npos || from.size() != to.size())
      return node.fail("'{}' and '{}' have different axes [graph-attribute]", from, to);
    for (int64_t number : {int64_t(i), int64_t(i) - int64_t(from.size())})
      result = node.op("select", {node.op("equal", {x, node.scalar(number, type)}),
                                  node.scalar(int64_t(place), type), result});
  }
  return node.done({result});
}

static constexpr OpRule kRules[] = {
    {"DataFormatVecPermute", "1 -> 1; src_format:string?, dst_format:string?", buildLayoutPermute},
    {"DataFormatDimMap", "1 -> 1; src_format:string?, dst_format:string?", buildLayoutMap},
    {"Const", "0 -> 1; dtype:type, value:tensor", buildConst, "", OpRule::Complex},
    {"Reshape", "2 -> 1", buildReshape, "", OpRule::Planes},
    {"Transpose", "2 -> 1", buildTranspose, "", OpRule::Planes},
    {"ConjugateTranspose", "2 -> 1", buildTranspose},
    {"ExpandDims", "2 -> 1", buildExpand, "", OpRule::Planes},
    {"Squeeze", "1 -> 1; squeeze_dims:ints?", buildSqueeze, "", OpRule::Planes},
    {"BroadcastTo", "2 -> 1", buildBroadcastTo, "", OpRule::Planes},
    {"Fill", "2 -> 1", buildFill, "", OpRule::Planes},
    {"Tile", "2 -> 1", buildTile, "", OpRule::Planes},
    {"Pack", "N -> 1; N:int>=1?, axis:int?", buildPack, "", OpRule::Planes},
    {"Unpack", "1 -> num; axis:int?", buildUnpack, "", OpRule::Planes},
    {"Concat", "N+1 -> 1; N:int>=1?", buildConcat, "first", OpRule::Planes},
    {"ConcatV2", "N+1 -> 1; N:int>=1?", buildConcat, "last", OpRule::Planes},
    {"Split", "2 -> num_split", buildSplit, "", OpRule::Planes},
    {"SplitV", "3 -> num_split", buildSplitV, "", OpRule::Planes},
    {"Range", "3 -> 1; Tidx:type?", buildRange},
};

ArrayRef<OpRule> shapeRules() { return kRules; }

} // namespace tfc::tensorflow
