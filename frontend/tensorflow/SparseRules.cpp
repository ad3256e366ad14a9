// Implements the rules of partitions, sparse and ragged tensors and sets by functions in
// tensorflow_sparse.graph and tensorflow_sets.graph. Most of them find how many elements their
// results have.

#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using Argument = LibraryCall::Argument;
using dfg::DimExpr;

static dfg::Shape numberOf(int64_t value) { return dfg::Shape{DimExpr(value)}; }

/// Returns the first size of input `i`, which has to be a tensor with axes.
static std::optional<DimExpr> lengthOf(NodeBuilder &node, unsigned i) {
  NodeValue x = node.in(i);
  if (!x)
    return std::nullopt;
  dfg::Shape shape = dfg::shapeOf(x.getType());
  if (!shape.empty())
    return shape.front();
  node.error() << "expected a tensor with an axis as input " << i << ", but got a scalar [operand]";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Partitions
//===----------------------------------------------------------------------===//

/// Returns the positions of the elements of each partition. Nodes that partition by the same values
/// share them, so that their results have the same sizes.
static SmallVector<Value> partitionPlaces(NodeBuilder &node, NodeValue &partitions) {
  int64_t count = node.node.number("num_partitions");
  Value key = partitions.getValue();
  auto known = key ? node.entry.partitions.find({key, count}) : node.entry.partitions.end();
  if (known != node.entry.partitions.end())
    return known->second;
  auto found = node.library().on("_partition_places", {partitions}, {{"count", numberOf(count)}});
  if (!found)
    return {};
  SmallVector<Value> places = node.valuesOf(*found);
  if (llvm::is_contained(places, Value()))
    return {};
  // Otherwise, they may be dead where another node is not.
  if (key && node.tokens().empty())
    node.entry.partitions[{key, count}] = places;
  return places;
}

static Outcome buildPartition(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0), partitions = node.in(1);
  if (!x || !partitions)
    return Outcome::Failed;
  SmallVector<Value> places = partitionPlaces(node, partitions);
  if (places.empty())
    return Outcome::Failed;
  return node.doneWith(node.library().on("_partitioned", {x, partitions}, {{"places", places}}));
}

//===----------------------------------------------------------------------===//
// Sparse tensors
//===----------------------------------------------------------------------===//

static Outcome buildFillEmptyRows(NodeBuilder &node, const OpRule &) {
  std::optional<dfg::Shape> shape = node.dims(2);
  if (!shape)
    return Outcome::Failed;
  if (shape->empty())
    return node.fail("expected the shape of a tensor with an axis [operand]");
  return node.doneWith(node.library().on("_fill_empty_rows", {node.in(0), node.in(1), node.in(3)},
                                         {{"rows", dfg::Shape{shape->front()}}}));
}

/// Returns the shape of a concatenation of tensors whose shapes are the inputs from `first` on, if
/// these are known.
static std::optional<dfg::SizeTensor> sizesOfConcat(NodeBuilder &node, unsigned first,
                                                    int64_t axis) {
  std::optional<dfg::SizeTensor> total;
  for (unsigned i = first; i < node.numInputs(); ++i) {
    const dfg::SizeTensor *known = node.sizes(i);
    int64_t rank = known ? known->values.size() : 0, at = axis < 0 ? axis + rank : axis;
    if (!known || at < 0 || at >= rank || (total && int64_t(total->values.size()) != rank))
      return std::nullopt;
    if (total)
      total->values[at] = total->values[at] + known->values[at];
    else
      total = *known;
  }
  return total;
}

/// The inputs are the coordinates of all tensors, then their values, then their shapes.
static Outcome buildSparseConcat(NodeBuilder &node, const OpRule &) {
  auto lists = node.listsFrom(0, 3);
  if (!lists)
    return Outcome::Failed;
  Type first = lists->front().front().getType();
  if (!lengthOf(node, 0) || dfg::shapeOf(first).size() != 2)
    return node.fail("expected coordinates as input 0, but got {} [operand]", dfg::toText(first));
  int64_t axis = node.node.number("concat_dim"), count = node.node.number("N");
  auto found = node.library().on("_sparse_concat", {},
                                 {{"indices", (*lists)[0]},
                                  {"values", (*lists)[1]},
                                  {"shapes", (*lists)[2]},
                                  {"axis", numberOf(axis)}});
  if (!found)
    return Outcome::Failed;
  if (std::optional<dfg::SizeTensor> sizes = sizesOfConcat(node, 2 * count, axis))
    found->back() = NodeValue(std::move(*sizes));
  return node.done(*found);
}

/// The results are the coordinates of all parts, then their values, then their shapes.
static Outcome buildSparseSplit(NodeBuilder &node, const OpRule &) {
  std::optional<int64_t> axis = node.integer(0);
  int64_t count = node.node.number("num_split");
  NodeValue shape = node.in(3);
  if (!axis || !shape)
    return Outcome::Failed;
  dfg::Shape rank = dfg::shapeOf(shape.getType());
  std::optional<int64_t> axes = rank.size() == 1 ? rank.front().constant() : std::nullopt;
  if (!axes || *axis < -*axes || *axis >= *axes)
    return node.fail("expected an axis of a sparse tensor of known rank, but got {} [operand]",
                     *axis);
  SmallVector<NodeValue> results(3 * count);
  for (int64_t k = 0; k < count; ++k) {
    auto found = node.library().on(
        "_sparse_part", {node.in(1), node.in(2), shape},
        {{"axis", numberOf(*axis)}, {"k", numberOf(k)}, {"num_split", numberOf(count)}});
    if (!found)
      return Outcome::Failed;
    for (auto [part, value] : enumerate(*found))
      results[part * count + k] = value;
    if (const dfg::SizeTensor *known = node.sizes(3)) {
      dfg::SizeTensor sizes = *known;
      DimExpr &size = sizes.values[*axis < 0 ? *axis + *axes : *axis];
      size = DimExpr::floorDiv(size + DimExpr(count - 1 - k), DimExpr(count));
      results[2 * count + k] = NodeValue(sizes);
    }
  }
  return node.done(results);
}

//===----------------------------------------------------------------------===//
// Ragged tensors
//===----------------------------------------------------------------------===//

/// Returns the type of splits that an attribute names; i64 if it is absent.
static Type splitsType(NodeBuilder &node) {
  return node.node.has("Tsplits") ? node.dtype("Tsplits")
                                  : Type(IntegerType::get(node.context(), 64));
}

static Outcome buildRaggedGather(NodeBuilder &node, const OpRule &) {
  int64_t levels = node.node.number("PARAMS_RAGGED_RANK");
  NodeValue values = node.in(levels), ids = node.in(levels + 1);
  Type type = splitsType(node), i64 = IntegerType::get(node.context(), 64);
  std::optional<DimExpr> count = lengthOf(node, levels);
  if (!values || !ids || !type || !count)
    return Outcome::Failed;
  dfg::Shape axes = dfg::shapeOf(ids.getType());
  if (axes.empty())
    return node.fail("expected a tensor with an axis as input {}, but got a scalar [operand]",
                     levels + 1);
  SmallVector<NodeValue> results;
  DimExpr rows = axes.front();
  for (const DimExpr &length : ArrayRef(axes).drop_front()) {
    results.push_back(node.library().compute(
        "_even_splits", {}, {{"rows", dfg::Shape{rows}}, {"length", dfg::Shape{length}}}));
    rows = rows * length;
  }
  NodeValue at = node.reshape(node.cast(ids, i64), {rows});
  for (int64_t level = 0; level < levels; ++level) {
    std::optional<DimExpr> inner = lengthOf(node, level + 1);
    if (!inner || !at)
      return Outcome::Failed;
    auto found = node.library().on("_ragged_rows", {node.in(level), at},
                                   {{"values", dfg::Shape{level + 1 < levels ? *inner : *count}}});
    if (!found)
      return Outcome::Failed;
    results.push_back((*found)[0]);
    at = (*found)[1];
  }
  for (NodeValue &splits : results)
    splits = node.cast(splits, type);
  results.push_back(node.library().compute("_ragged_values", {values, at}));
  return node.done(results);
}

/// Returns how many numbers of a type all ranges have, if that is known.
static std::optional<int64_t> countRanges(NodeBuilder &node, int64_t rows, Type type) {
  std::optional<SmallVector<double>> numbers[] = {node.knownReals(0), node.knownReals(1),
                                                  node.knownReals(2)};
  double total = 0;
  for (int64_t row = 0; row < rows; ++row) {
    double at[3];
    for (auto [i, known] : enumerate(numbers)) {
      if (!known || known->empty() || (known->size() != 1 && int64_t(known->size()) != rows))
        return std::nullopt;
      at[i] = (*known)[known->size() == 1 ? 0 : row];
    }
    total += std::max(countSteps(at[0], at[1], at[2], type), 0.0);
  }
  return total >= 0 && total < 1e9 ? std::optional(int64_t(total)) : std::nullopt;
}

static Outcome buildRaggedRange(NodeBuilder &node, const OpRule &) {
  DimExpr rows = 1;
  SmallVector<NodeValue> inputs = node.allInputs();
  for (const NodeValue &input : inputs) {
    if (!input)
      return Outcome::Failed;
    dfg::Shape shape = dfg::shapeOf(input.getType());
    if (shape.size() == 1)
      rows = shape.front();
  }
  Type type = splitsType(node), element = dfg::elementTypeOf(inputs.front().getType());
  if (!type)
    return Outcome::Failed;
  std::optional<int64_t> number = rows.constant();
  number = number ? countRanges(node, *number, element) : std::nullopt;
  std::optional<DimExpr> count = number ? std::optional(DimExpr(*number)) : std::nullopt;
  if (!count && node.entry.bounds.count(node.node.name))
    count = node.foundSize(
        node.library().compute("_length_of_ranges", inputs, {{"rows", dfg::Shape{rows}}}));
  if (!count) {
    node.askForBound("number of elements");
    return Outcome::Failed;
  }
  auto found = node.library().on("_ragged_range", inputs,
                                 {{"rows", dfg::Shape{rows}}, {"count", dfg::Shape{*count}}});
  if (!found)
    return Outcome::Failed;
  return node.done({node.cast((*found)[0], type), (*found)[1]});
}

static Outcome buildRaggedToSparse(NodeBuilder &node, const OpRule &) {
  int64_t levels = node.node.number("RAGGED_RANK");
  for (int64_t i = 0; i <= levels; ++i)
    if (!lengthOf(node, i))
      return Outcome::Failed;
  SmallVector<Value> splits = node.valuesOf(node.allInputs(/*from=*/0, /*dropped=*/1));
  return node.doneWith(
      node.library().on("_ragged_to_sparse", {node.in(levels)}, {{"splits", splits}}));
}

/// Returns the sizes that input 0 asks for, of which -1 stands for those of the longest rows.
static std::optional<dfg::Shape> shapeOfRagged(NodeBuilder &node, size_t count) {
  std::optional<dfg::Shape> sizes = node.dims(0);
  if (sizes && node.sizes(0)->shape.empty() && sizes->front().isConstant(-1))
    return dfg::Shape(count, DimExpr(-1));
  if (sizes && sizes->size() < count) {
    node.error() << "expected a shape of at least " << count << " axes, but got " << sizes->size()
                 << " [operand]";
    return std::nullopt;
  }
  if (sizes)
    sizes->resize(count);
  return sizes;
}

/// The rows of the values of each level are given, or the splits of rows.
static Outcome buildRaggedToDense(NodeBuilder &node, const OpRule &) {
  const std::vector<std::string> &types = node.node.attr("row_partition_types").texts;
  bool isByRow = !types.empty() && types.front() == "FIRST_DIM_SIZE";
  size_t skipped = isByRow ? 1 : 0;
  if (types.size() <= skipped || node.numInputs() != 3 + types.size())
    return node.fail("expected a partition for each input from 3 on [graph-attribute]");
  for (const std::string &type : ArrayRef(types).drop_front(skipped))
    if (type != (isByRow ? "VALUE_ROWIDS" : "ROW_SPLITS"))
      return node.fail("'{}' is no kind of partition that can follow '{}' [graph-attribute]", type,
                       types.front());
  size_t levels = types.size() - skipped;
  std::optional<dfg::Shape> sizes = shapeOfRagged(node, levels + 1);
  std::optional<DimExpr> count = lengthOf(node, 1), first;
  if (!sizes || !count)
    return Outcome::Failed;
  if (isByRow) {
    std::optional<dfg::Shape> rows = node.dims(3);
    if (!rows)
      return Outcome::Failed;
    first = rows->front();
  }
  SmallVector<Value> rows;
  for (size_t level = 0; level < levels; ++level) {
    unsigned input = 3 + skipped + level;
    std::optional<DimExpr> length = lengthOf(node, input);
    std::optional<DimExpr> inner = level + 1 == levels ? count : lengthOf(node, input + 1);
    if (!length || !inner)
      return Outcome::Failed;
    if (!isByRow && !first)
      first = *length - DimExpr(1);
    // The next level has one split more than rows.
    DimExpr within = level + 1 == levels ? *inner : *inner - DimExpr(1);
    NodeValue row = isByRow ? node.in(input)
                            : node.library().compute("_row_of", {node.in(input)},
                                                     {{"count", dfg::Shape{within}}});
    if (!row)
      return Outcome::Failed;
    rows.push_back(node.valueOf(row));
  }
  return node.doneWith(
      node.library().on("_ragged_to_dense", {node.in(1), node.in(2)},
                        {{"rows", rows}, {"first", dfg::Shape{*first}}, {"sizes", *sizes}}));
}

//===----------------------------------------------------------------------===//
// Sets and decoding
//===----------------------------------------------------------------------===//

/// Inputs are sets as rows of a tensor, or as coordinates, values and a shape, of which only sizes
/// matter; `argument` names the function.
static Outcome buildSetOperation(NodeBuilder &node, const OpRule &rule) {
  StringRef operation = node.node.attr("set_operation").text;
  if (!is_contained({"union", "intersection", "a-b", "b-a"}, operation))
    return node.fail("'{}' is no operation on sets [graph-attribute]", operation);
  SmallVector<NodeValue> tensors;
  SmallVector<Argument> named = {{"operation", operation.str()}};
  unsigned dense = rule.argument == "_dense_sets" ? 2 : rule.argument == "_mixed_sets" ? 1 : 0;
  SmallVector<dfg::Shape> groups;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    bool isShape = i >= dense && (i - dense) % 3 == 2;
    std::optional<dfg::Shape> sizes = isShape ? node.dims(i) : std::nullopt;
    if (isShape && !sizes)
      return Outcome::Failed;
    NodeValue x = isShape ? NodeValue() : node.in(i);
    if (!isShape && !x)
      return Outcome::Failed;
    if (!isShape)
      tensors.push_back(x);
    if (isShape)
      named.push_back({i + 1 == node.numInputs() ? "b_shape" : "a_shape", *sizes});
    if (isShape || i < dense)
      groups.push_back(isShape ? *sizes : dfg::shapeOf(x.getType()));
  }
  for (dfg::Shape &group : groups) {
    if (group.empty())
      return node.fail("expected sets as rows of a tensor with an axis [operand]");
    group.pop_back();
  }
  if (groups.front() != groups.back())
    return node.fail("expected operands with the same sizes but for the last axis [operand]");
  return node.doneWith(node.library().on(rule.argument, tensors, named));
}

/// Returns the sizes of input 0, scores of classes, or std::nullopt after an error.
static std::optional<dfg::Shape> sizesOfScores(NodeBuilder &node) {
  NodeValue x = node.in(0);
  if (!x)
    return std::nullopt;
  dfg::Shape shape = dfg::shapeOf(x.getType());
  if (shape.size() == 3)
    return shape;
  node.error() << "expected scores of time, batch and classes, but got " << dfg::toText(x.getType())
               << " [operand]";
  return std::nullopt;
}

static Outcome buildGreedyDecoder(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  std::optional<dfg::Shape> shape = sizesOfScores(node);
  if (!shape)
    return Outcome::Failed;
  int64_t given = node.node.number("blank_index", -1);
  DimExpr blank = given < 0 ? (*shape)[2] + DimExpr(given) : DimExpr(given);
  return node.doneWith(
      node.library().on("_ctc_greedy", {x, node.in(1)},
                        {{"merge", node.flag("merge_repeated")}, {"blank", dfg::Shape{blank}}}));
}

/// The results are the coordinates of all paths, then their values, then their shapes, and the
/// logarithms of their probabilities.
static Outcome buildBeamDecoder(NodeBuilder &node, const OpRule &) {
  int64_t paths = node.node.number("top_paths"), width = node.node.number("beam_width");
  if (!sizesOfScores(node))
    return Outcome::Failed;
  if (paths > width)
    return node.fail("expected at most {} paths, the width of the beam, but got {} "
                     "[graph-attribute]",
                     width, paths);
  auto beams =
      node.library().on("_ctc_beams", {node.in(0), node.in(1)}, {{"width", numberOf(width)}});
  if (!beams)
    return Outcome::Failed;
  SmallVector<NodeValue> results(3 * paths + 1);
  for (int64_t path = 0; path < paths; ++path) {
    auto found = node.library().on(
        "_ctc_path", {(*beams)[0], (*beams)[1]},
        {{"path", numberOf(path)}, {"merge", node.node.number("merge_repeated", 1) != 0}});
    if (!found)
      return Outcome::Failed;
    for (auto [part, value] : enumerate(*found))
      results[part * paths + path] = value;
  }
  results.back() = node.library().compute("_ctc_scores", {(*beams)[2], (*beams)[3]},
                                          {{"paths", numberOf(paths)}});
  return node.done(results);
}

static Outcome buildCombinedNonMax(NodeBuilder &node, const OpRule &) {
  NodeValue boxes = node.in(0), scores = node.in(1);
  std::optional<int64_t> most = node.integer(2), total = node.integer(3);
  if (!boxes || !scores || !most || !total)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(scores.getType());
  std::optional<int64_t> classes = shape.size() == 3 ? shape[2].constant() : std::nullopt;
  if (*most <= 0 || *total <= 0 || !classes)
    return node.fail("expected numbers of boxes above 0, and scores [batch, boxes, classes] of a "
                     "known number of classes [operand]");
  int64_t all = 0;
  if (node.flag("pad_per_class") && !__builtin_mul_overflow(*most, *classes, &all))
    total = std::min(*total, all);
  return node.doneWith(node.library().on("_combined_non_max",
                                         {boxes, scores, node.in(4), node.in(5)},
                                         {{"most", numberOf(*most)},
                                          {"total", numberOf(*total)},
                                          {"clip", node.node.number("clip_boxes", 1) != 0}}));
}

static constexpr OpRule kRules[] = {
    {"DynamicPartition", "2 -> num_partitions; num_partitions:int>=1", buildPartition},
    {"SparseFillEmptyRows", "4 -> 4", buildFillEmptyRows},
    {"SparseConcat", "3N -> 3; N:int>=1, concat_dim:int", buildSparseConcat},
    {"RaggedGather",
     "PARAMS_RAGGED_RANK+2 -> OUTPUT_RAGGED_RANK+1; PARAMS_RAGGED_RANK:int>=1, "
     "OUTPUT_RAGGED_RANK:int>=0",
     buildRaggedGather},
    {"RaggedRange", "3 -> 2; Tsplits:type?", buildRaggedRange},
    {"RaggedTensorToSparse", "RAGGED_RANK+1 -> 3; RAGGED_RANK:int>=1", buildRaggedToSparse},
    {"RaggedTensorToTensor", "3+ -> 1; row_partition_types:strings", buildRaggedToDense},
    {"SparseSplit", "4 -> 3num_split; num_split:int>=1", buildSparseSplit},
    {"DenseToDenseSetOperation", "2 -> 3; set_operation:string", buildSetOperation, "_dense_sets"},
    {"DenseToSparseSetOperation", "4 -> 3; set_operation:string", buildSetOperation, "_mixed_sets"},
    {"SparseToSparseSetOperation", "6 -> 3; set_operation:string", buildSetOperation,
     "_sparse_sets"},
    {"CTCGreedyDecoder", "2 -> 4; merge_repeated:bool?, blank_index:int?", buildGreedyDecoder},
    {"CTCBeamSearchDecoder",
     "2 -> 3top_paths+1; beam_width:int>=1, top_paths:int>=1, merge_repeated:bool?",
     buildBeamDecoder},
    {"CombinedNonMaxSuppression", "6 -> 4; pad_per_class:bool?, clip_boxes:bool?",
     buildCombinedNonMax},
};

ArrayRef<OpRule> sparseRules() { return kRules; }

} // namespace tfc::tensorflow
