// Implements the rules of slices, padding and reversal, including the masks of strided slices.

#include "frontend/tensorflow/DynamicSlices.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

static Outcome buildSlice(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  std::optional<dfg::Shape> sizes = node.dims(2);
  if (!x || !sizes)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(x.getType());
  if (sizes->size() != shape.size())
    return node.fail("expected one size for each axis of {}, but got {} [graph-edge]",
                     dfg::toText(x.getType()), sizes->size());
  const dfg::SizeTensor *starts = node.sizes(1);
  if (starts && starts->values.size() != shape.size())
    return node.fail("expected one start for each axis of {}, but got {} [graph-edge]",
                     dfg::toText(x.getType()), starts->values.size());
  for (auto [axis, size] : enumerate(*sizes)) {
    if (!size.isConstant(-1))
      continue;
    if (!starts)
      return node.fail("expected the start of a slice without a size to be known when the graph "
                       "is compiled [dynamic-shape]");
    size = shape[axis] - starts->values[axis];
  }
  if (starts)
    return node.done({node.slice(x, starts->values, *sizes)});
  NodeValue starting = node.in(1);
  for (auto [axis, size] : enumerate(*sizes))
    if (x && size != shape[axis])
      x = sliceFrom(node, x, starting, axis, size);
  return node.done({x});
}

//===----------------------------------------------------------------------===//
// Strided slices
//===----------------------------------------------------------------------===//

namespace {
/// The axes of a strided slice after its masks have been resolved.
struct StridedSlice {
  struct Axis {
    int64_t input; // -1 for a new axis
    dfg::DimExpr start, size;
    int64_t step;
    bool isRemoved;
  };
  SmallVector<Axis> axes;
};

} // namespace

/// Returns a position counted from the front, clamped to [low, high].
static DimExpr clampPlace(const DimExpr &place, const DimExpr &size, int64_t low,
                          const DimExpr &high) {
  if (importer::isLowest(place))
    return DimExpr(low);
  DimExpr result = place;
  if (std::optional<int64_t> number = place.constant(); number && *number < 0)
    result = place + size;
  std::optional<int64_t> number = result.constant(), top = high.constant();
  if (number && top)
    return DimExpr(std::min(std::max(*number, low), *top));
  if (number && *number < low)
    return DimExpr(low);
  return result;
}

/// Cuts one axis of the input from `begin` to `end`.
static std::optional<StridedSlice::Axis> cutAxis(int64_t input, const DimExpr &size,
                                                 std::optional<DimExpr> begin,
                                                 std::optional<DimExpr> end, int64_t step,
                                                 bool isRemoved) {
  bool isForward = step > 0;
  if (isRemoved) {
    std::optional<int64_t> number = begin->constant();
    return StridedSlice::Axis{input, number && *number < 0 ? *begin + size : *begin, DimExpr(1), 1,
                              true};
  }
  DimExpr first = isForward ? DimExpr(0) : size - DimExpr(1);
  DimExpr last = isForward ? size : DimExpr(-1);
  if (begin)
    first = clampPlace(*begin, size, isForward ? 0 : -1, isForward ? size : size - DimExpr(1));
  if (end)
    last = clampPlace(*end, size, isForward ? 0 : -1, isForward ? size : size - DimExpr(1));
  DimExpr span = isForward ? last - first : first - last;
  int64_t stride = isForward ? step : -step;
  DimExpr count = DimExpr::floorDiv(span + DimExpr(stride - 1), DimExpr(stride));
  if (std::optional<int64_t> number = count.constant(); number && *number < 0)
    count = 0;
  return StridedSlice::Axis{input, first, count, step, false};
}

/// Resolves begin, end, strides (operands 1 to 3) and the masks for an input of this shape. Returns
/// std::nullopt if they are unknown or inconsistent.
static std::optional<StridedSlice> resolveStridedSlice(NodeBuilder &node, ArrayRef<DimExpr> shape) {
  const dfg::SizeTensor *begin = node.sizes(1), *end = node.sizes(2), *strides = node.sizes(3);
  if (!begin || !end || !strides || begin->values.size() != end->values.size() ||
      begin->values.size() != strides->values.size() || begin->values.size() > 32)
    return std::nullopt;
  SliceMasks masks(node.node);
  int64_t entries = begin->values.size(), newAxes = 0;
  for (int64_t i = 0; i < entries; ++i)
    newAxes += SliceMasks::has(masks.newAxis, i) && !SliceMasks::has(masks.ellipsis, i);
  bool hasEllipsis = masks.ellipsis & ((int64_t(1) << entries) - 1);
  // With two ellipses, it is ambiguous which axes each represents.
  if (llvm::popcount(uint64_t(masks.ellipsis) & ((uint64_t(1) << entries) - 1)) > 1)
    return std::nullopt;
  int64_t covered = entries - newAxes - hasEllipsis, rank = shape.size();
  if (covered > rank)
    return std::nullopt;
  StridedSlice result;
  int64_t input = 0;
  auto keep = [&](int64_t count) {
    for (; count > 0; --count, ++input)
      result.axes.push_back({input, DimExpr(0), shape[input], 1, false});
  };
  for (int64_t i = 0; i < entries; ++i) {
    if (SliceMasks::has(masks.ellipsis, i)) {
      keep(rank - covered);
      continue;
    }
    if (SliceMasks::has(masks.newAxis, i)) {
      result.axes.push_back({-1, DimExpr(0), DimExpr(1), 1, false});
      continue;
    }
    std::optional<int64_t> step = strides->values[i].constant();
    if (!step || *step == 0 || *step == INT64_MIN || input >= rank)
      return std::nullopt;
    bool isRemoved = SliceMasks::has(masks.shrink, i);
    auto axis =
        cutAxis(input, shape[input],
                SliceMasks::has(masks.begin, i) && !isRemoved ? std::nullopt
                                                              : std::optional(begin->values[i]),
                SliceMasks::has(masks.end, i) ? std::nullopt : std::optional(end->values[i]), *step,
                isRemoved);
    if (!axis)
      return std::nullopt;
    result.axes.push_back(*axis);
    ++input;
  }
  keep(rank - input);
  return result;
}

static Outcome failSlice(NodeBuilder &node) {
  return node.fail("expected the bounds of a slice to be known when the graph is compiled "
                   "[dynamic-shape]");
}

/// Returns true if only calls know where a slice begins or ends.
static bool isDynamic(NodeBuilder &node) { return !node.sizes(1) || !node.sizes(2); }

static Outcome buildStridedSlice(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  if (!x)
    return Outcome::Failed;
  auto slice = resolveStridedSlice(node, dfg::shapeOf(x.getType()));
  if (!slice && isDynamic(node))
    if (DynamicSlice dynamic(node, dfg::shapeOf(x.getType())); dynamic.isSupported())
      return node.done({dynamic.read(x)});
  if (!slice)
    return failSlice(node);
  dfg::Shape starts, sizes, result;
  SmallVector<int64_t> steps;
  for (const StridedSlice::Axis &axis : slice->axes) {
    if (axis.input >= 0) {
      starts.push_back(axis.start);
      sizes.push_back(axis.size);
      steps.push_back(axis.step);
    }
    if (!axis.isRemoved)
      result.push_back(axis.size);
  }
  return node.done({node.reshape(node.slice(x, starts, sizes, steps), result)});
}

/// Returns the elements of a slice where they are in a tensor of this shape, which is 0 elsewhere.
static NodeValue placeSlice(NodeBuilder &node, const StridedSlice &slice, NodeValue x,
                            const dfg::Shape &shape) {
  dfg::Shape starts, sizes;
  SmallVector<int64_t> steps, reversed;
  for (const StridedSlice::Axis &axis : slice.axes) {
    if (axis.input < 0)
      continue;
    bool isBackward = axis.step < 0;
    if (isBackward)
      reversed.push_back(starts.size());
    starts.push_back(isBackward ? axis.start + (axis.size - DimExpr(1)) * DimExpr(axis.step)
                                : axis.start);
    sizes.push_back(axis.size);
    steps.push_back(isBackward ? -axis.step : axis.step);
  }
  x = node.reshape(x, sizes);
  if (!reversed.empty())
    x = node.op("reverse", x, node.attrs.integers("axis", reversed));
  return node.op("place", x,
                 {node.attrs.sizes("starts", starts), node.attrs.sizes("shape", shape),
                  node.attrs.integers("steps", steps)});
}

/// The gradient is placed at the positions that the slice has read.
static Outcome buildStridedSliceGrad(NodeBuilder &node, const OpRule &) {
  std::optional<dfg::Shape> shape = node.dims(0);
  NodeValue g = node.in(4);
  if (!shape || !g)
    return Outcome::Failed;
  auto slice = resolveStridedSlice(node, *shape);
  if (!slice && isDynamic(node))
    if (DynamicSlice dynamic(node, *shape); dynamic.isSupported())
      return node.done({dynamic.place(g)});
  return slice ? node.done({placeSlice(node, *slice, g, *shape)}) : failSlice(node);
}

/// Returns `x` with input 4 in a slice of it.
static NodeValue updateSlice(NodeBuilder &node, NodeValue x) {
  NodeValue value = node.in(4);
  if (!x || !value)
    return {};
  dfg::Shape shape = dfg::shapeOf(x.getType());
  std::optional<dfg::Shape> kept;
  std::optional<DynamicSlice> dynamic;
  auto slice = resolveStridedSlice(node, shape);
  if (slice) {
    kept.emplace();
    for (const StridedSlice::Axis &axis : slice->axes)
      if (!axis.isRemoved)
        kept->push_back(axis.size);
  } else if (isDynamic(node)) {
    dynamic.emplace(node, shape);
    kept = dynamic->isSupported() ? dynamic->getShape() : std::nullopt;
  }
  if (!kept) {
    failSlice(node);
    return {};
  }
  auto place = [&](NodeValue y) {
    return slice ? placeSlice(node, *slice, y, shape) : dynamic->place(y);
  };
  Type i32 = IntegerType::get(node.context(), 32);
  NodeValue isInside =
      node.op("not_equal", {place(node.filled(1, *kept, i32)), node.scalar(0, i32)});
  return node.op("select", {isInside, place(node.broadcast(value, *kept)), x});
}

static Outcome buildSliceUpdate(NodeBuilder &node, const OpRule &) {
  return node.done({updateSlice(node, node.in(0))});
}

static Outcome buildSliceAssign(NodeBuilder &node, const OpRule &rule) {
  const Node *variable = node.variable(0);
  NodeValue changed = variable ? updateSlice(node, node.readVariable(*variable)) : NodeValue();
  return changed ? node.doneWithUpdate(rule, node.assign(*variable, changed)) : Outcome::Failed;
}

//===----------------------------------------------------------------------===//
// Padding and reversal
//===----------------------------------------------------------------------===//

/// Splits a table of paddings into its two columns.
static bool splitPaddings(NodeBuilder &node, dfg::Shape &low, dfg::Shape &high) {
  std::optional<dfg::Shape> pairs = node.dims(1);
  if (!pairs)
    return false;
  for (size_t i = 0; i + 1 < pairs->size(); i += 2) {
    low.push_back((*pairs)[i]);
    high.push_back((*pairs)[i + 1]);
  }
  return true;
}

/// Returns a padded tensor of sizes.
static std::optional<dfg::SizeTensor> paddedSizes(NodeBuilder &node, const dfg::Shape &low,
                                                  const dfg::Shape &high) {
  const dfg::SizeTensor *sizes = node.sizes(0);
  const dfg::SizeTensor *given = node.numInputs() > 2 ? node.sizes(2) : nullptr;
  if (!sizes || low.size() != sizes->shape.size() ||
      (node.numInputs() > 2 && (!given || !given->isSingle())))
    return std::nullopt;
  dfg::SizeTensor padded = *sizes;
  DimExpr value = given ? given->values.front() : DimExpr(0);
  for (size_t axis = 0; axis < low.size(); ++axis) {
    constexpr int64_t kMost = dfg::SizeTensor::kMaxElements;
    std::optional<int64_t> before = low[axis].constant(), after = high[axis].constant();
    if (!before || !after || *before < 0 || *after < 0 || *before > kMost || *after > kMost)
      return std::nullopt;
    ArrayRef<int64_t> shape = padded.shape;
    auto rows = dfg::countSizes(shape.take_front(axis));
    auto inner = dfg::countSizes(shape.drop_front(axis + 1)),
         width = dfg::countSizes(shape.drop_front(axis));
    padded.shape[axis] += *before + *after;
    if (!rows || !inner || !width || !dfg::countSizes(padded.shape))
      return std::nullopt;
    dfg::Shape values;
    for (int64_t row = 0; row < *rows; ++row) {
      values.append(*inner * *before, value);
      llvm::append_range(values, ArrayRef(padded.values).slice(row * *width, *width));
      values.append(*inner * *after, value);
    }
    padded.values = std::move(values);
  }
  return dfg::makeSizes(padded.elementType, padded.shape, std::move(padded.values));
}

static Outcome buildPad(NodeBuilder &node, const OpRule &) {
  dfg::Shape low, high;
  NodeValue x = node.in(0);
  if (std::optional<NodeValue> placed =
          x && !node.sizes(1) && node.node.op == "Pad" ? padBetween(node, x) : std::nullopt)
    return node.done({*placed});
  if (!x || !splitPaddings(node, low, high))
    return Outcome::Failed;
  if (std::optional<dfg::SizeTensor> sizes = paddedSizes(node, low, high))
    return node.done({NodeValue(std::move(*sizes))});
  NodeValue padded =
      node.op("pad", x, {node.attrs.sizes("low", low), node.attrs.sizes("high", high)});
  if (node.numInputs() < 3 || !padded)
    return node.done({padded});
  // Padding a tensor of ones in the same way shows where the padding value is used.
  NodeValue value = node.in(2);
  Type flag = IntegerType::get(node.context(), 1);
  NodeValue inside = node.filled(1, dfg::shapeOf(x.getType()), flag);
  inside = node.op("pad", inside, {node.attrs.sizes("low", low), node.attrs.sizes("high", high)});
  return node.done({node.op("select", {inside, padded, value})});
}

/// Returns `count` slices next to an edge in reverse order.
static NodeValue mirrored(NodeBuilder &node, NodeValue x, unsigned axis, bool isLow, DimExpr count,
                          bool isSymmetric) {
  dfg::Shape sizes = dfg::shapeOf(x.getType()), starts(sizes.size(), DimExpr(0));
  DimExpr skipped = isSymmetric ? 0 : 1;
  starts[axis] = isLow ? skipped : sizes[axis] - count - skipped;
  sizes[axis] = count;
  return node.op("reverse", node.slice(x, starts, sizes), node.attrs.integers("axis", axis));
}

static Outcome buildMirrorPad(NodeBuilder &node, const OpRule &) {
  dfg::Shape low, high;
  NodeValue x = node.in(0);
  if (!x || !splitPaddings(node, low, high))
    return Outcome::Failed;
  bool isSymmetric = node.node.attr("mode").text == "SYMMETRIC";
  if (low.size() != dfg::shapeOf(x.getType()).size())
    return node.fail("expected two paddings for each axis of {} [graph-edge]",
                     dfg::toText(x.getType()));
  for (unsigned axis = 0; axis < low.size() && x; ++axis) {
    SmallVector<NodeValue> parts;
    if (!low[axis].isConstant(0))
      parts.push_back(mirrored(node, x, axis, true, low[axis], isSymmetric));
    parts.push_back(x);
    if (!high[axis].isConstant(0))
      parts.push_back(mirrored(node, x, axis, false, high[axis], isSymmetric));
    if (parts.size() > 1)
      x = node.op("concat", parts, node.attrs.integer("axis", axis));
  }
  return node.done({x});
}

static Outcome buildReverse(NodeBuilder &node, const OpRule &) {
  std::optional<SmallVector<int64_t>> axes = node.ints(1);
  return axes ? node.done({node.op("reverse", node.in(0), node.attrs.integers("axis", *axes))})
              : Outcome::Failed;
}

static Outcome buildRoll(NodeBuilder &node, const OpRule &) {
  std::optional<SmallVector<int64_t>> shifts = node.ints(1), axes = node.ints(2);
  NodeValue x = node.in(0);
  if (!shifts || !axes || !x)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(x.getType());
  if (shifts->size() != axes->size())
    return node.fail("expected one shift for each axis [graph-edge]");
  for (auto [shift, axis] : zip(*shifts, *axes)) {
    std::optional<int64_t> place = dfg::normalizeAxis(axis, shape.size());
    std::optional<int64_t> size = place ? shape[*place].constant() : std::nullopt;
    if (!size)
      return node.fail("expected the size of axis {} to be known [dynamic-shape]", axis);
    int64_t cut = *size ? ((shift % *size) + *size) % *size : 0;
    if (cut == 0)
      continue;
    dfg::Shape starts(shape.size(), DimExpr(0)), sizes = shape;
    starts[*place] = *size - cut;
    sizes[*place] = cut;
    NodeValue front = node.slice(x, starts, sizes);
    starts[*place] = 0;
    sizes[*place] = *size - cut;
    x = node.op("concat", {front, node.slice(x, starts, sizes)},
                node.attrs.integer("axis", *place));
  }
  return node.done({x});
}

static constexpr OpRule kRules[] = {
    {"Slice", "3 -> 1", buildSlice, "", OpRule::Planes},
    {"StridedSlice",
     "4 -> 1; begin_mask:int?, end_mask:int?, ellipsis_mask:int?, new_axis_mask:int?, "
     "shrink_axis_mask:int?",
     buildStridedSlice, "", OpRule::Planes},
    {"StridedSliceGrad",
     "5 -> 1; begin_mask:int?, end_mask:int?, ellipsis_mask:int?, new_axis_mask:int?, "
     "shrink_axis_mask:int?",
     buildStridedSliceGrad, "", OpRule::Planes},
    {"TensorStridedSliceUpdate",
     "5 -> 1; begin_mask:int?, end_mask:int?, ellipsis_mask:int?, new_axis_mask:int?, "
     "shrink_axis_mask:int?",
     buildSliceUpdate, "", OpRule::Planes},
    {"StridedSliceAssign",
     "5 -> 1; begin_mask:int?, end_mask:int?, ellipsis_mask:int?, new_axis_mask:int?, "
     "shrink_axis_mask:int?",
     buildSliceAssign, "", OpRule::Effect},
    {"ResourceStridedSliceAssign",
     "5 -> 0; begin_mask:int?, end_mask:int?, ellipsis_mask:int?, new_axis_mask:int?, "
     "shrink_axis_mask:int?",
     buildSliceAssign, "", OpRule::Effect},
    {"Pad", "2 -> 1", buildPad, "", OpRule::Planes},
    {"PadV2", "3 -> 1", buildPad, "", OpRule::Planes},
    {"MirrorPad", "2 -> 1; mode:string", buildMirrorPad, "", OpRule::Planes},
    {"ReverseV2", "2 -> 1", buildReverse, "", OpRule::Planes},
    {"Roll", "3 -> 1", buildRoll, "", OpRule::Planes},
};

ArrayRef<OpRule> sliceRules() { return kRules; }

} // namespace tfc::tensorflow
