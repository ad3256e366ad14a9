// Implements the rules of reductions, scans, and the largest and smallest elements.

#include "frontend/importer/CommonRules.h"
#include "frontend/onnx/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using dfg::DimExpr;

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {
/// The operand of a reduction and the axes that it reduces.
struct Reduction {
  NodeValue x;
  SmallVector<int64_t> axes;
  bool keepsAxes;
};
} // namespace

/// Returns null as `x` after an error.
static Reduction findReduction(NodeBuilder &node) {
  NodeValue x = node.in(0);
  std::optional<SmallVector<int64_t>> given = node.axesFrom("axes", 1);
  if (!x || !given)
    return {};
  std::optional<SmallVector<int64_t>> axes = node.axesOf(*given, rankOf(x));
  if (!axes)
    return {};
  if (axes->empty() && !node.flag("noop_with_empty_axes"))
    for (int64_t axis = 0; axis < rankOf(x); ++axis)
      axes->push_back(axis);
  return {x, *axes, node.node.number("keepdims", 1) != 0};
}

static NodeValue reduce(NodeBuilder &node, StringRef op, const Reduction &reduction, NodeValue x) {
  if (!x || reduction.axes.empty())
    return x;
  return node.op(op, x,
                 {node.attrs.integers("axis", reduction.axes),
                  node.attrs.flag("keep_dims", reduction.keepsAxes)});
}

/// `argument` names the dfg operation.
static Outcome buildReduction(NodeBuilder &node, const OpRule &rule) {
  Reduction reduction = findReduction(node);
  return node.done({reduce(node, rule.argument, reduction, reduction.x)});
}

/// The maximum of bools is true if any of them is.
static Outcome buildExtreme(NodeBuilder &node, const OpRule &rule) {
  Reduction reduction = findReduction(node);
  if (!reduction.x)
    return Outcome::Failed;
  StringRef op = rule.argument;
  if (elementOf(reduction.x).isInteger(1))
    op = op == "max" ? "any" : "all";
  return node.done({reduce(node, op, reduction, reduction.x)});
}

/// Means of integers are truncated.
static Outcome buildMean(NodeBuilder &node, const OpRule &) {
  Reduction reduction = findReduction(node);
  if (!reduction.x || isFloat(reduction.x))
    return node.done({reduce(node, "mean", reduction, reduction.x)});
  DimExpr count = 1;
  for (int64_t axis : reduction.axes)
    count = count * shapeOf(reduction.x)[axis];
  NodeValue sum = reduce(node, "sum", reduction, reduction.x);
  return node.done(
      {node.library().compute("_div", {sum, node.size(count, elementOf(reduction.x))})});
}

/// `argument` names the dfg operation for the elements.
static Outcome buildSumOf(NodeBuilder &node, const OpRule &rule) {
  Reduction reduction = findReduction(node);
  if (!reduction.x)
    return Outcome::Failed;
  return node.done({reduce(node, "sum", reduction, node.op(rule.argument, reduction.x))});
}

/// The Euclidean norm; integers are rounded to zero.
static Outcome buildNorm(NodeBuilder &node, const OpRule &) {
  Reduction reduction = findReduction(node);
  if (!reduction.x)
    return Outcome::Failed;
  Type type = elementOf(reduction.x), wide = Float64Type::get(node.context());
  NodeValue x = isFloat(reduction.x) ? reduction.x : node.cast(reduction.x, wide);
  NodeValue norm = node.op("sqrt", reduce(node, "sum", reduction, node.op("square", x)));
  return node.done({node.cast(norm, type)});
}

static Outcome buildLogSum(NodeBuilder &node, const OpRule &) {
  Reduction reduction = findReduction(node);
  return node.done({node.op("log", reduce(node, "sum", reduction, reduction.x))});
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// `argument` names the dfg operation, which returns the first of equal extremes.
static Outcome buildArg(NodeBuilder &node, const OpRule &rule) {
  NodeValue x = node.in(0);
  std::optional<int64_t> axis = x ? node.axisOf(node.node.number("axis"), rankOf(x)) : std::nullopt;
  if (!axis)
    return Outcome::Failed;
  bool isLast = node.flag("select_last_index");
  Type type = IntegerType::get(node.context(), 64);
  DimExpr size = shapeOf(x)[*axis];
  if (isLast)
    x = node.op("reverse", x, node.attrs.integers("axis", *axis));
  NodeValue place = node.op(rule.argument, x,
                            {node.attrs.integer("axis", *axis), node.attrs.type("dtype", type),
                             node.attrs.flag("keep_dims", node.node.number("keepdims", 1) != 0)});
  if (isLast && place)
    place = node.op("sub", {node.size(size - DimExpr(1), type), place});
  return node.done({place});
}

static Outcome topK(NodeBuilder &node, const DimExpr &count) {
  Operation *made = node.make("top_k", node.in(0),
                              {node.attrs.sizes("k", count),
                               node.attrs.integer("axis", node.node.number("axis", -1)),
                               node.attrs.flag("largest", node.node.number("largest", 1) != 0)});
  if (!made)
    return Outcome::Failed;
  Type type = IntegerType::get(node.context(), 64);
  return node.done({made->getResult(0), node.cast(made->getResult(1), type)});
}

static Outcome buildOldTopK(NodeBuilder &node, const OpRule &) {
  return topK(node, node.node.number("k"));
}

static Outcome buildTopK(NodeBuilder &node, const OpRule &) {
  std::optional<dfg::Shape> count = node.dims(1);
  if (!count)
    return Outcome::Failed;
  if (count->size() != 1)
    return node.fail("expected one number of elements [graph-edge]");
  return topK(node, count->front());
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

static constexpr const char *kReduction = "axes:ints?, keepdims:int?, noop_with_empty_axes:int?";

static constexpr OpRule kRules[] = {
    {"ReduceSum", {"1-2 -> 1", kReduction}, buildReduction, "sum"},
    {"ReduceProd", {"1-2 -> 1", kReduction}, buildReduction, "prod"},
    {"ReduceMean", {"1-2 -> 1", kReduction}, buildMean},
    {"ReduceMax", {"1-2 -> 1", kReduction}, buildExtreme, "max"},
    {"ReduceMin", {"1-2 -> 1", kReduction}, buildExtreme, "min"},
    {"ReduceL1", {"1-2 -> 1", kReduction}, buildSumOf, "abs"},
    {"ReduceL2", {"1-2 -> 1", kReduction}, buildNorm},
    {"ReduceSumSquare", {"1-2 -> 1", kReduction}, buildSumOf, "square"},
    {"ReduceLogSum", {"1-2 -> 1", kReduction}, buildLogSum},
    {"ReduceLogSumExp", {"1-2 -> 1", kReduction}, buildReduction, "logsumexp"},
    {"ArgMax", "1 -> 1; axis:int?, keepdims:int?, select_last_index:int?", buildArg, "argmax"},
    {"ArgMin", "1 -> 1; axis:int?, keepdims:int?, select_last_index:int?", buildArg, "argmin"},
    {"TopK", "1 -> 1-2; k:int>=0, axis:int?", buildOldTopK},
    {"TopK", "2 -> 1-2; axis:int?, largest:int?, sorted:int?", buildTopK, "", 10},
    {"CumSum", "2 -> 1; exclusive:int?, reverse:int?", buildScan, "cumsum"},
    {"CumProd", "2 -> 1; exclusive:int?, reverse:int?", buildScan, "cumprod"},
};

ArrayRef<OpRule> reductionRules() { return kRules; }

} // namespace tfc::onnx
