// Variables, by reference and by handle, and the updates of optimizers.

#include "frontend/tensorflow/Importer.h"

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
  if (!node.entry.symbols.claim(name, ModuleSymbols::Kind::Variable))
    return node.fail("expected the name '" + name + "' to be free [graph-file]");
  auto type = RankedTensorType::get(shape.sizes, element);
  auto [known, isNew] = node.entry.symbols.variables.try_emplace(name, type);
  if (isNew)
    node.builder().createVariable(name, type, /*isFrozen=*/false, "", node.location());
  else if (known->second != type)
    return node.fail("variable '" + name + "' is " + dfg::toText(known->second) +
                     " elsewhere, but " + dfg::toText(type) + " here [assign-type]");
  return node.done();
}

/// The variable that input `i` refers to.
static const Node *variableAt(NodeBuilder &node, unsigned i) {
  std::optional<unsigned> resource = node.handle(i);
  if (!resource)
    return nullptr;
  const Node &variable = node.entry.graph.nodes[*resource];
  if (node.entry.symbols.variables.count(variableName(variable)))
    return &variable;
  node.error() << "its input " << i << " leads to no variable [graph-edge]";
  return nullptr;
}

static Outcome buildRead(NodeBuilder &node, const OpRule &) {
  const Node *variable = variableAt(node, 0);
  return variable ? node.done({node.readVariable(*variable)}) : Outcome::Failed;
}

static Value assign(NodeBuilder &node, const Node &variable, Value value) {
  if (!value)
    return {};
  std::string name = variableName(variable);
  RankedTensorType type = node.entry.symbols.variables[name];
  if (type != value.getType()) {
    node.error() << "variable '" << name << "' is " << dfg::toText(type) << ", but it is assigned "
                 << dfg::toText(value.getType()) << " [assign-type]";
    return {};
  }
  return node.record([&] { return node.builder().assign(name, value, node.location()); });
}

/// References give the new value; handles give nothing.
static Outcome doneWith(NodeBuilder &node, Value value) {
  bool isReference = !StringRef(node.node.op).starts_with("Resource") &&
                     !StringRef(node.node.op).ends_with("VariableOp");
  if (!value)
    return Outcome::Failed;
  return isReference ? node.done({value}) : node.done();
}

/// `argument` is a formula of the old value, a, and the operands.
static Outcome buildAssign(NodeBuilder &node, const OpRule &rule) {
  const Node *variable = variableAt(node, 0);
  if (!variable)
    return Outcome::Failed;
  SmallVector<Value> values = node.allInputs(1);
  bool isRead = rule.argument != "b";
  values.insert(values.begin(), isRead           ? node.readVariable(*variable)
                                : values.empty() ? Value()
                                                 : values.front());
  return doneWith(node, assign(node, *variable, node.formula(rule.argument, values)));
}

/// `argument` is how many inputs are variables, and the new values of some as formulas, in order:
/// "2;b=add(mul(b,e),d);a=sub(a,mul(b,c))". Behind '|' stands what holds with `use_nesterov`.
static Outcome buildUpdate(NodeBuilder &node, const OpRule &rule) {
  auto [plain, nesterov] = rule.argument.split('|');
  StringRef steps = node.flag("use_nesterov") && !nesterov.empty() ? nesterov : plain;
  unsigned count = steps.front() - '0';
  SmallVector<const Node *> variables;
  SmallVector<Value> values;
  for (unsigned i = 0; i < count; ++i) {
    variables.push_back(variableAt(node, i));
    if (!variables.back())
      return Outcome::Failed;
    values.push_back(node.readVariable(*variables.back()));
  }
  llvm::append_range(values, node.allInputs(count));
  Value result;
  for (steps = steps.drop_front(2); !steps.empty();) {
    auto [step, rest] = steps.split(';');
    unsigned target = step.front() - 'a';
    Value value = node.formula(step.drop_front(2), values);
    if (target < count)
      value = assign(node, *variables[target], value);
    if (!value)
      return Outcome::Failed;
    if (target == 0)
      result = value;
    // Letters behind the inputs hold intermediate values.
    values.resize(std::max<size_t>(values.size(), target + 1), value);
    values[target] = value;
    steps = rest;
  }
  return doneWith(node, result);
}

/// `argument` is the dfg operation.
static Outcome buildScatter(NodeBuilder &node, const OpRule &rule) {
  const Node *variable = variableAt(node, 0);
  Value indices = variable ? node.in(1) : Value(), updates = variable ? node.in(2) : Value();
  if (!indices || !updates)
    return Outcome::Failed;
  bool isDifference = StringRef(node.node.op).ends_with("Sub");
  if (isDifference)
    updates = node.op("neg", updates);
  Value old = node.readVariable(*variable);
  // One row for each index, also where the update is a scalar or the indices have several axes.
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
  return doneWith(node,
                  assign(node, *variable,
                         node.op(rule.argument, {old, node.reshape(indices, number), updates})));
}

static Outcome buildTrue(NodeBuilder &node, const OpRule &) {
  return node.done({node.scalar(1, IntegerType::get(node.context(), 1))});
}

static constexpr StringLiteral kDescent = "1;a=sub(a,mul(b,c))";
static constexpr StringLiteral kMomentum =
    "2;b=add(mul(b,e),d);a=sub(a,mul(b,c))|"
    "2;b=add(mul(b,e),d);a=sub(a,add(mul(d,c),mul(mul(b,e),c)))";
// var m v beta1_power beta2_power lr beta1 beta2 epsilon grad; k is the step's rate.
static constexpr StringLiteral kAdam =
    "3;b=add(b,mul(sub(j,b),sub(1,g)));c=add(c,mul(sub(square(j),c),sub(1,h)));"
    "k=div(mul(f,sqrt(sub(1,e))),sub(1,d));a=sub(a,div(mul(k,b),add(sqrt(c),i)))|"
    "3;b=add(b,mul(sub(j,b),sub(1,g)));c=add(c,mul(sub(square(j),c),sub(1,h)));"
    "k=div(mul(f,sqrt(sub(1,e))),sub(1,d));"
    "a=sub(a,div(mul(k,add(mul(g,b),mul(sub(1,g),j))),add(sqrt(c),i)))";
static constexpr StringLiteral kAdagrad = "2;b=add(b,square(d));a=sub(a,div(mul(c,d),sqrt(b)))";
static constexpr StringLiteral kAdagradV2 =
    "2;b=add(b,square(e));a=sub(a,div(mul(c,e),add(sqrt(b),d)))";
// var ms mom lr rho momentum epsilon grad.
static constexpr StringLiteral kRmsProp =
    "3;b=add(b,mul(sub(square(h),b),sub(1,e)));c=add(mul(c,f),div(mul(d,h),sqrt(add(b,g))));"
    "a=sub(a,c)";
// var accum accum_update lr rho epsilon grad; h is the update.
static constexpr StringLiteral kAdadelta =
    "3;b=add(mul(b,e),mul(square(g),sub(1,e)));"
    "h=mul(div(sqrt(add(c,f)),sqrt(add(b,f))),g);"
    "c=add(mul(c,e),mul(square(h),sub(1,e)));a=sub(a,mul(h,d))";

static constexpr OpRule kRules[] = {
    {"Variable", "0 -> 1; shape:shape, dtype:type, shared_name:string?", buildVariable, "",
     OpRule::Handle},
    {"VariableV2", "0 -> 1; shape:shape, dtype:type, shared_name:string?", buildVariable, "",
     OpRule::Handle},
    {"VarHandleOp", "0 -> 1; shape:shape, dtype:type, shared_name:string?", buildVariable, "",
     OpRule::Handle},
    {"ReadVariableOp", "1 -> 1", buildRead, "", OpRule::Effect},
    {"IsVariableInitialized", "1 -> 1", buildTrue},
    {"VarIsInitializedOp", "1 -> 1", buildTrue},
    {"Assign", "2 -> 1", buildAssign, "b", OpRule::Effect},
    {"AssignAdd", "2 -> 1", buildAssign, "add(a,b)", OpRule::Effect},
    {"AssignSub", "2 -> 1", buildAssign, "sub(a,b)", OpRule::Effect},
    {"AssignVariableOp", "2 -> 0", buildAssign, "b", OpRule::Effect},
    {"AssignAddVariableOp", "2 -> 0", buildAssign, "add(a,b)", OpRule::Effect},
    {"AssignSubVariableOp", "2 -> 0", buildAssign, "sub(a,b)", OpRule::Effect},
    {"ApplyGradientDescent", "3 -> 1", buildUpdate, kDescent, OpRule::Effect},
    {"ResourceApplyGradientDescent", "3 -> 0", buildUpdate, kDescent, OpRule::Effect},
    {"ApplyMomentum", "5 -> 1; use_nesterov:bool?", buildUpdate, kMomentum, OpRule::Effect},
    {"ResourceApplyMomentum", "5 -> 0; use_nesterov:bool?", buildUpdate, kMomentum, OpRule::Effect},
    {"ApplyAdam", "10 -> 1; use_nesterov:bool?", buildUpdate, kAdam, OpRule::Effect},
    {"ResourceApplyAdam", "10 -> 0; use_nesterov:bool?", buildUpdate, kAdam, OpRule::Effect},
    {"ApplyAdagrad", "4 -> 1", buildUpdate, kAdagrad, OpRule::Effect},
    {"ResourceApplyAdagrad", "4 -> 0", buildUpdate, kAdagrad, OpRule::Effect},
    {"ApplyAdagradV2", "5 -> 1", buildUpdate, kAdagradV2, OpRule::Effect},
    {"ResourceApplyAdagradV2", "5 -> 0", buildUpdate, kAdagradV2, OpRule::Effect},
    {"ApplyRMSProp", "8 -> 1", buildUpdate, kRmsProp, OpRule::Effect},
    {"ResourceApplyRMSProp", "8 -> 0", buildUpdate, kRmsProp, OpRule::Effect},
    {"ApplyAdadelta", "7 -> 1", buildUpdate, kAdadelta, OpRule::Effect},
    {"ResourceApplyAdadelta", "7 -> 0", buildUpdate, kAdadelta, OpRule::Effect},
    {"ScatterAdd", "3 -> 1", buildScatter, "scatter_add", OpRule::Effect},
    {"ScatterSub", "3 -> 1", buildScatter, "scatter_add", OpRule::Effect},
    {"ScatterUpdate", "3 -> 1", buildScatter, "scatter_update", OpRule::Effect},
    {"ResourceScatterAdd", "3 -> 0", buildScatter, "scatter_add", OpRule::Effect},
    {"ResourceScatterSub", "3 -> 0", buildScatter, "scatter_add", OpRule::Effect},
    {"ResourceScatterUpdate", "3 -> 0", buildScatter, "scatter_update", OpRule::Effect},
};

ArrayRef<OpRule> stateRules() { return kRules; }

} // namespace tfc::tensorflow
