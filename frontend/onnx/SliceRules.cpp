// Implements the rules of slices, padding and triangles.

#include "dialects/dfg/SizeLimits.h"
#include "frontend/onnx/NodeBuilder.h"
#include <cmath>

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using dfg::DimExpr;

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Returns the number without names in `size`.
static DimExpr constantTerm(const DimExpr &size) {
  auto found = size.getTerms().find({});
  return found == size.getTerms().end() ? DimExpr(0) : DimExpr(found->second);
}

/// A position along an axis that counts from the front. Numbers far outside stand for its ends; the
/// largest one of 32 bits does so in exported models.
/// Whether it counts from the back depends on its sign, which is assumed to be the likely one, as
/// in `x[-(n - 1):]`, all rows but one; calls with the other sign are refused.
static DimExpr placeOf(NodeBuilder &node, const DimExpr &place, const DimExpr &size) {
  constexpr int64_t kFar = INT32_MAX;
  auto [least, most] = node.intervalOf(place);
  if (importer::isLowest(place) || (most && *most <= -kFar))
    return DimExpr(-1);
  if (least && *least >= kFar)
    return size;
  if (node.isSize(place))
    return place;
  if (place.constant() || node.isSize(DimExpr(-1) - place))
    return place + size;
  // 0 counts from the front, numbers below from the back.
  if (most && *most <= 0 && !node.entry.isFed(place))
    return place + size * DimExpr::min(1, DimExpr(0) - place);
  auto [lowest, highest] = node.intervalOf(place - constantTerm(place));
  bool countsFromBack = highest && *highest <= 0;
  if (countsFromBack)
    node.require(1, DimExpr(0) - place);
  else
    node.require(0, place);
  return countsFromBack ? place + size : place;
}

static DimExpr atLeast(NodeBuilder &node, const DimExpr &place, int64_t low) {
  return node.isWithin(DimExpr(low), place) ? place : DimExpr::max(place, DimExpr(low));
}

static DimExpr atMost(NodeBuilder &node, const DimExpr &place, const DimExpr &high) {
  return node.isWithin(place, high) ? place : DimExpr::min(place, high);
}

namespace {
/// The slice along one axis.
struct Cut {
  DimExpr start, size;
  int64_t step;
};
} // namespace

/// A position that is outside on the side to which the other one counts leaves no element, as one
/// at that end does: sizes need one limit for each position.
static Cut cutAxis(NodeBuilder &node, const DimExpr &size, const DimExpr &begin, const DimExpr &end,
                   int64_t step) {
  bool isForward = step > 0;
  int64_t stride = isForward ? step : -step;
  DimExpr last = size - DimExpr(1), first = placeOf(node, begin, size),
          stop = placeOf(node, end, size);
  DimExpr span = isForward ? atMost(node, stop, size) - atLeast(node, first, 0)
                           : atMost(node, first, last) - atLeast(node, stop, -1);
  DimExpr count = node.asSize(DimExpr::floorDiv(span + DimExpr(stride - 1), DimExpr(stride)));
  // No element, wherever the slice starts.
  if (count.isConstant(0))
    return {DimExpr(0), count, step};
  DimExpr high = isForward ? size : last;
  return {atMost(node, atLeast(node, first, isForward ? 0 : -1), high), count, step};
}

static Outcome slice(NodeBuilder &node, ArrayRef<DimExpr> begins, ArrayRef<DimExpr> ends,
                     ArrayRef<int64_t> axes, ArrayRef<int64_t> steps) {
  NodeValue x = node.in(0);
  if (!x)
    return Outcome::Failed;
  if (begins.size() != ends.size() || begins.size() != axes.size() || begins.size() != steps.size())
    return node.fail("expected as many starts as ends, axes and steps [graph-edge]");
  dfg::Shape starts(rankOf(x), DimExpr(0)), sizes = shapeOf(x);
  SmallVector<int64_t> strides(rankOf(x), 1);
  for (auto [begin, end, given, step] : zip(begins, ends, axes, steps)) {
    std::optional<int64_t> axis = node.axisOf(given, rankOf(x));
    if (!axis)
      return Outcome::Failed;
    if (step == 0 || step == INT64_MIN)
      return node.fail("expected a step other than 0 [graph-attribute]");
    Cut cut = cutAxis(node, shapeOf(x)[*axis], begin, end, step);
    starts[*axis] = cut.start;
    sizes[*axis] = cut.size;
    strides[*axis] = cut.step;
  }
  return node.done({node.slice(x, starts, sizes, strides)});
}

static SmallVector<int64_t> countUp(int64_t count) {
  SmallVector<int64_t> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(i);
  return numbers;
}

static Outcome buildOldSlice(NodeBuilder &node, const OpRule &) {
  ArrayRef<int64_t> starts = node.ints("starts"), ends = node.ints("ends");
  SmallVector<int64_t> axes(node.ints("axes"));
  if (!node.node.has("axes"))
    axes = countUp(starts.size());
  return slice(node, dfg::Shape(starts.begin(), starts.end()), dfg::Shape(ends.begin(), ends.end()),
               axes, SmallVector<int64_t>(axes.size(), 1));
}

static Outcome buildSlice(NodeBuilder &node, const OpRule &) {
  std::optional<dfg::Shape> starts = node.dims(1), ends = node.dims(2);
  if (!starts || !ends)
    return Outcome::Failed;
  std::optional<SmallVector<int64_t>> axes = countUp(starts->size());
  std::optional<SmallVector<int64_t>> steps = SmallVector<int64_t>(starts->size(), 1);
  if (node.hasInput(3))
    axes = node.ints(3);
  if (node.hasInput(4))
    steps = node.ints(4);
  return axes && steps ? slice(node, *starts, *ends, *axes, *steps) : Outcome::Failed;
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// Removes the elements that negative padding stands for, and sets that padding to 0.
static NodeValue crop(NodeBuilder &node, NodeValue x, dfg::Shape &low, dfg::Shape &high) {
  dfg::Shape starts(low.size(), DimExpr(0)), sizes = shapeOf(x);
  auto cut = [](DimExpr &pad) {
    std::optional<int64_t> number = pad.constant();
    DimExpr removed = number && *number < 0 ? DimExpr(0) - pad : DimExpr(0);
    pad = number && *number < 0 ? DimExpr(0) : pad;
    return removed;
  };
  for (size_t axis = 0; axis < low.size(); ++axis) {
    starts[axis] = cut(low[axis]);
    sizes[axis] = sizes[axis] - starts[axis] - cut(high[axis]);
  }
  return sizes == shapeOf(x) ? x : node.slice(x, starts, sizes);
}

namespace {
/// The numbers of elements to add at the beginning and the end of each axis.
struct Padding {
  dfg::Shape low, high;
};
} // namespace

static NodeValue padWithNumber(NodeBuilder &node, NodeValue x, const Padding &padding,
                               double value) {
  return node.op("pad", x,
                 {node.attrs.sizes("low", padding.low), node.attrs.sizes("high", padding.high),
                  node.attrs.real("value", value)});
}

/// Pads with a value that arrives at run time. `dfg.pad` takes only a constant, so the value is
/// selected wherever a padded mask shows padding.
static NodeValue padWithValue(NodeBuilder &node, NodeValue x, const Padding &padding,
                              NodeValue value) {
  if (!x || !value)
    return {};
  Type type = IntegerType::get(node.context(), 8);
  NodeValue inside = padWithNumber(node, node.filled(1, shapeOf(x), type), padding, 0);
  NodeValue isInside = node.cast(inside, IntegerType::get(node.context(), 1));
  return node.op("select", {isInside, padWithNumber(node, x, padding, 0), node.reshape(value, {})});
}

static std::optional<Padding> findPadding(NodeBuilder &node, NodeValue x, ArrayRef<DimExpr> pads,
                                          ArrayRef<int64_t> axes) {
  if (pads.size() != 2 * axes.size()) {
    node.error() << "expected two numbers of elements for each of " << axes.size()
                 << " axes, but got " << pads.size() << " [graph-edge]";
    return std::nullopt;
  }
  Padding padding{dfg::Shape(rankOf(x), DimExpr(0)), dfg::Shape(rankOf(x), DimExpr(0))};
  for (auto [i, given] : enumerate(axes)) {
    std::optional<int64_t> axis = node.axisOf(given, rankOf(x));
    if (!axis)
      return std::nullopt;
    padding.low[*axis] = pads[i];
    padding.high[*axis] = pads[axes.size() + i];
  }
  return padding;
}

static Outcome pad(NodeBuilder &node, ArrayRef<DimExpr> pads, ArrayRef<int64_t> axes,
                   std::optional<double> number, NodeValue value) {
  NodeValue x = node.in(0);
  std::optional<Padding> padding = findPadding(node, x, pads, axes);
  x = padding ? crop(node, x, padding->low, padding->high) : NodeValue();
  if (!x)
    return Outcome::Failed;
  std::string mode = node.node.attr("mode").text;
  if (mode.empty() || mode == "constant")
    return node.done({number ? padWithNumber(node, x, *padding, *number)
                             : padWithValue(node, x, *padding, value)});
  if (mode != "edge" && mode != "reflect" && mode != "wrap")
    return node.fail("there is no mode '" + Twine(mode) + "' of padding [graph-attribute]");
  return node.done({node.library().compute(
      "_pad", {x}, {{"low", padding->low}, {"high", padding->high}, {"mode", mode}})});
}

/// Returns the number to pad with, if it is known.
static std::optional<double> paddedNumber(NodeBuilder &node) {
  if (!node.hasInput(2))
    return 0;
  std::optional<SmallVector<double>> numbers = node.knownReals(2);
  // Larger integers are not exact.
  bool isExact = numbers && numbers->size() == 1 && !(std::abs(numbers->front()) > 9e15);
  return isExact ? std::optional(numbers->front()) : std::nullopt;
}

static Outcome buildPad(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  std::optional<dfg::Shape> pads = node.dims(1);
  if (!x || !pads)
    return Outcome::Failed;
  std::optional<SmallVector<int64_t>> axes = countUp(rankOf(x));
  if (node.hasInput(3))
    axes = node.ints(3);
  std::optional<double> number = paddedNumber(node);
  NodeValue value = number ? NodeValue() : node.in(2);
  return axes ? pad(node, *pads, *axes, number, value) : Outcome::Failed;
}

/// `argument` names the attribute.
static Outcome buildOldPad(NodeBuilder &node, const OpRule &rule) {
  NodeValue x = node.in(0);
  ArrayRef<int64_t> pads = node.ints(rule.argument);
  if (!x)
    return Outcome::Failed;
  return pad(node, dfg::Shape(pads.begin(), pads.end()), countUp(rankOf(x)),
             node.node.real("value"), NodeValue());
}

//===----------------------------------------------------------------------===//
// Triangles
//===----------------------------------------------------------------------===//

static Outcome buildTrilu(NodeBuilder &node, const OpRule &) {
  std::optional<int64_t> diagonal = node.hasInput(1) ? node.integer(1) : 0;
  if (!diagonal)
    return Outcome::Failed;
  bool isUpper = node.node.number("upper", 1) != 0;
  NodeValue x = node.in(0);
  if (x && elementOf(x).isInteger(1))
    return node.done({node.library().compute(
        "_triangle", {x}, {{"upper", isUpper}, {"diagonal", dfg::Shape{DimExpr(*diagonal)}}})});
  return node.done(
      {node.op(isUpper ? "triu" : "tril", x, node.attrs.integer("diagonal", *diagonal))});
}

static constexpr OpRule kRules[] = {
    {"Slice", "1 -> 1; starts:ints, ends:ints, axes:ints?", buildOldSlice},
    {"Slice", "3-5 -> 1", buildSlice, "", 10, Codes::Moved},
    {"Pad", "1 -> 1; paddings:ints, mode:string?, value:float?", buildOldPad, "paddings"},
    {"Pad", "1 -> 1; pads:ints, mode:string?, value:float?", buildOldPad, "pads", 2},
    {"Pad", "2-4 -> 1; mode:string?", buildPad, "", 11},
    {"Trilu", "1-2 -> 1; upper:int?", buildTrilu},
};

ArrayRef<OpRule> sliceRules() { return kRules; }

} // namespace tfc::onnx
