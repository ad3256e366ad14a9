// Implements the rules of softmax, dropout and normalizations.

#include "frontend/onnx/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using dfg::DimExpr;

/// Applies `build` to `x` along an axis. Before version 13 it applies to all axes from that one on,
/// as if they were one.
static Outcome along(NodeBuilder &node, llvm::function_ref<NodeValue(NodeValue, int64_t)> build) {
  NodeValue x = node.in(0);
  bool isFlat = node.node.version < 13;
  auto axis = x ? node.axisOf(node.node.number("axis", isFlat ? 1 : -1),
                              std::max<int64_t>(rankOf(x), isFlat ? 2 : 1))
                : std::nullopt;
  if (!axis)
    return Outcome::Failed;
  if (!isFlat || *axis + 1 >= rankOf(x))
    return node.done({build(x, std::min<int64_t>(*axis, rankOf(x) - 1))});
  dfg::Shape shape = shapeOf(x);
  DimExpr rows = dfg::elementCount(ArrayRef(shape).take_front(*axis));
  DimExpr columns = dfg::elementCount(ArrayRef(shape).drop_front(*axis));
  NodeValue y = build(node.reshape(x, {rows, columns}), 1);
  return node.done({y ? node.reshape(y, shape) : y});
}

/// `argument` names the dfg operation.
static Outcome buildSoftmax(NodeBuilder &node, const OpRule &rule) {
  return along(node, [&](NodeValue x, int64_t axis) {
    return node.op(rule.argument, x, node.attrs.integer("axis", axis));
  });
}

/// 1 for the first of the largest elements, 0 for others.
static Outcome buildHardmax(NodeBuilder &node, const OpRule &) {
  return along(node, [&](NodeValue x, int64_t axis) {
    return node.library().compute("_hardmax", {x}, {{"along", dfg::Shape{DimExpr(axis)}}});
  });
}

/// Nothing is dropped in inference: the mask is true everywhere.
static Outcome buildDropout(NodeBuilder &node, const OpRule &rule) {
  NodeValue x = node.in(0);
  if (!x)
    return Outcome::Failed;
  if (node.hasInput(2)) {
    std::optional<int64_t> isTraining = node.integer(2);
    std::optional<SmallVector<double>> ratio = node.knownReals(1);
    bool dropsNothing = ratio && ratio->size() == 1 && ratio->front() == 0;
    if (!isTraining)
      return Outcome::Failed;
    if (*isTraining && !dropsNothing)
      return node.fail("tfc does not import the training mode of 'Dropout' [unsupported-node]");
  }
  // Before version 10 the mask has the type of the elements.
  Type type = rule.argument == "bool" ? IntegerType::get(node.context(), 1) : elementOf(x);
  if (node.node.outputs.size() < 2)
    return node.done({x});
  return node.done({x, node.filled(1, shapeOf(x), type)});
}

/// Outputs other than the first one are those of training; versions before 14 ignore them.
static Outcome buildBatchNorm(NodeBuilder &node, const OpRule &) {
  if (node.flag("training_mode")) {
    auto results = node.library().on("_batch_norm_training", node.allInputs());
    return results ? node.done(ArrayRef(*results).take_front(node.node.outputs.size()))
                   : Outcome::Failed;
  }
  return node.done({node.library().compute("_batch_norm", node.allInputs())});
}

/// Applies the graph of an attribute, if there is one, to a tensor.
static NodeValue modify(NodeBuilder &node, StringRef attr, NodeValue x) {
  if (!x || !node.node.has(attr))
    return x;
  auto results = node.buildGraph(attr, {x});
  return results && results->size() == 1 ? results->front() : NodeValue();
}

/// Attention whose scores and weights the model's own graphs modify.
static Outcome buildFlexAttention(NodeBuilder &node, const OpRule &) {
  NodeValue scores = node.library().compute("_flex_scores", {node.in(0), node.in(1)});
  scores = modify(node, "score_mod", scores);
  if (!scores)
    return Outcome::Failed;
  NodeValue weights = node.op("softmax", scores, node.attrs.integer("axis", -1));
  weights = modify(node, "prob_mod", weights);
  return weights ? node.done({node.library().compute("_flex_values", {weights, node.in(2)})})
                 : Outcome::Failed;
}

/// Inputs are the values that `xs` names: the gradients there are those of the graph. If `y` has
/// several elements, they are those of its sum.
static Outcome buildGradient(NodeBuilder &node, const OpRule &) {
  const std::vector<std::string> &xs = node.node.attr("xs").texts;
  if (ArrayRef(xs) != ArrayRef(node.node.inputs))
    return node.fail("expected the inputs to be the values in 'xs' [unsupported-node]");
  NodeValue y = node.named(node.node.attr("y").text);
  if (!y)
    return node.fail("no node before this one computes its 'y' [graph-edge]");
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(y)));
  Value total =
      node.valueOf(axes.empty() ? y : node.op("sum", y, node.attrs.integers("axis", axes)));
  SmallVector<Value> values = node.valuesOf(node.allInputs());
  if (!total || is_contained(values, Value()))
    return Outcome::Failed;
  Operation *gradients = node.builder().gradients(total, values, {}, node.location());
  return node.done(llvm::map_to_vector(gradients->getResults(), [](Value value) {
    return NodeValue(value, dfg::evaluateSizes(value));
  }));
}

static constexpr OpRule kRules[] = {
    {"Softmax", "1 -> 1; axis:int?", buildSoftmax, "softmax"},
    {"LogSoftmax", "1 -> 1; axis:int?", buildSoftmax, "log_softmax"},
    {"Hardmax", "1 -> 1; axis:int?", buildHardmax},
    {"Dropout", "1 -> 1-2; is_test:int?, ratio:float?", buildDropout},
    {"Dropout", "1 -> 1-2; ratio:float?", buildDropout, "bool", 10},
    {"Dropout", "1-3 -> 1-2; seed:int?", buildDropout, "bool", 12, Codes::Refused, "training mode"},
    {"BatchNormalization", "5 -> 1-5; epsilon:float?, momentum:float?, is_test:int?, spatial:int?",
     buildBatchNorm},
    {"BatchNormalization", "5 -> 1-3; epsilon:float?, momentum:float?, training_mode:int?",
     buildBatchNorm, "", 14},
    {"ai.onnx.preview.FlexAttention",
     "3 -> 1; scale:float?, softmax_precision:int?, score_mod:graph?, prob_mod:graph?",
     buildFlexAttention},
    {kGradientOp, "1+ -> 1+; xs:strings, y:string, zs:strings?", buildGradient, "", 1,
     Codes::Refused, "inputs other than those in `xs`"},
};

ArrayRef<OpRule> neuralRules() { return kRules; }

} // namespace tfc::onnx
