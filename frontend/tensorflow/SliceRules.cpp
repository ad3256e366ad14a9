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
  for (auto [axis, size] : enumerate(*sizes))
    if (x && size != shape[axis])
      x = sliceFrom(node, x, 1, axis, axis, size);
  return node.done({x});
}

//===----------------------------------------------------------------------===//
// Strided slices
//===----------------------------------------------------------------------===//

namespace {
/// A strided slice after its masks have been resolved.
struct StridedSlice {
  SmallVector<SliceCut> cuts; // one for each axis of the input
  dfg::Shape shape;           // of the result
};
} // namespace

/// Resolves begin, end, strides (operands 1 to 3) and the masks for an input of this shape. Returns
/// std::nullopt if they are unknown or inconsistent.
static std::optional<StridedSlice> resolveStridedSlice(NodeBuilder &node, ArrayRef<DimExpr> shape) {
  const dfg::SizeTensor *begin = node.sizes(1), *end = node.sizes(2), *strides = node.sizes(3);
  if (!begin || !end || !strides || begin->values.size() != end->values.size() ||
      begin->values.size() != strides->values.size())
    return std::nullopt;
  SliceMasks masks(node.node);
  auto axes = masks.expand(begin->values.size(), shape.size());
  if (!axes)
    return std::nullopt;
  StridedSlice result;
  for (const SlicedAxis &axis : *axes) {
    if (!axis.input) {
      result.shape.push_back(1);
      continue;
    }
    const DimExpr &size = shape[*axis.input];
    bool isRemoved = axis.entry && SliceMasks::has(masks.shrink, *axis.entry);
    if (!axis.entry) {
      result.cuts.push_back({0, size, 1});
    } else {
      unsigned i = *axis.entry;
      std::optional<int64_t> step = strides->values[i].constant();
      if (!step || *step == 0 || *step == INT64_MIN)
        return std::nullopt;
      std::optional<int64_t> number = begin->values[i].constant();
      if (isRemoved)
        result.cuts.push_back(
            {number && *number < 0 ? begin->values[i] + size : begin->values[i], 1, 1});
      else
        result.cuts.push_back(cutAxis(size, masks.hasBegin(i) ? &begin->values[i] : nullptr,
                                      masks.hasEnd(i) ? &end->values[i] : nullptr, *step));
    }
    if (!isRemoved)
      result.shape.push_back(result.cuts.back().size);
  }
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
  return node.done({node.reshape(readCuts(node, x, slice->cuts), slice->shape)});
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
  return slice ? node.done({placeCuts(node, g, slice->cuts, *shape)}) : failSlice(node);
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
    kept = slice->shape;
  } else if (isDynamic(node)) {
    dynamic.emplace(node, shape);
    kept = dynamic->isSupported() ? dynamic->getShape() : std::nullopt;
  }
  if (!kept) {
    failSlice(node);
    return {};
  }
  auto place = [&](NodeValue y) {
    return slice ? placeCuts(node, y, slice->cuts, shape) : dynamic->place(y);
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
