// Implements the rules of operations that find how many elements their results have.

#include "frontend/tensorflow/NodeBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

static Outcome buildWhere(NodeBuilder &node, const OpRule &) {
  return node.library().build("_where");
}

static Outcome buildUnique(NodeBuilder &node, const OpRule &rule) {
  NodeValue x = node.in(0);
  Type type =
      node.node.has("out_idx") ? node.dtype("out_idx") : Type(IntegerType::get(node.context(), 32));
  if (!x || !type)
    return Outcome::Failed;
  int64_t rank = dfg::shapeOf(x.getType()).size();
  std::optional<SmallVector<int64_t>> axes;
  if (node.numInputs() > 1 && !(axes = node.ints(1)))
    return Outcome::Failed;
  bool hasAxis = axes && !axes->empty();
  if (hasAxis && (axes->size() > 1 || axes->front() < -rank || axes->front() >= rank))
    return node.fail("expected one axis of {} [operand]", dfg::toText(x.getType()));
  if (rank != 1 && !hasAxis)
    return node.fail("expected a vector, but got {} [operand]", dfg::toText(x.getType()));
  int64_t axis = hasAxis ? (axes->front() + rank) % rank : 0;
  auto results = rank == 1 ? node.library().on("_unique", {x})
                           : node.library().on("_unique_slices", {x},
                                               {{"axis", dfg::Shape{dfg::DimExpr(axis)}}});
  if (!results)
    return Outcome::Failed;
  SmallVector<NodeValue> typed = {(*results)[0], node.cast((*results)[1], type)};
  if (rule.argument == "count")
    typed.push_back(node.cast((*results)[2], type));
  return node.done(typed);
}

/// Returns input `i` as a scalar f32, or a number if there is no such input.
static NodeValue limitAt(NodeBuilder &node, unsigned i, double otherwise) {
  Type type = Float32Type::get(node.context());
  return i < node.numInputs() ? node.cast(node.in(i), type)
                              : NodeValue(node.scalar(otherwise, type));
}

/// `argument` says which of the results there are besides the positions.
static Outcome buildNonMax(NodeBuilder &node, const OpRule &rule) {
  Type f32 = Float32Type::get(node.context()), i32 = IntegerType::get(node.context(), 32);
  NodeValue boxes = node.in(0), scores = node.in(1), overlap = limitAt(node, 3, 0.5);
  std::optional<int64_t> most = node.integer(2);
  NodeValue least = limitAt(node, 4, -std::numeric_limits<double>::infinity());
  bool isPadded = node.node.number("pad_to_max_output_size");
  if (!boxes || !scores || !most || !overlap || !least)
    return Outcome::Failed;
  if (*most < 0)
    return node.fail("expected a number of boxes that is not negative, but got {} [operand]",
                     *most);
  // Boxes near a better one lose all of their score, or, with a sigma, a part of it.
  NodeValue sigma = limitAt(node, 5, 0);
  bool isSoft = node.numInputs() > 5;
  DenseElementsAttr known;
  if (isSoft && sigma && matchPattern(node.valueOf(sigma), m_Constant(&known)) && known.isSplat())
    isSoft = !known.getSplatValue<FloatAttr>().getValue().isZero();
  Type type = dfg::elementTypeOf(scores.getType());
  auto found = node.library().on(
      "_non_max", {node.cast(boxes, f32), node.cast(scores, f32), overlap, least, sigma},
      {{"most", dfg::Shape{*most}}, {"padded", isPadded}, {"soft", isSoft}});
  if (!found)
    return Outcome::Failed;
  SmallVector<NodeValue> results = {node.cast((*found)[0], i32)};
  if (rule.argument == "scores")
    results.push_back(node.cast((*found)[1], type));
  if (!rule.argument.empty())
    results.push_back(node.cast((*found)[2], i32));
  return node.done(results);
}

/// Input 0 has how much each pair of boxes shares.
static Outcome buildNonMaxOfOverlaps(NodeBuilder &node, const OpRule &) {
  std::optional<int64_t> most = node.integer(2);
  if (!most)
    return Outcome::Failed;
  if (*most < 0)
    return node.fail("expected a number of boxes that is not negative, but got {} [operand]",
                     *most);
  return node.done(
      {node.library().compute("_non_max_overlaps", {node.in(0), node.in(1), node.in(3), node.in(4)},
                              {{"most", dfg::Shape{*most}}})});
}

static constexpr OpRule kRules[] = {
    {"Where", "1 -> 1", buildWhere},
    {"Unique", "1 -> 2; out_idx:type?", buildUnique},
    {"UniqueWithCounts", "1 -> 3; out_idx:type?", buildUnique, "count"},
    {"UniqueV2", "2 -> 2; out_idx:type?", buildUnique},
    {"UniqueWithCountsV2", "2 -> 3; out_idx:type?", buildUnique, "count"},
    {"NonMaxSuppression", "3 -> 1", buildNonMax},
    {"NonMaxSuppressionV2", "4 -> 1", buildNonMax},
    {"NonMaxSuppressionV3", "5 -> 1", buildNonMax},
    {"NonMaxSuppressionV4", "5 -> 2; pad_to_max_output_size:bool?", buildNonMax, "count"},
    {"NonMaxSuppressionV5", "6 -> 3; pad_to_max_output_size:bool?", buildNonMax, "scores"},
    {"NonMaxSuppressionWithOverlaps", "5 -> 1", buildNonMaxOfOverlaps},
};

ArrayRef<OpRule> selectionRules() { return kRules; }

} // namespace tfc::tensorflow
