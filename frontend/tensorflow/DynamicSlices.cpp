// Reads and places the elements of slices by gathering them along one axis after the other.

#include "frontend/tensorflow/DynamicSlices.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

SliceMasks::SliceMasks(const Node &node)
    : begin(node.number("begin_mask")), end(node.number("end_mask")),
      ellipsis(node.number("ellipsis_mask")), newAxis(node.number("new_axis_mask")),
      shrink(node.number("shrink_axis_mask")) {}

/// Returns the type of positions computed from sizes.
static Type positionType(NodeBuilder &node) { return IntegerType::get(node.context(), 64); }

NodeValue sliceFrom(NodeBuilder &node, NodeValue x, NodeValue starts, unsigned axis, DimExpr size) {
  Type type = positionType(node);
  NodeValue start =
      node.reshape(node.slice(node.cast(starts, type), DimExpr(axis), DimExpr(1)), {});
  NodeValue places = node.op("add", {node.iota(size, type), start});
  return node.op("gather", {x, places}, node.attrs.integer("axis", axis));
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

namespace {
/// A number that is another one plus a constant, or a constant.
struct Offset {
  std::optional<Edge> base;
  int64_t number;
  bool operator==(const Offset &other) const = default;
};
} // namespace

/// Returns the number at an edge as an offset from where sums of constants begin.
static Offset offsetAt(const NodeBuilder &node, Edge edge) {
  constexpr int64_t kMost = int64_t(1) << 32;
  constexpr unsigned kMostPassed = 16;
  const EntryContext &entry = node.entry;
  int64_t number = 0;
  auto constantAt = [&](Edge at) -> std::optional<int64_t> {
    const auto &known = entry.states[at.node].sizes;
    std::optional<int64_t> constant;
    if (!entry.isFed(at) && at.output < known.size() && known[at.output])
      constant = known[at.output]->getConstant();
    return constant && *constant <= kMost && *constant >= -kMost ? constant : std::nullopt;
  };
  for (unsigned i = 0; i < kMostPassed && !entry.isFed(edge); ++i) {
    const Node &at = entry.graph.nodes[edge.node];
    std::optional<Edge> first = at.inputs.first(), second = at.inputs.at(1);
    if (std::optional<int64_t> constant = constantAt(edge))
      return {std::nullopt, number + *constant};
    if (at.op == "Identity" && first) {
      edge = *first;
      continue;
    }
    if ((at.op != "AddV2" && at.op != "Add" && at.op != "Sub") || !second)
      break;
    std::optional<int64_t> left = constantAt(*first), right = constantAt(*second);
    bool isSub = at.op == "Sub";
    std::optional<int64_t> added = right ? right : isSub ? std::nullopt : left;
    if (!added)
      break;
    edge = right ? *first : *second;
    number += isSub ? -*added : *added;
  }
  return {edge, number};
}

/// Returns the position along an axis that an input of a slice gives: an element of a Pack, to
/// which numbers for all elements may have been added.
static std::optional<Offset> positionAt(const NodeBuilder &node, unsigned input, unsigned axis) {
  const EntryContext &entry = node.entry;
  Offset packed = offsetAt(node, *node.edge(input));
  if (!packed.base || entry.isFed(*packed.base))
    return std::nullopt;
  const Node &pack = entry.graph.nodes[packed.base->node];
  if (pack.op != "Pack" || !pack.inputs.at(axis))
    return std::nullopt;
  Offset position = offsetAt(node, *pack.inputs.at(axis));
  position.number += packed.number;
  return position;
}

std::optional<int64_t> DynamicSlice::constantSpan(unsigned axis) const {
  if (SliceMasks::has(masks.begin, axis) || SliceMasks::has(masks.end, axis))
    return std::nullopt;
  std::optional<Offset> first = positionAt(node, 1, axis), last = positionAt(node, 2, axis);
  if (!first || !last || first->base != last->base || last->number < first->number)
    return std::nullopt;
  // Constants may count from the end, and be outside of the axis.
  bool isInside = first->number >= 0 && isAtMost(last->number, shape[axis]);
  return first->base || isInside ? std::optional(last->number - first->number) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Paddings
//===----------------------------------------------------------------------===//

namespace {
/// A vector of known sizes plus multiples of vectors that only calls know.
struct SizeSum {
  dfg::Shape known;
  std::map<Edge, int64_t> others;
};
} // namespace

/// Returns the elements at an edge, in order, as a sum; there must be `rank` of them. `visits` is
/// how many more operations may be looked through.
static SizeSum sumAt(const EntryContext &entry, Edge edge, size_t rank, unsigned &visits) {
  if (KnownSizes known = entry.sizesAt(edge); known && known->values.size() == rank)
    return {known->values, {}};
  const Node &at = entry.graph.nodes[edge.node];
  std::optional<Edge> first = at.inputs.first(), second = at.inputs.at(1);
  bool isSub = at.op == "Sub", isAdd = at.op == "Add" || at.op == "AddV2";
  bool isSame = at.op == "Identity" || at.op == "Reshape" || at.op == "ExpandDims";
  if (entry.isFed(edge) || visits == 0 || !first || (!isSame && !(second && (isAdd || isSub))))
    return {dfg::Shape(rank, DimExpr(0)), {{edge, 1}}};
  --visits;
  SizeSum sum = sumAt(entry, *first, rank, visits);
  if (isSame)
    return sum;
  SizeSum other = sumAt(entry, *second, rank, visits);
  for (auto [size, added] : zip_equal(sum.known, other.known))
    size = isSub ? size - added : size + added;
  for (auto [source, count] : other.others)
    sum.others[source] += isSub ? -count : count;
  return sum;
}

/// Returns the sums of the two columns of a table of paddings, if they are known.
static std::optional<dfg::Shape> sumsOfPaddings(const NodeBuilder &node, Edge paddings,
                                                size_t rank) {
  const EntryContext &entry = node.entry;
  if (entry.isFed(paddings))
    return std::nullopt;
  const Node &table = entry.graph.nodes[paddings.node];
  std::optional<Edge> low = table.inputs.first(), high = table.inputs.at(1);
  bool isPack = table.op == "Pack" && table.inputs.size() == 2;
  bool isConcat = table.op == "ConcatV2" && table.inputs.size() == 3;
  KnownSizes axis = isConcat ? entry.sizesAt(*table.inputs.at(2)) : nullptr;
  std::optional<int64_t> along = isPack ? std::optional(table.number("axis"))
                                 : axis ? axis->getConstant()
                                        : std::nullopt;
  if (!along || (*along != 1 && *along != -1))
    return std::nullopt;
  unsigned visits = 256; // sums of real graphs are short
  SizeSum first = sumAt(entry, *low, rank, visits), second = sumAt(entry, *high, rank, visits);
  for (auto [source, count] : second.others)
    first.others[source] += count;
  for (auto [sum, size] : zip_equal(first.known, second.known))
    sum = sum + size;
  bool isKnown = all_of(first.others, [](const auto &other) { return other.second == 0; });
  return isKnown ? std::optional(first.known) : std::nullopt;
}

std::optional<NodeValue> padBetween(NodeBuilder &node, NodeValue x) {
  NodeValue paddings = node.in(1);
  dfg::Shape shape = dfg::shapeOf(x.getType());
  dfg::Shape table = paddings ? dfg::shapeOf(paddings.getType()) : dfg::Shape();
  if (table != dfg::Shape{DimExpr(shape.size()), DimExpr(2)})
    return std::nullopt;
  std::optional<dfg::Shape> sums = sumsOfPaddings(node, *node.edge(1), shape.size());
  if (!sums)
    return std::nullopt;
  dfg::Shape places;
  for (const DimExpr &sum : *sums) // negative ones fail each call
    places.push_back(isAtMost(sum, DimExpr(-1)) ? DimExpr(0) : sum + 1);
  for (auto [axis, sum] : enumerate(*sums)) {
    if (!x)
      return x;
    NodeValue low = node.slice(node.cast(paddings, positionType(node)),
                               {DimExpr(int64_t(axis)), DimExpr(0)}, {DimExpr(1), DimExpr(1)});
    low = node.reshape(low, {});
    if (sum.isConstant(0)) {
      node.check(node.op("equal", {low, node.scalar(0, positionType(node))}), "padding == 0");
      continue;
    }
    low = node.op("check_indices", low,
                  {node.attrs.sizes("shape", places), node.attrs.integer("axis", axis)});
    x = node.library().compute(
        "_placed", {x, low},
        {{"axis", dfg::Shape{DimExpr(axis)}}, {"size", dfg::Shape{shape[axis] + sum}}});
  }
  return x;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

DynamicSlice::DynamicSlice(NodeBuilder &node, ArrayRef<DimExpr> shape)
    : node(node), masks(node.node), shape(shape) {
  NodeValue begin = node.in(1), end = node.in(2);
  const dfg::SizeTensor *strides = node.sizes(3);
  auto entries = begin ? dfg::shapeOf(begin.getType()) : dfg::Shape();
  std::optional<int64_t> length = entries.size() == 1 ? entries[0].constant() : std::nullopt;
  if (!length || !end || end.getType() != begin.getType() || !strides ||
      strides->values.size() != size_t(*length) || masks.ellipsis || masks.newAxis ||
      *length > int64_t(shape.size()))
    return;
  for (int64_t axis = 0; axis < *length; ++axis)
    if (!isRemoved(axis) && !strides->values[axis].isConstant(1))
      return;
  count = length;
}

bool DynamicSlice::isWhole(unsigned axis) const {
  return !isRemoved(axis) && SliceMasks::has(masks.begin, axis) && SliceMasks::has(masks.end, axis);
}

static NodeValue elementOf(NodeBuilder &node, NodeValue places, unsigned axis) {
  return node.slice(node.cast(places, positionType(node)), DimExpr(axis), DimExpr(1));
}

NodeValue DynamicSlice::beginOf(unsigned axis) {
  Type type = positionType(node);
  NodeValue place = elementOf(node, node.in(1), axis);
  NodeValue isNegative = node.op("less", {place, node.scalar(0, type)});
  return node.op("select",
                 {isNegative, node.op("add", {place, node.size(shape[axis], type)}), place});
}

/// A slice of constant size is inside the axis, or the call fails; others end where the axis does.
NodeValue DynamicSlice::cutBetween(NodeValue x, unsigned axis) {
  if (std::optional<int64_t> span = constantSpan(axis))
    return sliceFrom(node, x, node.in(1), axis, *span);
  auto placeAt = [&](NodeValue places, bool isMasked, const DimExpr &other) -> NodeValue {
    if (isMasked)
      return node.size(other, positionType(node));
    return node.reshape(elementOf(node, places, axis), {});
  };
  return node.library().compute(
      "_between",
      {x, placeAt(node.in(1), SliceMasks::has(masks.begin, axis), 0),
       placeAt(node.in(2), SliceMasks::has(masks.end, axis), shape[axis])},
      {{"axis", dfg::Shape{DimExpr(axis)}}});
}

NodeValue DynamicSlice::read(NodeValue x) {
  SmallVector<int64_t> removed;
  for (int64_t axis = 0; axis < *count && x; ++axis) {
    if (isRemoved(axis)) {
      x = node.op("gather", {x, beginOf(axis)}, node.attrs.integer("axis", axis));
      removed.push_back(axis);
    } else if (!isWhole(axis)) {
      x = cutBetween(x, axis);
    }
  }
  if (!x)
    return {};
  dfg::Shape result = dfg::shapeOf(x.getType());
  for (int64_t axis : reverse(removed))
    result.erase(result.begin() + axis);
  return node.reshape(x, result);
}

NodeValue DynamicSlice::checkPlaces(NodeValue first, unsigned axis, int64_t length) {
  auto check = [&](NodeValue place) {
    return node.op("check_indices", place,
                   {node.attrs.sizes("shape", shape), node.attrs.integer("axis", axis)});
  };
  Type type = positionType(node);
  if (length <= 1)
    return length == 1 ? check(first) : first;
  NodeValue distance = node.scalar(length - 1, type);
  NodeValue last = check(node.op("add", {first, distance}));
  return node.op("maximum", {check(first), node.op("sub", {last, distance})});
}

NodeValue DynamicSlice::place(NodeValue elements) {
  dfg::Shape sizes = elements ? dfg::shapeOf(elements.getType()) : dfg::Shape();
  for (int64_t axis = 0; axis < *count; ++axis)
    if (isRemoved(axis) && size_t(axis) <= sizes.size())
      sizes.insert(sizes.begin() + axis, DimExpr(1));
  if (elements && sizes.size() != shape.size()) {
    node.error() << "expected the elements of a slice, but got " << dfg::toText(elements.getType())
                 << " [operand]";
    return {};
  }
  NodeValue x = node.reshape(elements, sizes);
  for (int64_t axis = 0; axis < *count && x; ++axis) {
    if (isWhole(axis))
      continue;
    NodeValue begin;
    if (isRemoved(axis))
      begin = checkPlaces(beginOf(axis), axis, 1);
    else if (std::optional<int64_t> span = constantSpan(axis))
      begin = checkPlaces(elementOf(node, node.in(1), axis), axis, *span);
    else
      begin = SliceMasks::has(masks.begin, axis) ? NodeValue(node.size(0, positionType(node)))
                                                 : beginOf(axis);
    begin = node.reshape(begin, {});
    x = node.library().compute(
        "_placed", {x, begin},
        {{"axis", dfg::Shape{DimExpr(axis)}}, {"size", dfg::Shape{shape[axis]}}});
  }
  return x;
}

std::optional<dfg::Shape> DynamicSlice::getShape() const {
  dfg::Shape sizes;
  for (auto [axis, size] : enumerate(shape)) {
    if (int64_t(axis) >= *count || isWhole(axis)) {
      sizes.push_back(size);
    } else if (!isRemoved(axis)) {
      std::optional<int64_t> span = constantSpan(axis);
      if (!span)
        return std::nullopt;
      sizes.push_back(*span);
    }
  }
  return sizes;
}

} // namespace tfc::tensorflow
