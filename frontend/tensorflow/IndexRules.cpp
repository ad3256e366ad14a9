// Implements the rules of reads and writes at data-dependent positions, including those that return
// such positions.

#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

/// Offsets `indices` by their batch, so that a batch of gathers becomes one gather over joined
/// axes.
static Outcome buildBatchGather(NodeBuilder &node, NodeValue x, NodeValue indices, int64_t axis,
                                int64_t batch) {
  dfg::Shape shape = dfg::shapeOf(x.getType()), places = dfg::shapeOf(indices.getType());
  if (batch > axis || batch > int64_t(places.size()))
    return node.fail("expected a batch of at most {} axes, but got {} [graph-attribute]",
                     std::min<int64_t>(axis, places.size()), batch);
  // The gathered axis comes after those of the batch, and the ones between return to their place.
  auto move = [](int64_t first, int64_t middle, int64_t last, int64_t rank) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(rank));
    std::rotate(order.begin() + first, order.begin() + middle, order.begin() + last);
    return order;
  };
  if (batch != axis)
    x = node.transpose(x, move(batch, axis, axis + 1, shape.size()));
  if (!x)
    return Outcome::Failed;
  int64_t between = axis - batch;
  shape = dfg::shapeOf(x.getType());
  Type type = IntegerType::get(node.context(), 64);
  dfg::Shape joined, result(shape.begin(), shape.begin() + batch);
  DimExpr rows = dfg::elementCount(ArrayRef(shape).take_front(batch));
  dfg::Shape rowShape(result);
  rowShape.resize(places.size(), DimExpr(1));
  NodeValue offset = node.op("mul", {node.iota(rows, type), node.size(shape[batch], type)});
  indices = node.op("add", {node.cast(indices, type), node.reshape(offset, rowShape)});
  joined.push_back(rows * shape[batch]);
  joined.append(shape.begin() + batch + 1, shape.end());
  NodeValue gathered = node.op("gather", {node.reshape(x, joined), indices});
  if (!gathered || between == 0)
    return node.done({gathered});
  int64_t found = places.size();
  return node.done({node.transpose(
      gathered, move(batch, found, found + between, dfg::shapeOf(gathered.getType()).size()))});
}

/// Returns input 0, or the value of the variable whose handle it is.
static NodeValue tableOf(NodeBuilder &node, const OpRule &rule) {
  if (!(rule.flags & OpRule::Effect))
    return node.in(0);
  const Node *variable = node.variable(0);
  return variable ? node.readVariable(*variable) : NodeValue();
}

static Outcome buildGather(NodeBuilder &node, const OpRule &rule) {
  NodeValue x = tableOf(node, rule), indices = node.in(1);
  std::optional<int64_t> axis = node.numInputs() > 2 ? node.integer(2) : 0;
  if (!x || !indices || !axis)
    return Outcome::Failed;
  int64_t rank = dfg::shapeOf(x.getType()).size();
  int64_t batch = node.node.number("batch_dims");
  if (batch < 0)
    batch += dfg::shapeOf(indices.getType()).size();
  std::optional<int64_t> place = dfg::normalizeAxis(*axis, rank);
  if (batch != 0 && place)
    return buildBatchGather(node, x, indices, *place, batch);
  return node.done({node.op("gather", {x, indices}, node.attrs.integer("axis", *axis))});
}

static Outcome buildGatherNd(NodeBuilder &node, const OpRule &rule) {
  return node.done({node.op("gather_nd", {tableOf(node, rule), node.in(1)})});
}

/// `argument` names the dfg operation; both return the first of several equal extremes. TensorFlow
/// passes over NaN.
static Outcome buildArg(NodeBuilder &node, const OpRule &rule) {
  std::optional<int64_t> axis = node.integer(1);
  Type type = node.node.has("output_type") ? node.dtype("output_type")
                                           : Type(IntegerType::get(node.context(), 64));
  NodeValue x = node.in(0);
  if (!axis || !type || !x)
    return Outcome::Failed;
  if (!type.isInteger(16) && !type.isSignlessInteger(32) && !type.isSignlessInteger(64))
    return node.fail("expected integers of 16, 32 or 64 bits as 'output_type' [dtype]");
  Type element = dfg::elementTypeOf(x.getType());
  if (element.isInteger(1))
    x = node.cast(x, IntegerType::get(node.context(), 8, IntegerType::Unsigned));
  if (isa<FloatType>(element)) {
    double least = std::numeric_limits<double>::infinity();
    NodeValue otherwise = node.scalar(rule.argument == "argmax" ? -least : least, element);
    x = node.op("select", {node.op("is_nan", x), otherwise, x});
  }
  Type computed = type.isSignlessInteger(32) ? type : IntegerType::get(node.context(), 64);
  NodeValue at = node.op(rule.argument, x,
                         {node.attrs.integer("axis", *axis), node.attrs.type("dtype", computed)});
  return node.done({node.cast(at, type)});
}

static Outcome buildOneHot(NodeBuilder &node, const OpRule &) {
  NodeValue indices = node.in(0);
  std::optional<dfg::Shape> depth = node.dims(1);
  NodeValue on = node.in(2), off = node.in(3);
  if (!indices || !depth || !on || !off)
    return Outcome::Failed;
  Type type = IntegerType::get(node.context(), 1);
  NodeValue marks = node.op("one_hot", node.cast(indices, IntegerType::get(node.context(), 64)),
                            {node.attrs.sizes("depth", *depth), node.attrs.type("dtype", type)});
  NodeValue result = node.op("select", {marks, on, off});
  int64_t rank = dfg::shapeOf(indices.getType()).size();
  std::optional<int64_t> axis = dfg::normalizeAxis(node.node.number("axis", -1), rank + 1);
  if (!axis)
    return node.fail("expected an axis of the result, but got {} [axis]",
                     node.node.number("axis", -1));
  if (*axis == rank)
    return node.done({result});
  SmallVector<int64_t> places;
  for (int64_t i = 0; i < rank; ++i)
    places.push_back(i);
  places.insert(places.begin() + *axis, rank);
  return node.done({node.transpose(result, places)});
}

static Outcome buildTopK(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  std::optional<dfg::Shape> count =
      node.numInputs() > 1 ? node.dims(1) : dfg::Shape{DimExpr(node.node.number("k"))};
  if (!x || !count)
    return Outcome::Failed;
  if (count->size() != 1)
    return node.fail("expected one number of elements [graph-edge]");
  // Unlike the negation, the complement reverses the order of all integers, also of 0 and the
  // least.
  bool isInteger = isa<IntegerType>(dfg::elementTypeOf(x.getType()));
  NodeValue order = node.op("argsort", node.op(isInteger ? "bitwise_not" : "neg", x));
  dfg::Shape shape = dfg::shapeOf(x.getType()), starts(shape.size(), DimExpr(0));
  if (shape.empty())
    return node.fail("expected a tensor with an axis, but got a scalar [graph-edge]");
  shape.back() = count->front();
  order = node.slice(order, starts, shape);
  Type type = node.node.has("index_type") ? node.dtype("index_type")
                                          : Type(IntegerType::get(node.context(), 32));
  return node.done({node.op("take_along_axis", {x, order}), node.cast(order, type)});
}

//===----------------------------------------------------------------------===//
// Scattering
//===----------------------------------------------------------------------===//

/// Scatters into rows of `x`: the axes that an index vector addresses are joined into one, and
/// index vectors become row numbers.
static NodeValue scatterNd(NodeBuilder &node, StringRef op, NodeValue x, NodeValue indices,
                           NodeValue updates, dfg::Outside outside) {
  if (!x || !indices || !updates)
    return {};
  dfg::Shape shape = dfg::shapeOf(x.getType()), places = dfg::shapeOf(indices.getType());
  std::optional<int64_t> depth = places.empty() ? std::nullopt : places.back().constant();
  if (!depth || *depth < 1 || *depth > int64_t(shape.size())) {
    node.error() << "expected index vectors as long as some of the axes [graph-edge]";
    return {};
  }
  Type type = IntegerType::get(node.context(), 64);
  indices = node.cast(indices, type);
  places.pop_back();
  DimExpr count = dfg::elementCount(places);
  NodeValue joined = node.scalar(0, type);
  dfg::Shape columns{count, DimExpr(*depth)};
  NodeValue table = node.reshape(indices, columns);
  for (int64_t axis = 0; axis < *depth; ++axis) {
    NodeValue column = node.slice(table, {DimExpr(0), DimExpr(axis)}, {count, DimExpr(1)});
    NodeValue weighted = node.op("mul", {joined, node.size(shape[axis], type)});
    joined = node.op("add", {weighted, node.reshape(column, count)});
  }
  dfg::Shape rows(shape.begin() + *depth, shape.end()), flat = rows;
  flat.insert(flat.begin(), dfg::elementCount(ArrayRef(shape).take_front(*depth)));
  rows.insert(rows.begin(), count);
  NodeValue result = node.op(op, {node.reshape(x, flat), joined, node.reshape(updates, rows)},
                             node.attrs.word<dfg::OutsideAttr>("outside", outside));
  return node.reshape(result, shape);
}

static Outcome buildScatterNd(NodeBuilder &node, const OpRule &) {
  std::optional<dfg::Shape> shape = node.dims(2);
  NodeValue updates = node.in(1);
  if (!shape || !updates)
    return Outcome::Failed;
  // Of bools, TensorFlow's sum is true where any is.
  Type type = dfg::elementTypeOf(updates.getType());
  Type added = type.isInteger(1) ? IntegerType::get(node.context(), 32) : type;
  NodeValue sums = scatterNd(node, "scatter_add", node.filled(0, *shape, added), node.in(0),
                             node.cast(updates, added), dfg::Outside::Fail);
  if (added != type)
    sums = node.op("not_equal", {sums, node.scalar(0, added)});
  return node.done({sums});
}

/// `argument` names the dfg operation.
static Outcome buildTensorScatter(NodeBuilder &node, const OpRule &rule) {
  NodeValue updates = node.in(2);
  if (rule.flags & OpRule::Subtracts)
    updates = node.op("neg", updates);
  return node.done(
      {scatterNd(node, rule.argument, node.in(0), node.in(1), updates, dfg::Outside::Fail)});
}

/// Reads the segments of a reduction whose numbers are in any order.
static std::optional<Segments> readSegments(NodeBuilder &node) {
  NodeValue x = node.in(0), ids = node.in(1);
  std::optional<dfg::Shape> count = node.dims(2);
  if (!x || !ids || !count)
    return std::nullopt;
  dfg::Shape shape = dfg::shapeOf(x.getType());
  size_t rank = dfg::shapeOf(ids.getType()).size();
  if (rank > shape.size() || count->size() != 1) {
    node.error() << (rank > shape.size() ? "expected one segment for each row [graph-edge]"
                                         : "expected one number of segments [graph-edge]");
    return std::nullopt;
  }
  ids = node.ensureSizes(ids, ArrayRef(shape).take_front(rank));
  return ids ? std::optional(Segments{ids, count->front()}) : std::nullopt;
}

/// Sums the rows of each segment; rows without a segment are dropped.
static Outcome buildSegmentSum(NodeBuilder &node, const OpRule &) {
  std::optional<Segments> segments = readSegments(node);
  if (!segments)
    return Outcome::Failed;
  auto [ids, count, boundBy] = *segments;
  NodeValue x = node.in(0);
  dfg::Shape shape = dfg::shapeOf(x.getType()), numbers = dfg::shapeOf(ids.getType());
  dfg::Shape rows(shape.begin() + numbers.size(), shape.end()), result = rows;
  rows.insert(rows.begin(), dfg::elementCount(numbers));
  result.insert(result.begin(), count);
  NodeValue zeros = node.filled(0, result, dfg::elementTypeOf(x.getType()));
  return node.done(
      {node.op("scatter_add", {zeros, node.reshape(ids, rows.front()), node.reshape(x, rows)},
               node.attrs.word<dfg::OutsideAttr>("outside", dfg::Outside::Skip))});
}

static Outcome buildUnsortedSegments(NodeBuilder &node, const OpRule &rule) {
  std::optional<Segments> segments = readSegments(node);
  if (!segments)
    return Outcome::Failed;
  return node.done({node.library().compute(rule.argument, {node.in(0), segments->ids},
                                           {{"num_segments", dfg::Shape{segments->count}}})});
}

static constexpr OpRule kRules[] = {
    {"Gather", "2 -> 1", buildGather, "", OpRule::Planes},
    {"GatherV2", "3 -> 1; batch_dims:int?", buildGather, "", OpRule::Planes},
    {"GatherNd", "2 -> 1", buildGatherNd, "", OpRule::Planes},
    {"ResourceGather", "2 -> 1; batch_dims:int?", buildGather, "", OpRule::Effect | OpRule::Reads},
    {"ResourceGatherNd", "2 -> 1", buildGatherNd, "", OpRule::Effect | OpRule::Reads},
    {"ArgMax", "2 -> 1; output_type:type?", buildArg, "argmax"},
    {"ArgMin", "2 -> 1; output_type:type?", buildArg, "argmin"},
    {"OneHot", "4 -> 1; axis:int?", buildOneHot},
    {"TopK", "1 -> 2; k:int", buildTopK},
    {"TopKV2", "2 -> 2; index_type:type?", buildTopK},
    {"ScatterNd", "3 -> 1", buildScatterNd, "", OpRule::Planes},
    {"TensorScatterUpdate", "3 -> 1", buildTensorScatter, "scatter_update", OpRule::Planes},
    {"TensorScatterAdd", "3 -> 1", buildTensorScatter, "scatter_add", OpRule::Planes},
    {"TensorScatterSub", "3 -> 1", buildTensorScatter, "scatter_add",
     OpRule::Subtracts | OpRule::Planes},
    {"UnsortedSegmentSum", "3 -> 1", buildSegmentSum, "", OpRule::Planes},
    {"UnsortedSegmentMax", "3 -> 1", buildUnsortedSegments, "_unsorted_segment_max"},
    {"UnsortedSegmentMin", "3 -> 1", buildUnsortedSegments, "_unsorted_segment_min"},
    {"UnsortedSegmentProd", "3 -> 1", buildUnsortedSegments, "_unsorted_segment_prod"},
};

ArrayRef<OpRule> indexRules() { return kRules; }

} // namespace tfc::tensorflow
