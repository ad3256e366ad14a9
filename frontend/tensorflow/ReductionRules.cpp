// Reductions and scans.

#include "frontend/tensorflow/Importer.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// Axes as an attribute; TensorFlow's empty list means none.
static std::optional<SmallVector<NamedAttribute>> reductionAttributes(NodeBuilder &node) {
  std::optional<SmallVector<int64_t>> axes = node.ints(1);
  if (!axes)
    return std::nullopt;
  bool keeps = node.flag("keep_dims") || node.flag("keepdims");
  return SmallVector<NamedAttribute>{node.intsAttr("axis", *axes),
                                     node.boolAttr("keep_dims", keeps)};
}

/// `argument` is the dfg operation.
static Outcome buildReduction(NodeBuilder &node, const OpRule &rule) {
  auto attributes = reductionAttributes(node);
  Value x = attributes ? node.in(0) : Value();
  if (!x)
    return Outcome::Failed;
  // Nothing is reduced.
  if (cast<DenseI64ArrayAttr>(attributes->front().getValue()).empty())
    return node.done({x});
  return node.done({node.op(rule.argument, x, *attributes)});
}

/// Integers truncate.
static Outcome buildMean(NodeBuilder &node, const OpRule &rule) {
  Value x = node.in(0);
  if (!x || isa<FloatType>(dfg::elementTypeOf(x.getType())))
    return buildReduction(node, rule);
  auto attributes = reductionAttributes(node);
  if (!attributes)
    return Outcome::Failed;
  Value sum = node.op("sum", x, *attributes);
  if (!sum)
    return Outcome::Failed;
  Type type = dfg::elementTypeOf(x.getType());
  dfg::DimExpr all = dfg::elementCount(dfg::shapeOf(x.getType())),
               left = dfg::elementCount(dfg::shapeOf(sum.getType()));
  Value count = node.size(dfg::DimExpr::floorDiv(all, left), type);
  return node.done(
      {node.formula("select(less(a,0),neg(floordiv(abs(a),b)),floordiv(abs(a),b))", {sum, count})});
}

static Outcome buildNorm(NodeBuilder &node, const OpRule &) {
  auto attributes = reductionAttributes(node);
  if (!attributes)
    return Outcome::Failed;
  Value squares = node.op("square", node.in(0));
  return node.done({node.op("sqrt", node.op("sum", squares, *attributes))});
}

/// `argument` is the dfg operation.
static Outcome buildScan(NodeBuilder &node, const OpRule &rule) {
  std::optional<int64_t> axis = node.integer(1);
  if (!axis)
    return Outcome::Failed;
  return node.done(
      {node.op(rule.argument, node.in(0),
               {node.intAttr("axis", *axis), node.boolAttr("exclusive", node.flag("exclusive")),
                node.boolAttr("reverse", node.flag("reverse"))})});
}

static Outcome buildL2Loss(NodeBuilder &node, const OpRule &) {
  Value sum = node.op("sum", node.op("square", node.in(0)));
  return node.done({node.formula("mul(a,0.5)", sum)});
}

static constexpr OpRule kRules[] = {
    {"Sum", buildReduction, "sum"},   {"Mean", buildMean, "mean"},
    {"Prod", buildReduction, "prod"}, {"Max", buildReduction, "max"},
    {"Min", buildReduction, "min"},   {"All", buildReduction, "all"},
    {"Any", buildReduction, "any"},   {"EuclideanNorm", buildNorm},
    {"Cumsum", buildScan, "cumsum"},  {"Cumprod", buildScan, "cumprod"},
    {"L2Loss", buildL2Loss},
};

ArrayRef<OpRule> reductionRules() { return kRules; }

} // namespace tfc::tensorflow
