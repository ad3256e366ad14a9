// Variables, accessed by reference or by handle.

#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

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
  const InitializedVariable *initial = node.entry.graph.findVariable(node.index);
  auto [known, isNew] = node.entry.symbols.variables.try_emplace(name, type);
  if (isNew && !(initial && initial->isConstant))
    node.builder().getResources().createVariable(name, type, initial && !initial->isTrainable, "",
                                                 node.location());
  if (known->second != type)
    return node.fail("variable '{}' is {} elsewhere, but {} here [assign-type]", name,
                     dfg::toText(known->second), dfg::toText(type));
  return node.done();
}

static Outcome buildRead(NodeBuilder &node, const OpRule &) {
  const Node *variable = node.variable(0);
  return variable ? node.done({node.readVariable(*variable)}) : Outcome::Failed;
}

/// `argument` names the dfg operation that combines the old value and the operand; if empty, the
/// operand is the new value.
static Outcome buildAssign(NodeBuilder &node, const OpRule &rule) {
  const Node *variable = node.variable(0);
  if (!variable)
    return Outcome::Failed;
  if (rule.argument.empty())
    return node.doneWithUpdate(rule, node.assign(*variable, node.in(1)));
  NodeValue old = node.readVariable(*variable), value = node.in(1);
  return node.doneWithUpdate(rule, node.assign(*variable, node.op(rule.argument, {old, value})));
}

/// `argument` names the dfg operation.
static Outcome buildScatter(NodeBuilder &node, const OpRule &rule) {
  const Node *variable = node.variable(0);
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
  return node.doneWithUpdate(
      rule, node.assign(*variable,
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
    {"ReadVariableOp", "1 -> 1", buildRead, "", OpRule::Effect | OpRule::Reads},
    {"IsVariableInitialized", "1 -> 1", buildTrue},
    {"VarIsInitializedOp", "1 -> 1", buildTrue},
    {"Assign", "2 -> 1", buildAssign, "", OpRule::Effect},
    {"AssignAdd", "2 -> 1", buildAssign, "add", OpRule::Effect},
    {"AssignSub", "2 -> 1", buildAssign, "sub", OpRule::Effect},
    {"AssignVariableOp", "2 -> 0", buildAssign, "", OpRule::Effect},
    {"AssignAddVariableOp", "2 -> 0", buildAssign, "add", OpRule::Effect},
    {"AssignSubVariableOp", "2 -> 0", buildAssign, "sub", OpRule::Effect},
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
