// Expands masks of slices, cuts axes, and reads and places slices by gathering along one axis after
// the other.

#include "frontend/tensorflow/DynamicSlices.h"

#include "frontend/tensorflow/Values.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

SliceMasks::SliceMasks(const Node &node)
    : begin(node.number("begin_mask")), end(node.number("end_mask")),
      ellipsis(node.number("ellipsis_mask")), newAxis(node.number("new_axis_mask")),
      shrink(node.number("shrink_axis_mask")) {}

std::optional<SmallVector<SlicedAxis>> SliceMasks::expand(int64_t count, int64_t rank) const {
  constexpr int64_t kMostEntries = 32; // the masks have 32 bits
  if (count > kMostEntries)
    return std::nullopt;
  uint64_t ellipses = uint64_t(ellipsis) & ((uint64_t(1) << count) - 1);
  int64_t covered = count - llvm::popcount(ellipses);
  for (int64_t i = 0; i < count; ++i)
    covered -= has(newAxis, i) && !has(ellipsis, i);
  // With two ellipses, it is ambiguous which axes each represents.
  if (llvm::popcount(ellipses) > 1 || covered > rank)
    return std::nullopt;
  SmallVector<SlicedAxis> axes;
  unsigned input = 0;
  auto keep = [&](int64_t last) {
    while (input < last)
      axes.push_back({input++, std::nullopt});
  };
  for (unsigned i = 0; i < count; ++i) {
    if (has(ellipsis, i))
      keep(input + rank - covered);
    else if (has(newAxis, i))
      axes.push_back({std::nullopt, i});
    else
      axes.push_back({input++, i});
  }
  keep(rank);
  return axes;
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

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

SliceCut cutAxis(const DimExpr &size, const DimExpr *begin, const DimExpr *end, int64_t step) {
  bool isForward = step > 0;
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
  return {first, count, step};
}

NodeValue readCuts(NodeBuilder &node, NodeValue x, ArrayRef<SliceCut> cuts) {
  dfg::Shape starts, sizes;
  SmallVector<int64_t> steps;
  for (const SliceCut &cut : cuts) {
    starts.push_back(cut.start);
    sizes.push_back(cut.size);
    steps.push_back(cut.step);
  }
  return node.slice(x, starts, sizes, steps);
}

NodeValue placeCuts(NodeBuilder &node, NodeValue x, ArrayRef<SliceCut> cuts,
                    const dfg::Shape &shape) {
  dfg::Shape starts, sizes;
  SmallVector<int64_t> steps, reversed;
  for (const SliceCut &cut : cuts) {
    bool isBackward = cut.step < 0;
    if (isBackward)
      reversed.push_back(starts.size());
    starts.push_back(isBackward ? cut.start + (cut.size - DimExpr(1)) * DimExpr(cut.step)
                                : cut.start);
    sizes.push_back(cut.size);
    steps.push_back(isBackward ? -cut.step : cut.step);
  }
  x = node.reshape(x, sizes);
  if (!reversed.empty())
    x = node.op("reverse", x, node.attrs.integers("axis", reversed));
  return node.op("place", x,
                 {node.attrs.sizes("starts", starts), node.attrs.sizes("shape", shape),
                  node.attrs.integers("steps", steps)});
}

/// Returns the type of positions computed from sizes.
static Type positionType(NodeBuilder &node) { return IntegerType::get(node.context(), 64); }

/// Returns the edge from which an entry of a vector comes, if that is known.
static std::optional<Edge> packedAt(const NodeBuilder &node, Edge edge, unsigned entry) {
  const Node &pack = node.entry.graph.nodes[edge.node];
  return node.entry.isFed(edge) || pack.op != "Pack" ? std::nullopt : pack.inputs.at(entry);
}

/// Returns an entry of an input, a vector of positions, as a tensor of one element.
static NodeValue elementOf(NodeBuilder &node, unsigned input, unsigned entry) {
  Type type = positionType(node);
  NodeValue places = node.in(input);
  std::optional<Edge> packed = packedAt(node, *node.edge(input), entry);
  if (!places || !packed || dfg::shapeOf(places.getType()).size() != 1)
    return node.slice(node.cast(places, type), DimExpr(entry), DimExpr(1));
  // Slices whose other entries differ have equal sizes if they share this one.
  node.followInput(input);
  return node.reshape(node.cast(Values(node.entry).valueOf(*packed), type), {DimExpr(1)});
}

NodeValue sliceFrom(NodeBuilder &node, NodeValue x, unsigned input, unsigned entry, unsigned axis,
                    DimExpr size) {
  Type type = positionType(node);
  NodeValue start = node.reshape(elementOf(node, input, entry), {});
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

/// Returns the position that an entry of an input of a slice gives: an element of a Pack, to which
/// numbers for all elements may have been added.
static std::optional<Offset> positionAt(const NodeBuilder &node, unsigned input, unsigned number) {
  Offset packed = offsetAt(node, *node.edge(input));
  std::optional<Edge> element = packed.base ? packedAt(node, *packed.base, number) : std::nullopt;
  if (!element)
    return std::nullopt;
  Offset position = offsetAt(node, *element);
  position.number += packed.number;
  return position;
}

std::optional<int64_t> DynamicSlice::constantSpan(unsigned axis) const {
  unsigned entry = *entries[axis];
  if (!masks.hasBegin(entry) || !masks.hasEnd(entry))
    return std::nullopt;
  std::optional<Offset> first = positionAt(node, 1, entry), last = positionAt(node, 2, entry);
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
  auto vector = begin ? dfg::shapeOf(begin.getType()) : dfg::Shape();
  std::optional<int64_t> length = vector.size() == 1 ? vector[0].constant() : std::nullopt;
  if (!length || !end || end.getType() != begin.getType() || !strides ||
      strides->values.size() != size_t(*length))
    return;
  auto expanded = masks.expand(*length, shape.size());
  if (!expanded)
    return;
  axes = std::move(*expanded);
  for (const SlicedAxis &axis : axes)
    if (axis.input)
      entries.push_back(axis.entry);
  for (unsigned axis = 0; axis < shape.size(); ++axis) {
    cuts.push_back(cutOf(axis));
    if (isOpen(axis) && !strides->values[*entries[axis]].isConstant(1))
      return;
  }
  isValid = true;
}

bool DynamicSlice::isRemoved(unsigned axis) const {
  return entries[axis] && SliceMasks::has(masks.shrink, *entries[axis]);
}

/// Returns an entry of an input of a slice if it is known, from elsewhere than the call.
static std::optional<DimExpr> knownPlace(const NodeBuilder &node, unsigned input, unsigned number) {
  const EntryContext &entry = node.entry;
  Edge edge = *node.edge(input);
  if (KnownSizes all = entry.sizesAt(edge))
    return number < all->values.size() ? std::optional(all->values[number]) : std::nullopt;
  std::optional<Edge> packed = packedAt(node, edge, number);
  KnownSizes known = packed ? entry.sizesAt(*packed) : nullptr;
  return known && known->isSingle() ? std::optional(known->values.front()) : std::nullopt;
}

std::optional<SliceCut> DynamicSlice::cutOf(unsigned axis) {
  if (!entries[axis])
    return SliceCut{0, shape[axis], 1};
  unsigned entry = *entries[axis];
  std::optional<int64_t> step = node.sizes(3)->values[entry].constant();
  std::optional<DimExpr> begin, end;
  if (masks.hasBegin(entry))
    begin = knownPlace(node, 1, entry);
  if (masks.hasEnd(entry))
    end = knownPlace(node, 2, entry);
  bool isKnown =
      begin.has_value() == masks.hasBegin(entry) && end.has_value() == masks.hasEnd(entry);
  if (isRemoved(axis) || !isKnown || !step || *step == 0 || *step == INT64_MIN)
    return std::nullopt;
  return cutAxis(shape[axis], begin ? &*begin : nullptr, end ? &*end : nullptr, *step);
}

SmallVector<SliceCut> DynamicSlice::cutsWithin(ArrayRef<DimExpr> sizes) const {
  SmallVector<SliceCut> result;
  for (auto [size, cut] : zip_equal(sizes, cuts))
    result.push_back(cut.value_or(SliceCut{0, size, 1}));
  return result;
}

NodeValue DynamicSlice::beginOf(unsigned axis) {
  Type type = positionType(node);
  NodeValue place = elementOf(node, 1, *entries[axis]);
  NodeValue isNegative = node.op("less", {place, node.scalar(0, type)});
  return node.op("select",
                 {isNegative, node.op("add", {place, node.size(shape[axis], type)}), place});
}

/// A slice of constant size is inside the axis, or the call fails; others end where the axis does.
NodeValue DynamicSlice::cutBetween(NodeValue x, unsigned axis) {
  unsigned entry = *entries[axis];
  if (std::optional<int64_t> span = constantSpan(axis))
    return sliceFrom(node, x, 1, entry, axis, *span);
  auto placeAt = [&](unsigned input, bool isGiven, const DimExpr &other) -> NodeValue {
    if (!isGiven)
      return node.size(other, positionType(node));
    return node.reshape(elementOf(node, input, entry), {});
  };
  return node.library().compute(
      "_between",
      {x, placeAt(1, masks.hasBegin(entry), 0), placeAt(2, masks.hasEnd(entry), shape[axis])},
      {{"axis", dfg::Shape{DimExpr(axis)}}});
}

NodeValue DynamicSlice::read(NodeValue x) {
  for (unsigned axis = 0; axis < shape.size() && x; ++axis) {
    if (isRemoved(axis))
      x = node.op("gather", {x, beginOf(axis)}, node.attrs.integer("axis", axis));
    else if (isOpen(axis))
      x = cutBetween(x, axis);
  }
  if (x)
    x = readCuts(node, x, cutsWithin(dfg::shapeOf(x.getType())));
  if (!x)
    return {};
  dfg::Shape sizes = dfg::shapeOf(x.getType()), result;
  for (const SlicedAxis &axis : axes)
    if (!axis.input || !isRemoved(*axis.input))
      result.push_back(axis.input ? sizes[*axis.input] : DimExpr(1));
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
  dfg::Shape given = elements ? dfg::shapeOf(elements.getType()) : dfg::Shape(), sizes;
  size_t next = 0;
  for (const SlicedAxis &axis : axes) {
    if (axis.input && isRemoved(*axis.input)) {
      sizes.push_back(1);
      continue;
    }
    if (axis.input && next < given.size())
      sizes.push_back(given[next]);
    ++next;
  }
  if (elements && next != given.size()) {
    node.error() << "expected the elements of a slice, but got " << dfg::toText(elements.getType())
                 << " [operand]";
    return {};
  }
  NodeValue x = node.reshape(elements, sizes);
  for (auto [size, whole, cut] : zip_equal(sizes, shape, cuts))
    if (cut)
      size = whole;
  if (x)
    x = placeCuts(node, x, cutsWithin(dfg::shapeOf(x.getType())), sizes);
  for (unsigned axis = 0; axis < shape.size() && x; ++axis) {
    if (cuts[axis])
      continue;
    NodeValue begin;
    if (isRemoved(axis))
      begin = checkPlaces(beginOf(axis), axis, 1);
    else if (std::optional<int64_t> span = constantSpan(axis))
      begin = checkPlaces(elementOf(node, 1, *entries[axis]), axis, *span);
    else
      begin = masks.hasBegin(*entries[axis]) ? beginOf(axis)
                                             : NodeValue(node.size(0, positionType(node)));
    begin = node.reshape(begin, {});
    x = node.library().compute(
        "_placed", {x, begin},
        {{"axis", dfg::Shape{DimExpr(axis)}}, {"size", dfg::Shape{shape[axis]}}});
  }
  return x;
}

std::optional<dfg::Shape> DynamicSlice::getShape() const {
  dfg::Shape sizes;
  for (const SlicedAxis &axis : axes) {
    if (!axis.input) {
      sizes.push_back(1);
    } else if (cuts[*axis.input]) {
      sizes.push_back(cuts[*axis.input]->size);
    } else if (!isRemoved(*axis.input)) {
      std::optional<int64_t> span = constantSpan(*axis.input);
      if (!span)
        return std::nullopt;
      sizes.push_back(*span);
    }
  }
  return sizes;
}

} // namespace tfc::tensorflow
