// Implements the rules of reductions over segments whose numbers ascend. How many segments there
// are follows from the last number, which calls find unless the graph has it. Apart from the other
// rules, because the number of segments is limited by the nodes that make the numbers.

#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

namespace {
/// Limits of numbers of segments, which the nodes that make them imply: they are below `end`.
struct NumberRange {
  DimExpr end;
  bool isReached; // the largest is `end` - 1
  bool ascends;
};

/// Follows numbers to the node that makes them, possibly as a column of coordinates.
class NumberSource {
public:
  NumberSource(EntryContext &entry, Edge edge) : entry(entry), edge(edge) {}

  std::optional<NumberRange> find();

private:
  /// Goes on to the input that has all numbers of `edge`; returns false if there is none.
  bool step();
  bool takeColumn(NodeBuilder &node);
  bool gather(NodeBuilder &node);
  /// Returns the range that the operation of the node implies.
  std::optional<NumberRange> range();
  /// Returns a size of an output of the node.
  std::optional<DimExpr> sizeAt(unsigned output, unsigned axis) const;

  EntryContext &entry;
  Edge edge;
  std::optional<int64_t> column;
  bool isWhole = true; // all numbers are used, in the same order
  bool isSorted = true;
};
} // namespace

std::optional<DimExpr> NumberSource::sizeAt(unsigned output, unsigned axis) const {
  const auto &values = entry.states[edge.node].values;
  auto type = output < values.size() && values[output]
                  ? dyn_cast<RankedTensorType>(values[output].getType())
                  : RankedTensorType();
  if (!type || axis >= type.getRank())
    return std::nullopt;
  return dfg::shapeOf(type)[axis];
}

std::optional<NumberRange> NumberSource::range() {
  NodeBuilder node(entry, edge.node);
  StringRef op = node.node.op;
  int64_t axis = column.value_or(0);
  if (op == "Where") {
    RankedTensorType type = node.typeOf(0);
    if (type && axis < type.getRank() && (column || type.getRank() == 1))
      return NumberRange{dfg::shapeOf(type)[axis], false, axis == 0};
  } else if (op.starts_with("Unique") && edge.output == 1 && !column) {
    if (auto count = sizeAt(/*output=*/0, /*axis=*/0))
      return NumberRange{*count, true, false};
  } else if (op == "SparseFillEmptyRows" && edge.output == 0 && column == 0) {
    if (auto rows = sizeAt(/*output=*/2, /*axis=*/0))
      return NumberRange{*rows, true, true};
  } else if (op == "RaggedTensorToSparse" && edge.output == 0 && column == 0) {
    RankedTensorType splits = node.typeOf(0);
    if (splits && splits.getRank() == 1)
      return NumberRange{dfg::shapeOf(splits).front() - DimExpr(1), false, true};
  } else if (op == "SparseReshape" && edge.output == 0 && column) {
    const auto &known = entry.states[edge.node].sizes;
    if (known.size() == 2 && known[1] && axis < int64_t(known[1]->values.size()))
      return NumberRange{known[1]->values[axis], false, false};
  }
  return std::nullopt;
}

/// Follows `x[:, k]` of a matrix.
bool NumberSource::takeColumn(NodeBuilder &node) {
  RankedTensorType type = column ? RankedTensorType() : node.typeOf(0);
  KnownSizes begin = node.knownSizes(1), strides = node.knownSizes(3);
  auto mask = [&](StringRef name) { return node.node.number(name, 0); };
  if (!type || type.getRank() != 2 || !begin || !strides || begin->values.size() != 2 ||
      strides->values.size() != 2 || mask("shrink_axis_mask") != 2 || mask("ellipsis_mask") ||
      mask("new_axis_mask") || !(mask("begin_mask") & 1) || !(mask("end_mask") & 1) ||
      !strides->values[0].isConstant(1))
    return false;
  column = begin->values[1].constant();
  return column && *column >= 0;
}

/// Follows slices of a tensor, which may be any of its slices along the first axis.
bool NumberSource::gather(NodeBuilder &node) {
  KnownSizes axis = node.numInputs() > 2 ? node.knownSizes(2) : nullptr;
  isWhole = false;
  return !column || node.node.op == "Gather" ||
         (axis && axis->isSingle() && axis->values.front().isConstant(0));
}

/// Casts to bools or small integers change numbers.
static bool keepsNumbers(NodeBuilder &cast) {
  Type type = elementTypeOf(cast.context(), cast.node.number("DstT"));
  return type && type.isSignlessInteger() && type.getIntOrFloatBitWidth() >= 32;
}

bool NumberSource::step() {
  NodeBuilder node(entry, edge.node);
  StringRef op = node.node.op;
  // The order is that of a shape, which may be too small.
  if (op == "SparseReorder")
    isSorted = false;
  bool goesOn = hasFlag(op, OpRule::Switches | OpRule::Enters) || op == "Identity" ||
                op == "StopGradient" || (op == "Cast" && keepsNumbers(node)) ||
                (op == "SparseReorder" && edge.output == 0) ||
                (!column && (op == "Reshape" || op == "Squeeze" || op == "ExpandDims")) ||
                (op == "StridedSlice" && takeColumn(node)) ||
                ((op == "GatherV2" || op == "Gather") && gather(node));
  std::optional<Edge> input = node.edge(0);
  if (!goesOn || !input)
    return false;
  edge = *input;
  return true;
}

std::optional<NumberRange> NumberSource::find() {
  while (!entry.isFed(edge)) {
    if (std::optional<NumberRange> found = range()) {
      found->isReached &= isWhole;
      found->ascends &= isWhole && isSorted;
      return found;
    }
    if (!step())
      return std::nullopt;
  }
  return std::nullopt;
}

static std::optional<int64_t> boundOf(const EntryContext &entry, unsigned node) {
  auto bound = entry.bounds.find(entry.graph.nodes[node].name);
  return bound == entry.bounds.end() ? std::nullopt : std::optional(bound->second);
}

/// Returns false after an error about numbers that the bounds of two nodes limit differently.
static bool agrees(NodeBuilder &node, const Segments &known) {
  std::optional<int64_t> bound = boundOf(node.entry, node.index);
  if (!bound || !known.boundBy || bound == boundOf(node.entry, *known.boundBy))
    return true;
  node.error() << "expected the bound of " << node.entry.graph.nodes[*known.boundBy].name
               << ", which has the same segments, but got " << *bound << " [graph-entry]";
  return false;
}

/// Returns segments with these numbers, which have to ascend.
static std::optional<Segments> knownSegments(NodeBuilder &node, const NodeValue &ids,
                                             ArrayRef<DimExpr> numbers) {
  DimExpr last = 0;
  for (const DimExpr &number : numbers) {
    if ((number - last).constant().value_or(0) < 0) {
      node.error() << "expected numbers of segments that ascend from 0, but got " << number.str()
                   << " after " << last.str() << " [operand]";
      return std::nullopt;
    }
    last = number;
  }
  return Segments{ids, numbers.empty() ? DimExpr(0) : last + 1};
}

/// Returns how many segments there are for numbers that calls compute. Emits an error if that has
/// no bound.
static std::optional<DimExpr> findCount(NodeBuilder &node, const NodeValue &ids,
                                        const std::optional<NumberRange> &range) {
  if (range && range->isReached)
    return range->end;
  std::optional<int64_t> bound = boundOf(node.entry, node.index);
  if (!bound && !range) {
    node.askForBound("number of segments");
    return std::nullopt;
  }
  DimExpr most = bound ? DimExpr(*bound) : range->end;
  NodeValue sized = node.library().compute("_segments", {ids}, {{"most", dfg::Shape{most}}});
  return sized ? std::optional(dfg::shapeOf(sized.getType()).front()) : std::nullopt;
}

/// Returns the numbers in the last input, checked by calls unless they are known, and how many
/// segments there are. Nodes that read the same numbers share these, so that their results have the
/// same sizes.
static std::optional<Segments> segmentsOf(NodeBuilder &node) {
  unsigned last = node.numInputs() - 1;
  const dfg::SizeTensor *known = node.sizes(last);
  NodeValue ids = node.in(last);
  if (!ids)
    return std::nullopt;
  if (dfg::shapeOf(ids.getType()).size() != 1) {
    node.error() << "expected a vector of numbers of segments, but got "
                 << dfg::toText(ids.getType()) << " [operand]";
    return std::nullopt;
  }
  if (known)
    return knownSegments(node, ids, known->values);
  Value key = ids.getValue();
  if (auto found = node.entry.segments.find(key); found != node.entry.segments.end())
    return agrees(node, found->second) ? std::optional(found->second) : std::nullopt;
  std::optional<NumberRange> range = NumberSource(node.entry, *node.edge(last)).find();
  std::optional<DimExpr> count = findCount(node, ids, range);
  if (count && !(range && range->ascends))
    ids = node.library().compute("_ascending", {ids});
  if (!count || !ids)
    return std::nullopt;
  Segments segments{ids, *count};
  if (!(range && range->isReached) && boundOf(node.entry, node.index))
    segments.boundBy = node.index;
  // A node that waits for tokens may be dead where another one that reads the numbers is not.
  if (node.tokens().empty())
    node.entry.segments.try_emplace(key, segments);
  return segments;
}

/// `argument` names the function in graph source.
static Outcome buildSegments(NodeBuilder &node, const OpRule &rule) {
  std::optional<Segments> segments = segmentsOf(node);
  if (!segments)
    return Outcome::Failed;
  SmallVector<NodeValue> inputs = node.allInputs(/*from=*/0, /*dropped=*/1);
  dfg::Shape rows = inputs.back() ? dfg::shapeOf(inputs.back().getType()) : dfg::Shape();
  if (rows.empty())
    return node.fail("expected one number of a segment for each row [operand]");
  inputs.push_back(node.ensureSizes(segments->ids, rows.front()));
  return node.doneWith(
      node.library().on(rule.argument, inputs, {{"num_segments", dfg::Shape{segments->count}}}));
}

static constexpr OpRule kRules[] = {
    {"SegmentSum", "2 -> 1", buildSegments, "_segment_sum"},
    {"SegmentMean", "2 -> 1", buildSegments, "_segment_mean"},
    {"SegmentProd", "2 -> 1", buildSegments, "_segment_prod"},
    {"SegmentMax", "2 -> 1", buildSegments, "_segment_max"},
    {"SegmentMin", "2 -> 1", buildSegments, "_segment_min"},
    {"SparseSegmentSum", "3 -> 1", buildSegments, "SparseSegmentSumWithNumSegments"},
    {"SparseSegmentMean", "3 -> 1", buildSegments, "SparseSegmentMeanWithNumSegments"},
    {"SparseSegmentSqrtN", "3 -> 1", buildSegments, "SparseSegmentSqrtNWithNumSegments"},
};

ArrayRef<OpRule> segmentRules() { return kRules; }

} // namespace tfc::tensorflow
