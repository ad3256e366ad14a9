// Variables, accessed by reference or by handle, and the updates of optimizers.

#include "frontend/importer/LibraryCall.h"
#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

std::string variableName(const Node &node) {
  const std::string &shared = node.attr("shared_name").text;
  return shared.empty() ? node.name : shared;
}

static Outcome buildVariable(NodeBuilder &node, const OpRule &) {
  Type element = node.dtype("dtype");
  const PartialShape &shape = node.node.attr("shape").shape;
  if (!element)
    return Outcome::Failed;
  if (!shape.isStatic())
    return node.fail("expected a variable of known sizes [dynamic-shape]");
  std::string name = variableName(node.node);
  if (!node.entry.symbols.claim<dfg::VariableOp>(name))
    return node.fail("the name '{}' is already in use [graph-file]", name);
  auto type = RankedTensorType::get(shape.sizes, element);
  auto [known, isNew] = node.entry.symbols.variables.try_emplace(name, type);
  if (isNew)
    node.builder().getResources().createVariable(name, type, /*isFrozen=*/false, "",
                                                 node.location());
  else if (known->second != type)
    return node.fail("variable '{}' is {} elsewhere, but {} here [assign-type]", name,
                     dfg::toText(known->second), dfg::toText(type));
  return node.done();
}

/// Returns the variable that input `i` refers to.
static const Node *variableAt(NodeBuilder &node, unsigned i) {
  std::optional<unsigned> resource = node.handle(i);
  if (!resource)
    return nullptr;
  const Node &variable = node.entry.graph.nodes[*resource];
  if (node.entry.symbols.variables.count(variableName(variable)))
    return &variable;
  node.error() << "its input " << i << " does not lead to a variable [graph-edge]";
  return nullptr;
}

static Outcome buildRead(NodeBuilder &node, const OpRule &) {
  const Node *variable = variableAt(node, 0);
  return variable ? node.done({node.readVariable(*variable)}) : Outcome::Failed;
}

static NodeValue assign(NodeBuilder &node, const Node &variable, NodeValue given) {
  Value value = node.valueOf(given);
  if (!value)
    return {};
  std::string name = variableName(variable);
  RankedTensorType type = node.entry.symbols.variables[name];
  if (type != value.getType()) {
    node.error() << "variable '" << name << "' is " << dfg::toText(type) << ", but it is assigned "
                 << dfg::toText(value.getType()) << " [assign-type]";
    return {};
  }
  return node.record(
      [&] { return node.builder().getResources().assign(name, value, node.location()); });
}

/// Operations on references return the new value; those on handles return nothing.
static Outcome doneWith(NodeBuilder &node, const OpRule &rule, NodeValue value) {
  if (!value)
    return Outcome::Failed;
  return rule.signature.outputs.least > 0 ? node.done({value}) : node.done();
}

/// `argument` names the dfg operation that combines the old value and the operand; if empty, the
/// operand is the new value.
static Outcome buildAssign(NodeBuilder &node, const OpRule &rule) {
  const Node *variable = variableAt(node, 0);
  if (!variable)
    return Outcome::Failed;
  if (rule.argument.empty())
    return doneWith(node, rule, assign(node, *variable, node.in(1)));
  NodeValue old = node.readVariable(*variable), value = node.in(1);
  return doneWith(node, rule, assign(node, *variable, node.op(rule.argument, {old, value})));
}

/// `argument` names a function in graph source that computes new values from the values of `count`
/// variables, which are the first inputs, and from the other inputs.
template <unsigned count> static Outcome buildUpdate(NodeBuilder &node, const OpRule &rule) {
  SmallVector<const Node *> variables;
  SmallVector<NodeValue> values;
  for (unsigned i = 0; i < count; ++i) {
    variables.push_back(variableAt(node, i));
    if (!variables.back())
      return Outcome::Failed;
    values.push_back(node.readVariable(*variables.back()));
  }
  llvm::append_range(values, node.allInputs(count));
  auto updated = LibraryCall(node, node.entry.functions).on(rule.argument, values);
  if (!updated)
    return Outcome::Failed;
  for (auto [variable, value] : zip(variables, *updated))
    if (value = assign(node, *variable, value); !value)
      return Outcome::Failed;
  return doneWith(node, rule, updated->front());
}

/// `argument` names the dfg operation.
static Outcome buildScatter(NodeBuilder &node, const OpRule &rule) {
  const Node *variable = variableAt(node, 0);
  NodeValue indices = variable ? node.in(1) : NodeValue(),
            updates = variable ? node.in(2) : NodeValue();
  if (!indices || !updates)
    return Outcome::Failed;
  if (rule.flags & OpRule::Subtracts)
    updates = node.op("neg", updates);
  NodeValue old = node.readVariable(*variable);
  // Broadcasts the update to one row per index: it may be a scalar, and indices may have several
  // axes.
  if (!old)
    return Outcome::Failed;
  dfg::Shape rows = dfg::shapeOf(old.getType()), shape = dfg::shapeOf(indices.getType());
  if (rows.empty())
    return node.fail("expected a variable with rows, but got a scalar [graph-edge]");
  dfg::DimExpr number = dfg::elementCount(shape);
  shape.append(rows.begin() + 1, rows.end());
  updates = node.broadcast(updates, shape);
  rows.front() = number;
  updates = node.reshape(updates, rows);
  return doneWith(node, rule,
                  assign(node, *variable,
                         node.op(rule.argument, {old, node.reshape(indices, number), updates})));
}

static Outcome buildTrue(NodeBuilder &node, const OpRule &) {
  return node.done({node.scalar(1, IntegerType::get(node.context(), 1))});
}

static constexpr OpRule kRules[] = {
    {"Variable", "0 -> 1; shape:shape, dtype:type, shared_name:string?", buildVariable, "",
     OpRule::Handle | OpRule::Declares},
    {"VariableV2", "0 -> 1; shape:shape, dtype:type, shared_name:string?", buildVariable, "",
     OpRule::Handle | OpRule::Declares},
    {"VarHandleOp", "0 -> 1; shape:shape, dtype:type, shared_name:string?", buildVariable, "",
     OpRule::Handle | OpRule::Declares},
    {"ReadVariableOp", "1 -> 1", buildRead, "", OpRule::Effect},
    {"IsVariableInitialized", "1 -> 1", buildTrue},
    {"VarIsInitializedOp", "1 -> 1", buildTrue},
    {"Assign", "2 -> 1", buildAssign, "", OpRule::Effect},
    {"AssignAdd", "2 -> 1", buildAssign, "add", OpRule::Effect},
    {"AssignSub", "2 -> 1", buildAssign, "sub", OpRule::Effect},
    {"AssignVariableOp", "2 -> 0", buildAssign, "", OpRule::Effect},
    {"AssignAddVariableOp", "2 -> 0", buildAssign, "add", OpRule::Effect},
    {"AssignSubVariableOp", "2 -> 0", buildAssign, "sub", OpRule::Effect},
    {"ApplyGradientDescent", "3 -> 1", buildUpdate<1>, "_descent", OpRule::Effect},
    {"ResourceApplyGradientDescent", "3 -> 0", buildUpdate<1>, "_descent", OpRule::Effect},
    {"ApplyMomentum", "5 -> 1; use_nesterov:bool?", buildUpdate<2>, "_momentum", OpRule::Effect},
    {"ResourceApplyMomentum", "5 -> 0; use_nesterov:bool?", buildUpdate<2>, "_momentum",
     OpRule::Effect},
    {"ApplyAdam", "10 -> 1; use_nesterov:bool?", buildUpdate<3>, "_adam", OpRule::Effect},
    {"ResourceApplyAdam", "10 -> 0; use_nesterov:bool?", buildUpdate<3>, "_adam", OpRule::Effect},
    {"ApplyAdagrad", "4 -> 1", buildUpdate<2>, "_adagrad", OpRule::Effect},
    {"ResourceApplyAdagrad", "4 -> 0", buildUpdate<2>, "_adagrad", OpRule::Effect},
    {"ApplyAdagradV2", "5 -> 1", buildUpdate<2>, "_adagrad_v2", OpRule::Effect},
    {"ResourceApplyAdagradV2", "5 -> 0", buildUpdate<2>, "_adagrad_v2", OpRule::Effect},
    {"ApplyRMSProp", "8 -> 1", buildUpdate<3>, "_rms_prop", OpRule::Effect},
    {"ResourceApplyRMSProp", "8 -> 0", buildUpdate<3>, "_rms_prop", OpRule::Effect},
    {"ApplyAdadelta", "7 -> 1", buildUpdate<3>, "_adadelta", OpRule::Effect},
    {"ResourceApplyAdadelta", "7 -> 0", buildUpdate<3>, "_adadelta", OpRule::Effect},
    {"ScatterAdd", "3 -> 1", buildScatter, "scatter_add", OpRule::Effect},
    {"ScatterSub", "3 -> 1", buildScatter, "scatter_add", OpRule::Effect | OpRule::Subtracts},
    {"ScatterUpdate", "3 -> 1", buildScatter, "scatter_update", OpRule::Effect},
    {"ResourceScatterAdd", "3 -> 0", buildScatter, "scatter_add", OpRule::Effect},
    {"ResourceScatterSub", "3 -> 0", buildScatter, "scatter_add",
     OpRule::Effect | OpRule::Subtracts},
    {"ResourceScatterUpdate", "3 -> 0", buildScatter, "scatter_update", OpRule::Effect},
};

ArrayRef<OpRule> stateRules() { return kRules; }

} // namespace tfc::tensorflow
