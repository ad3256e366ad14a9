// The updates of optimizers, of whole variables and of some of their rows, and other updates that
// are functions in graph source.

#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// Returns the variables that the first `count` inputs refer to, or none after an error.
static SmallVector<const Node *> variablesOf(NodeBuilder &node, unsigned count) {
  SmallVector<const Node *> variables;
  for (unsigned i = 0; i < count; ++i)
    variables.push_back(node.variable(i));
  if (llvm::is_contained(variables, nullptr))
    variables.clear();
  return variables;
}

/// `argument` names a function in graph source that computes new values from the values of `count`
/// variables, which are the first inputs, and from the other inputs.
template <unsigned count> static Outcome buildUpdate(NodeBuilder &node, const OpRule &rule) {
  SmallVector<const Node *> variables = variablesOf(node, count);
  if (variables.empty())
    return Outcome::Failed;
  SmallVector<NodeValue> values;
  for (const Node *variable : variables)
    values.push_back(node.readVariable(*variable));
  llvm::append_range(values, node.allInputs(count));
  auto updated = node.library().on(rule.argument, values);
  if (!updated)
    return Outcome::Failed;
  for (auto [variable, value] : zip(variables, *updated))
    if (value = node.assign(*variable, value); !value)
      return Outcome::Failed;
  return node.doneWithUpdate(rule, updated->front());
}

/// Returns true if an input is the first result of a `Unique`, in which no element is repeated.
static bool isDistinct(NodeBuilder &node, unsigned input) {
  std::optional<Edge> edge = node.edge(input);
  const auto &nodes = node.entry.graph.nodes;
  for (size_t step = 0; edge && !node.entry.isFed(*edge) && step < nodes.size(); ++step) {
    const Node &producer = nodes[edge->node];
    if (!hasFlag(producer.op, OpRule::Passes))
      return edge->output == 0 && StringRef(producer.op).starts_with("Unique");
    edge = producer.inputs.first();
  }
  return false;
}

/// Like `buildUpdate`, for the rows at the indices that are input `at`. Each row is updated once,
/// so no index may be repeated.
template <unsigned count, unsigned at>
static Outcome buildRows(NodeBuilder &node, const OpRule &rule) {
  SmallVector<const Node *> variables = variablesOf(node, count);
  NodeValue indices = variables.empty() ? NodeValue() : node.in(at);
  if (!indices)
    return Outcome::Failed;
  if (dfg::shapeOf(indices.getType()).size() != 1)
    return node.fail("expected a vector of indices, but got {} [operand]",
                     dfg::toText(indices.getType()));
  if (!isDistinct(node, at))
    indices = node.library().compute("_distinct", {indices});
  SmallVector<NodeValue> values, rows;
  for (const Node *variable : variables) {
    values.push_back(node.readVariable(*variable));
    rows.push_back(node.op("gather", {values.back(), indices}, node.attrs.integer("axis", 0)));
  }
  for (unsigned i = count; i < node.numInputs(); ++i)
    if (i != at)
      rows.push_back(node.in(i));
  auto updated = node.library().on(rule.argument, rows);
  if (!updated)
    return Outcome::Failed;
  for (auto [variable, value, changed] : zip(variables, values, *updated)) {
    value = node.assign(*variable, node.op("scatter_update", {value, indices, changed}));
    if (!value)
      return Outcome::Failed;
  }
  return node.doneWithUpdate(rule, values.front());
}

static constexpr OpRule kRules[] = {
    {"ApplyGradientDescent", "3 -> 1", buildUpdate<1>, "_descent", OpRule::Effect},
    {"ResourceApplyGradientDescent", "3 -> 0", buildUpdate<1>, "_descent", OpRule::Effect},
    {"ApplyMomentum", "5 -> 1; use_nesterov:bool?", buildUpdate<2>, "_momentum", OpRule::Effect},
    {"ResourceApplyMomentum", "5 -> 0; use_nesterov:bool?", buildUpdate<2>, "_momentum",
     OpRule::Effect},
    {"ApplyAdam", "10 -> 1; use_nesterov:bool?", buildUpdate<3>, "_adam", OpRule::Effect},
    {"ResourceApplyAdam", "10 -> 0; use_nesterov:bool?", buildUpdate<3>, "_adam", OpRule::Effect},
    {"ApplyAdaMax", "9 -> 1", buildUpdate<3>, "_ada_max", OpRule::Effect},
    {"ResourceApplyAdaMax", "9 -> 0", buildUpdate<3>, "_ada_max", OpRule::Effect},
    {"ApplyAdagrad", "4 -> 1; update_slots:bool?", buildUpdate<2>, "_adagrad", OpRule::Effect},
    {"ResourceApplyAdagrad", "4 -> 0; update_slots:bool?", buildUpdate<2>, "_adagrad",
     OpRule::Effect},
    {"ApplyAdagradV2", "5 -> 1; update_slots:bool?", buildUpdate<2>, "_adagrad_v2", OpRule::Effect},
    {"ResourceApplyAdagradV2", "5 -> 0; update_slots:bool?", buildUpdate<2>, "_adagrad_v2",
     OpRule::Effect},
    {"ApplyAdagradDA", "8 -> 1", buildUpdate<3>, "_adagrad_da", OpRule::Effect},
    {"ResourceApplyAdagradDA", "8 -> 0", buildUpdate<3>, "_adagrad_da", OpRule::Effect},
    {"ApplyRMSProp", "8 -> 1", buildUpdate<3>, "_rms_prop", OpRule::Effect},
    {"ResourceApplyRMSProp", "8 -> 0", buildUpdate<3>, "_rms_prop", OpRule::Effect},
    {"ApplyCenteredRMSProp", "9 -> 1", buildUpdate<4>, "_centered_rms_prop", OpRule::Effect},
    {"ResourceApplyCenteredRMSProp", "9 -> 0", buildUpdate<4>, "_centered_rms_prop",
     OpRule::Effect},
    {"ApplyAdadelta", "7 -> 1", buildUpdate<3>, "_adadelta", OpRule::Effect},
    {"ResourceApplyAdadelta", "7 -> 0", buildUpdate<3>, "_adadelta", OpRule::Effect},
    {"ApplyFtrl", "8 -> 1; multiply_linear_by_lr:bool?", buildUpdate<3>, "_ftrl", OpRule::Effect},
    {"ResourceApplyFtrl", "8 -> 0; multiply_linear_by_lr:bool?", buildUpdate<3>, "_ftrl",
     OpRule::Effect},
    {"ApplyFtrlV2", "9 -> 1; multiply_linear_by_lr:bool?", buildUpdate<3>, "_ftrl_v2",
     OpRule::Effect},
    {"ResourceApplyFtrlV2", "9 -> 0; multiply_linear_by_lr:bool?", buildUpdate<3>, "_ftrl_v2",
     OpRule::Effect},
    {"ApplyProximalGradientDescent", "5 -> 1", buildUpdate<1>, "_proximal_descent", OpRule::Effect},
    {"ResourceApplyProximalGradientDescent", "5 -> 0", buildUpdate<1>, "_proximal_descent",
     OpRule::Effect},
    {"ApplyProximalAdagrad", "6 -> 1", buildUpdate<2>, "_proximal_adagrad", OpRule::Effect},
    {"ResourceApplyProximalAdagrad", "6 -> 0", buildUpdate<2>, "_proximal_adagrad", OpRule::Effect},
    {"ApplyAddSign", "7 -> 1", buildUpdate<2>, "_add_sign", OpRule::Effect},
    {"ResourceApplyAddSign", "7 -> 0", buildUpdate<2>, "_add_sign", OpRule::Effect},
    {"ApplyPowerSign", "7 -> 1", buildUpdate<2>, "_power_sign", OpRule::Effect},
    {"ResourceApplyPowerSign", "7 -> 0", buildUpdate<2>, "_power_sign", OpRule::Effect},
    {"ResourceApplyAdamWithAmsgrad", "11 -> 0", buildUpdate<4>, "_adam_with_amsgrad",
     OpRule::Effect},
    {"ResourceApplyKerasMomentum", "5 -> 0; use_nesterov:bool?", buildUpdate<2>, "_keras_momentum",
     OpRule::Effect},
    {"SparseApplyMomentum", "6 -> 1; use_nesterov:bool?", buildRows<2, 4>, "_momentum",
     OpRule::Effect},
    {"ResourceSparseApplyMomentum", "6 -> 0; use_nesterov:bool?", buildRows<2, 4>, "_momentum",
     OpRule::Effect},
    {"SparseApplyAdagrad", "5 -> 1; update_slots:bool?", buildRows<2, 4>, "_adagrad",
     OpRule::Effect},
    {"ResourceSparseApplyAdagrad", "5 -> 0; update_slots:bool?", buildRows<2, 4>, "_adagrad",
     OpRule::Effect},
    {"SparseApplyAdagradV2", "6 -> 1; update_slots:bool?", buildRows<2, 5>, "_adagrad_v2",
     OpRule::Effect},
    {"ResourceSparseApplyAdagradV2", "6 -> 0; update_slots:bool?", buildRows<2, 5>, "_adagrad_v2",
     OpRule::Effect},
    {"SparseApplyAdagradDA", "9 -> 1", buildRows<3, 4>, "_adagrad_da", OpRule::Effect},
    {"ResourceSparseApplyAdagradDA", "9 -> 0", buildRows<3, 4>, "_adagrad_da", OpRule::Effect},
    {"SparseApplyRMSProp", "9 -> 1", buildRows<3, 8>, "_rms_prop", OpRule::Effect},
    {"ResourceSparseApplyRMSProp", "9 -> 0", buildRows<3, 8>, "_rms_prop", OpRule::Effect},
    {"SparseApplyCenteredRMSProp", "10 -> 1", buildRows<4, 9>, "_centered_rms_prop",
     OpRule::Effect},
    {"ResourceSparseApplyCenteredRMSProp", "10 -> 0", buildRows<4, 9>, "_centered_rms_prop",
     OpRule::Effect},
    {"SparseApplyAdadelta", "8 -> 1", buildRows<3, 7>, "_adadelta", OpRule::Effect},
    {"ResourceSparseApplyAdadelta", "8 -> 0", buildRows<3, 7>, "_adadelta", OpRule::Effect},
    {"SparseApplyFtrl", "9 -> 1; multiply_linear_by_lr:bool?", buildRows<3, 4>, "_ftrl",
     OpRule::Effect},
    {"ResourceSparseApplyFtrl", "9 -> 0; multiply_linear_by_lr:bool?", buildRows<3, 4>, "_ftrl",
     OpRule::Effect},
    {"SparseApplyFtrlV2", "10 -> 1; multiply_linear_by_lr:bool?", buildRows<3, 4>, "_ftrl_v2",
     OpRule::Effect},
    {"ResourceSparseApplyFtrlV2", "10 -> 0; multiply_linear_by_lr:bool?", buildRows<3, 4>,
     "_ftrl_v2", OpRule::Effect},
    {"SparseApplyProximalGradientDescent", "6 -> 1", buildRows<1, 5>, "_proximal_descent",
     OpRule::Effect},
    {"ResourceSparseApplyProximalGradientDescent", "6 -> 0", buildRows<1, 5>, "_proximal_descent",
     OpRule::Effect},
    {"SparseApplyProximalAdagrad", "7 -> 1", buildRows<2, 6>, "_proximal_adagrad", OpRule::Effect},
    {"ResourceSparseApplyProximalAdagrad", "7 -> 0", buildRows<2, 6>, "_proximal_adagrad",
     OpRule::Effect},
    {"ResourceSparseApplyKerasMomentum", "6 -> 0; use_nesterov:bool?", buildRows<2, 4>,
     "_keras_momentum", OpRule::Effect},
    {"ScatterMul", "3 -> 1", buildUpdate<1>, "_scatter_mul", OpRule::Effect},
    {"ResourceScatterMul", "3 -> 0", buildUpdate<1>, "_scatter_mul", OpRule::Effect},
    {"ScatterDiv", "3 -> 1", buildUpdate<1>, "_scatter_div", OpRule::Effect},
    {"ResourceScatterDiv", "3 -> 0", buildUpdate<1>, "_scatter_div", OpRule::Effect},
    {"ScatterMin", "3 -> 1", buildUpdate<1>, "_scatter_min", OpRule::Effect},
    {"ResourceScatterMin", "3 -> 0", buildUpdate<1>, "_scatter_min", OpRule::Effect},
    {"ScatterMax", "3 -> 1", buildUpdate<1>, "_scatter_max", OpRule::Effect},
    {"ResourceScatterMax", "3 -> 0", buildUpdate<1>, "_scatter_max", OpRule::Effect},
    {"ScatterNdAdd", "3 -> 1", buildUpdate<1>, "_scatter_nd_add", OpRule::Effect},
    {"ResourceScatterNdAdd", "3 -> 0", buildUpdate<1>, "_scatter_nd_add", OpRule::Effect},
    {"ScatterNdSub", "3 -> 1", buildUpdate<1>, "_scatter_nd_sub", OpRule::Effect},
    {"ResourceScatterNdSub", "3 -> 0", buildUpdate<1>, "_scatter_nd_sub", OpRule::Effect},
    {"ScatterNdUpdate", "3 -> 1", buildUpdate<1>, "_scatter_nd_update", OpRule::Effect},
    {"ResourceScatterNdUpdate", "3 -> 0", buildUpdate<1>, "_scatter_nd_update", OpRule::Effect},
    {"ScatterNdMax", "3 -> 1", buildUpdate<1>, "_scatter_nd_max", OpRule::Effect},
    {"ResourceScatterNdMax", "3 -> 0", buildUpdate<1>, "_scatter_nd_max", OpRule::Effect},
    {"ScatterNdMin", "3 -> 1", buildUpdate<1>, "_scatter_nd_min", OpRule::Effect},
    {"ResourceScatterNdMin", "3 -> 0", buildUpdate<1>, "_scatter_nd_min", OpRule::Effect},
};

ArrayRef<OpRule> updateRules() { return kRules; }

} // namespace tfc::tensorflow
