// Implements the rules of reductions and scans. In TensorFlow an empty list of axes means that
// nothing is reduced.

#include "frontend/importer/CommonRules.h"
#include "frontend/importer/LibraryCall.h"
#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// Returns the axes as an attribute; an empty list in TensorFlow means that nothing is reduced.
static std::optional<SmallVector<NamedAttribute>> reductionAttributes(NodeBuilder &node) {
  std::optional<SmallVector<int64_t>> axes = node.ints(1);
  if (!axes)
    return std::nullopt;
  bool keeps = node.flag("keep_dims") || node.flag("keepdims");
  return SmallVector<NamedAttribute>{node.attrs.integers("axis", *axes),
                                     node.attrs.flag("keep_dims", keeps)};
}

/// `argument` names the dfg operation.
static Outcome buildReduction(NodeBuilder &node, const OpRule &rule) {
  auto attributes = reductionAttributes(node);
  NodeValue x = attributes ? node.in(0) : NodeValue();
  if (!x)
    return Outcome::Failed;
  // No axis is reduced.
  if (cast<DenseI64ArrayAttr>(attributes->front().getValue()).empty())
    return node.done({x});
  return node.done({node.op(rule.argument, x, *attributes)});
}

/// Means of integers are truncated quotients of sums of 64 bits.
static Outcome buildMean(NodeBuilder &node, const OpRule &rule) {
  NodeValue x = node.in(0);
  if (!x || isa<FloatType>(dfg::elementTypeOf(x.getType())))
    return buildReduction(node, rule);
  auto attributes = reductionAttributes(node);
  if (!attributes)
    return Outcome::Failed;
  Type own = dfg::elementTypeOf(x.getType());
  Type type = own.getIntOrFloatBitWidth() < 64 ? IntegerType::get(node.context(), 64) : own;
  NodeValue sum = node.op("sum", node.cast(x, type), *attributes);
  if (!sum)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(x.getType()), reduced;
  auto axes = cast<DenseI64ArrayAttr>(attributes->front().getValue());
  for (int64_t axis : axes.asArrayRef())
    if (auto place = dfg::normalizeAxis(axis, shape.size()))
      reduced.push_back(shape[*place]);
  NodeValue count = node.size(dfg::elementCount(reduced), type);
  NodeValue mean = LibraryCall(node, node.entry.functions).compute("TruncateDiv", {sum, count});
  return node.done({node.cast(mean, own)});
}

static Outcome buildNorm(NodeBuilder &node, const OpRule &) {
  auto attributes = reductionAttributes(node);
  if (!attributes)
    return Outcome::Failed;
  NodeValue squares = node.op("square", node.in(0));
  return node.done({node.op("sqrt", node.op("sum", squares, *attributes))});
}

static Outcome buildL2Loss(NodeBuilder &node, const OpRule &) {
  NodeValue sum = node.op("sum", node.op("square", node.in(0)));
  if (!sum)
    return Outcome::Failed;
  return node.done({node.op("mul", {sum, node.scalar(0.5, dfg::elementTypeOf(sum.getType()))})});
}

static constexpr OpRule kRules[] = {
    {"Sum", "2 -> 1; keep_dims:bool?", buildReduction, "sum", OpRule::Planes},
    {"Mean", "2 -> 1; keep_dims:bool?", buildMean, "mean", OpRule::Planes},
    {"Prod", "2 -> 1; keep_dims:bool?", buildReduction, "prod"},
    {"Max", "2 -> 1; keep_dims:bool?", buildReduction, "max"},
    {"Min", "2 -> 1; keep_dims:bool?", buildReduction, "min"},
    {"All", "2 -> 1; keep_dims:bool?", buildReduction, "all"},
    {"Any", "2 -> 1; keep_dims:bool?", buildReduction, "any"},
    {"EuclideanNorm", "2 -> 1; keep_dims:bool?", buildNorm},
    {"Cumsum", "2 -> 1; exclusive:bool?, reverse:bool?", buildScan, "cumsum", OpRule::Planes},
    {"Cumprod", "2 -> 1; exclusive:bool?, reverse:bool?", buildScan, "cumprod"},
    {"L2Loss", "1 -> 1", buildL2Loss},
};

ArrayRef<OpRule> reductionRules() { return kRules; }

} // namespace tfc::tensorflow
