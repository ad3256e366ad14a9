// Implements the rules of softmax, its losses and biases. TensorFlow's losses also return their
// gradients.

#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

/// `argument` names the dfg operation.
static Outcome buildSoftmax(NodeBuilder &node, const OpRule &rule) {
  return node.done({node.op(rule.argument, node.in(0), node.attrs.integer("axis", -1))});
}

/// Returns the loss of each row and its gradient with respect to the logits.
static Outcome buildSoftmaxLoss(NodeBuilder &node, const OpRule &) {
  NodeValue logits = node.in(0), labels = node.in(1);
  if (!logits || !labels)
    return Outcome::Failed;
  auto shape = dfg::broadcastShapes(dfg::shapeOf(logits.getType()), dfg::shapeOf(labels.getType()));
  if (shape) {
    logits = node.broadcast(logits, *shape);
    labels = node.broadcast(labels, *shape);
  }
  NodeValue loss = node.op("softmax_cross_entropy", {logits, labels});
  NodeValue backward = node.op("sub", {node.op("softmax", logits), labels});
  return node.done({loss, backward});
}

static Outcome buildSparseLoss(NodeBuilder &node, const OpRule &) {
  NodeValue logits = node.in(0), labels = node.in(1);
  if (!logits || !labels)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(logits.getType());
  if (shape.empty())
    return node.fail("expected rows of logits, but got a scalar [graph-edge]");
  NodeValue loss = node.op("sparse_softmax_cross_entropy", {logits, labels});
  NodeValue chosen = node.op("one_hot", labels,
                             {node.attrs.sizes("depth", shape.back()),
                              node.attrs.type("dtype", dfg::elementTypeOf(logits.getType()))});
  return node.done({loss, node.op("sub", {node.op("softmax", logits), chosen})});
}

/// Adds along the last axis or, for "NCHW", the second one.
static Outcome buildBiasAdd(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0), bias = node.in(1);
  if (!x || !bias)
    return Outcome::Failed;
  if (node.hasChannelsFirst()) {
    size_t rank = dfg::shapeOf(x.getType()).size();
    if (rank < 2)
      return node.fail("expected channels, but got {} [graph-edge]", dfg::toText(x.getType()));
    dfg::Shape shape(rank - 1, DimExpr(1));
    shape.front() =
        dfg::shapeOf(bias.getType()).empty() ? DimExpr(1) : dfg::shapeOf(bias.getType())[0];
    bias = node.reshape(bias, shape);
  }
  return node.done({node.op("add", {x, bias})});
}

static Outcome buildBiasAddGrad(NodeBuilder &node, const OpRule &) {
  NodeValue g = node.in(0);
  if (!g)
    return Outcome::Failed;
  int64_t rank = dfg::shapeOf(g.getType()).size();
  int64_t channels = node.hasChannelsFirst() ? 1 : rank - 1;
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axis != channels)
      axes.push_back(axis);
  return node.done({axes.empty() ? g : node.op("sum", g, node.attrs.integers("axis", axes))});
}

static constexpr OpRule kRules[] = {
    {"Softmax", "1 -> 1", buildSoftmax, "softmax"},
    {"LogSoftmax", "1 -> 1", buildSoftmax, "log_softmax"},
    {"SoftmaxCrossEntropyWithLogits", "2 -> 2", buildSoftmaxLoss},
    {"SparseSoftmaxCrossEntropyWithLogits", "2 -> 2", buildSparseLoss},
    {"BiasAdd", "2 -> 1; data_format:string?", buildBiasAdd},
    {"BiasAddV1", "2 -> 1; data_format:string?", buildBiasAdd},
    {"BiasAddGrad", "1 -> 1; data_format:string?", buildBiasAddGrad},
};

ArrayRef<OpRule> neuralRules() { return kRules; }

} // namespace tfc::tensorflow
