// Elaborates 'dataflow' blocks. Their names are declared before any statement runs, because
// statements may form cycles; other blocks run statement by statement.
#include "frontend/text/elaborate/DataflowBuilder.h"

#include "dialects/dfg/Devices.h"
#include "dialects/dfg/OpTable.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "frontend/text/Locations.h"
#include "frontend/text/Refusals.h"
#include "frontend/text/elaborate/BlockRunner.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/OperationBuilder.h"
#include "frontend/text/elaborate/RegionEditor.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/StatementRunner.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Names, bound when they are needed
//===----------------------------------------------------------------------===//

/// Collects the names that occur in an `after`.
static void collectTriggers(const ast::Expr *expr, StringSet<> &names) {
  if (const auto *call = dyn_cast_or_null<ast::CallExpr>(expr)) {
    for (const ast::Arg &arg : call->args) {
      collectTriggers(arg.value, names);
      const auto *list = dyn_cast<ast::ListExpr>(arg.value);
      for (const ast::Expr *element : list ? list->elements : ArrayRef(&arg.value, 1))
        if (const auto *name = dyn_cast<ast::NameExpr>(element); name && arg.label.text == "after")
          names.insert(name->name);
    }
  } else if (const auto *unary = dyn_cast_or_null<ast::UnaryExpr>(expr)) {
    collectTriggers(unary->operand, names);
  } else if (const auto *binary = dyn_cast_or_null<ast::BinaryExpr>(expr)) {
    collectTriggers(binary->lhs, names);
    collectTriggers(binary->rhs, names);
  } else if (const auto *index = dyn_cast_or_null<ast::IndexExpr>(expr)) {
    collectTriggers(index->base, names);
  }
}

void DataflowBuilder::declareBindings(DataflowScope &scope, const ast::Block &body) {
  for (const ast::Stmt *stmt : body.statements) {
    if (const auto *call = dyn_cast<ast::ExprStmt>(stmt))
      collectTriggers(call->expr, scope.triggers);
    if (const auto *yield = dyn_cast<ast::YieldStmt>(stmt))
      for (const ast::Expr *value : yield->values)
        collectTriggers(value, scope.triggers);
    const auto *bind = dyn_cast<ast::BindStmt>(stmt);
    if (!bind)
      continue;
    for (const ast::Expr *value : bind->values)
      collectTriggers(value, scope.triggers);
    for (const ast::Target &target : bind->targets) {
      if (target.name.isDiscard() || !target.name)
        continue;
      auto [it, isNew] = scope.bindings.try_emplace(target.name.text);
      if (isNew)
        it->second = {bind, DataflowScope::State::Pending, {}, target.name.range};
      else
        reporter
            .error(target.name.range, "duplicate-name",
                   "'{}' is bound twice, and in 'dataflow' order means nothing", target.name.text)
            .note(it->second.at, "first here");
    }
  }
}

/// The value of a name of a `dataflow` block around, bound now if it is not yet.
std::optional<Entity> DataflowBuilder::lookupDataflow(StringRef name, SourceRange at) {
  for (DataflowScope *scope = context.activation->dataflow; scope; scope = scope->outer) {
    auto it = scope->bindings.find(name);
    if (it == scope->bindings.end())
      continue;
    DataflowScope::Binding &binding = it->second;
    if (binding.state == DataflowScope::State::Running) {
      reportCycle(*scope, name, at);
      return Entity();
    }
    if (binding.state == DataflowScope::State::Pending)
      bindInDataflow(*scope, *binding.stmt);
    return binding.value;
  }
  return std::nullopt;
}

void DataflowBuilder::reportCycle(DataflowScope &scope, StringRef name, SourceRange at) {
  std::string chain;
  const ast::BindStmt *start = scope.bindings[name].stmt;
  for (const ast::BindStmt *running :
       ArrayRef(scope.running).drop_while([&](const auto *stmt) { return stmt != start; }))
    chain += (running == start ? name : running->targets.front().name.text).str() + " -> ";
  reporter.error(at, "dataflow-cycle", "'{}' depends on itself: {}{}", name, chain, name)
      .note(scope.bindings[name].at, "bound here")
      .help(
          "to use a value of the previous iteration, pass it through next_iteration into a merge");
}

/// Executes a binding of the block when it is first needed.
void DataflowBuilder::bindInDataflow(DataflowScope &scope, const ast::BindStmt &stmt) {
  auto ownBindings = [&](function_ref<void(DataflowScope::Binding &, StringRef)> visit) {
    for (const ast::Target &target : stmt.targets)
      if (auto it = scope.bindings.find(target.name.text);
          it != scope.bindings.end() && it->second.stmt == &stmt)
        visit(it->second, target.name.text);
  };
  scope.running.push_back(&stmt);
  ownBindings([](DataflowScope::Binding &binding, StringRef) {
    binding.state = DataflowScope::State::Running;
  });
  mlir::OpBuilder::InsertPoint inside = context.builder.position();
  StringMap<Local> locals = std::exchange(context.activation->locals, scope.locals);
  auto knownReads = std::move(context.entry.reads);
  context.entry.reads.clear();
  SmallVector<LoopContext *> outerLoops(context.entry.loops);
  context.entry.loops.resize(std::min<size_t>(context.entry.loops.size(), scope.loopDepth));
  SaveAndRestore<RunTimeBlock *> block(context.activation->block, scope.block);
  SaveAndRestore<DataflowScope *> current(context.activation->dataflow, &scope);
  context.builder.toEnd(*scope.body);
  SaveAndRestore<Placement> placement(context.placement, scope.placement);
  SmallVector<mlir::NamedAttribute> attributes(context.builder.getPlacement());
  context.builder.setPlacement(
      dfg::placementAttrs(context.mlir, scope.placement.device, scope.placement.with));
  statementRunner.execAnnotated(stmt, [&] { statementRunner.execBind(stmt); });
  context.builder.setPlacement(attributes);
  scope.running.pop_back();
  scope.ran.insert(&stmt);
  ownBindings([&](DataflowScope::Binding &binding, StringRef name) {
    binding.state = DataflowScope::State::Done;
    if (scope.triggers.contains(name))
      makeTrigger(scope, binding);
  });
  context.entry.loops = std::move(outerLoops);
  context.entry.reads = std::move(knownReads);
  context.activation->locals = std::move(locals);
  context.builder.restore(inside);
}

//===----------------------------------------------------------------------===//
// Control edges
//===----------------------------------------------------------------------===//

/// Moves an operation of the block into a node; names bound to its results are bound to the node's.
dfg::NodeOp DataflowBuilder::makeNode(DataflowScope &scope, mlir::Operation *op,
                                      ArrayRef<mlir::Value> after) {
  dfg::NodeOp node = context.builder.wrapInNode(op, after);
  auto replace = [&](Entity &entity) {
    const mlir::Value *value = entity.get<mlir::Value>();
    if (value && value->getDefiningOp() == op)
      entity = Entity(mlir::Value(node.getResult(cast<mlir::OpResult>(*value).getResultNumber())));
  };
  for (auto &binding : scope.bindings)
    replace(binding.second.value);
  for (mlir::Value result : node.getResults())
    scope.tokens[result] = node.getDone();
  return node;
}

void DataflowBuilder::makeTrigger(DataflowScope &scope, DataflowScope::Binding &binding) {
  const mlir::Value *value = binding.value.get<mlir::Value>();
  mlir::Operation *op = value ? value->getDefiningOp() : nullptr;
  if (op && op->getBlock() == scope.body && !scope.tokens.contains(*value))
    makeNode(scope, op, {});
}

/// `f(x, after: [a, b])`: the call runs after the operations that compute `a` and `b`.
Entity DataflowBuilder::callAfter(const ast::CallExpr &call) {
  DataflowScope &scope = *context.activation->dataflow;
  SmallVector<ast::Arg> args;
  SmallVector<mlir::Value> tokens;
  bool ok = true;
  for (const ast::Arg &arg : call.args) {
    if (arg.label.text != "after") {
      args.push_back(arg);
      continue;
    }
    const auto *list = dyn_cast<ast::ListExpr>(arg.value);
    for (const ast::Expr *element : list ? list->elements : ArrayRef(&arg.value, 1)) {
      Entity value = evaluator.eval(element);
      const mlir::Value *source = value.get<mlir::Value>();
      mlir::Value token = source ? scope.tokens.lookup(*source) : mlir::Value();
      if (!token && !value.isPoison())
        reporter.error(element->range, "control-edge",
                       "a control edge starts at a name that this block binds to the result of one "
                       "operation");
      ok &= bool(token);
      if (token && !is_contained(tokens, token))
        tokens.push_back(token);
    }
  }
  ast::CallExpr plain = call;
  plain.args = args;
  if (!ok)
    return Poison();
  Entity result = evaluator.eval(&plain);
  if (result.isPoison())
    return result;
  const mlir::Value *value = result.get<mlir::Value>();
  if (const Group *group = result.asGroup(); group && !group->elements.empty())
    value = group->elements.front().get<mlir::Value>();
  mlir::Operation *op = value ? value->getDefiningOp() : &context.builder.currentBlock()->back();
  if (!op || op->getBlock() != scope.body)
    return reporter.fail(call.range, "control-edge",
                         "a control edge ends at an operation of this block");
  dfg::NodeOp node = makeNode(scope, op, tokens);
  if (node.getNumResults() == 1)
    return Entity(Nothing{});
  if (result.is<mlir::Value>())
    return Entity(mlir::Value(node.getResult(0)));
  std::vector<Entity> values;
  for (size_t i = 0; i + 1 < node.getNumResults(); ++i)
    values.push_back(Entity(mlir::Value(node.getResult(i))));
  return Entity::group(std::move(values), result.asGroup()->names);
}

//===----------------------------------------------------------------------===//
// Merges
//===----------------------------------------------------------------------===//

/// Returns true if an input of a merge comes from the next iteration of the frame.
bool DataflowBuilder::isBackEdge(const ast::Expr *expr, unsigned depth) {
  if (const auto *call = dyn_cast<ast::CallExpr>(expr)) {
    const auto *callee = dyn_cast<ast::NameExpr>(call->callee);
    return callee && callee->name == "next_iteration";
  }
  const auto *name = dyn_cast<ast::NameExpr>(expr);
  auto it = name ? context.activation->dataflow->bindings.find(name->name)
                 : context.activation->dataflow->bindings.end();
  if (it == context.activation->dataflow->bindings.end() || depth > 100)
    return false;
  const ast::BindStmt &stmt = *it->second.stmt;
  return stmt.values.size() == 1 && stmt.targets.size() == 1 &&
         isBackEdge(stmt.values.front(), depth + 1);
}

/// Inputs of the next iteration are connected when all names are bound: until then the first input
/// is a placeholder that determines the type.
Entity DataflowBuilder::callMerge(const ast::CallExpr &call) {
  DataflowScope &scope = *context.activation->dataflow;
  std::vector<Entity> entities;
  SmallVector<SourceRange> places;
  mlir::Type preferred;
  SmallVector<const ast::Expr *> given;
  for (const ast::Arg &arg : call.args) {
    if (arg.label)
      return reporter.fail(arg.label.range, "unknown-argument",
                           "'merge' takes its inputs by position");
    if (const auto *list = dyn_cast<ast::ListExpr>(arg.value))
      given.append(list->elements.begin(), list->elements.end());
    else
      given.push_back(arg.value);
  }
  for (const ast::Expr *expr : given) {
    if (isBackEdge(expr, 0)) {
      entities.emplace_back(Nothing{});
    } else {
      entities.push_back(evaluator.eval(expr));
      if (!preferred)
        preferred = elementOf(entities.back());
    }
    places.push_back(expr->range);
    if (entities.back().isPoison())
      return Poison();
  }
  SmallVector<mlir::Value> inputs;
  mlir::Value standIn;
  for (auto [entity, at] : zip(entities, places)) {
    inputs.push_back(entity.is<Nothing>() ? mlir::Value()
                                          : tensorEmitter.toValue(entity, preferred, at));
    if (!inputs.back() && !entity.is<Nothing>())
      return Poison();
    if (!standIn)
      standIn = inputs.back();
    if (inputs.back() && inputs.back().getType() != standIn.getType())
      return reporter.fail(at, "merge-type", "'merge' joins values of one type, but got {} and {}",
                           dfg::toText(standIn.getType()), dfg::toText(inputs.back().getType()));
  }
  if (!standIn)
    return reporter.fail(call.range, "merge-type",
                         "'merge' needs an input that does not come from the next iteration");
  for (mlir::Value &input : inputs)
    if (!input)
      input = standIn;
  mlir::FailureOr<mlir::Operation *> op =
      context.builder.create("merge", inputs, {}, reporter.locate(call.range));
  if (mlir::failed(op))
    return Poison();
  for (auto [i, entity] : enumerate(entities))
    if (entity.is<Nothing>())
      scope.backEdges.push_back({*op, unsigned(i), given[i], places[i]});
  return operationBuilder.opResult(*dfg::lookupOp("merge"), *op);
}

bool DataflowBuilder::connectBackEdges(DataflowScope &scope) {
  bool ok = true;
  // Operations that an edge needs may contain further merges.
  for (size_t i = 0; i < scope.backEdges.size(); ++i) {
    DataflowScope::BackEdge edge = scope.backEdges[i];
    context.builder.toEnd(*scope.body);
    mlir::Type type = edge.merge->getResult(0).getType();
    mlir::Value next =
        tensorEmitter.toValue(evaluator.eval(edge.expr),
                              elementOf(Entity(mlir::Value(edge.merge->getResult(0)))), edge.at);
    if (next && next.getType() != type) {
      reporter
          .error(edge.at, "carried-type",
                 "the merge starts with {}, but the next iteration passes {}", dfg::toText(type),
                 dfg::toText(next.getType()))
          .note(toRange(edge.merge->getLoc(), context.sources), "the merge")
          .help("a value that a loop carries keeps one type");
      next = {};
    }
    ok &= bool(next);
    if (next)
      edge.merge->setOperand(edge.input, next);
  }
  return ok;
}

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

/// Operations that do not depend on the block are the same in all of its frames, so they are
/// computed before it.
static void hoistConstants(dfg::DataflowOp op) {
  dfg::RunTimeSizes sizes(op);
  auto isEdge = [](mlir::Operation &nested) {
    const dfg::OpSignature *signature = dfg::lookupOp(nested.getName().stripDialect());
    return isa<dfg::LoopCondOp>(nested) || !signature ||
           any_of(signature->operands, [](const dfg::OperandSignature &operand) {
             return operand.kind == dfg::OperandKind::Any;
           });
  };
  bool changes = true;
  while (changes) {
    changes = false;
    for (mlir::Operation &nested :
         make_early_inc_range(op.getBody().front().without_terminator())) {
      bool isFree =
          all_of(nested.getOperands(),
                 [&](mlir::Value operand) { return operand.getParentRegion() != &op.getBody(); }) &&
          !sizes.bindsAnyOf(&nested);
      if (!isFree || nested.getNumRegions() || isEdge(nested) || !mlir::isMemoryEffectFree(&nested))
        continue;
      nested.moveBefore(op);
      changes = true;
    }
  }
}

/// The name of a fetch in the message about its dead value: its text.
static std::string fetchName(StringRef text) {
  return text.size() <= 40 && !text.contains('\n') ? text.str() : "result";
}

Entity DataflowBuilder::evalDataflow(const ast::DataflowExpr &expr) {
  if (!tensorEmitter.requireEntry(expr.range))
    return Poison();
  dfg::DataflowOp op = context.builder.beginDataflow(reporter.locate(expr.range));
  mlir::OpBuilder::InsertPoint outside = context.builder.position();
  RunTimeBlock block;
  block.keyword = "dataflow";
  DataflowScope scope;
  scope.block = &block;
  scope.body = &op.getBody().front();
  scope.placement = context.placement;
  scope.loopDepth = context.entry.loops.size();
  scope.outer = context.activation->dataflow;
  declareBindings(scope, *expr.body);
  SmallVector<mlir::Value> values;
  std::vector<std::string> names;
  bool ok = blockRunner.runBlock(
      block, *scope.body, [&] { scope.locals = context.activation->locals; },
      [&] {
        SaveAndRestore<DataflowScope *> inner(context.activation->dataflow, &scope);
        for (const ast::Stmt *stmt : expr.body->statements) {
          const auto *bind = dyn_cast<ast::BindStmt>(stmt);
          if (!bind)
            statementRunner.exec(stmt);
          else if (!scope.ran.contains(bind))
            bindInDataflow(scope, *bind);
        }
        bool isConnected = connectBackEdges(scope);
        context.builder.toEnd(*scope.body);
        for (auto [value, at] : zip(block.values, block.valuesAt)) {
          values.push_back(tensorEmitter.toValue(value, {}, at));
          isConnected &= bool(values.back());
          names.push_back(fetchName(context.sources.text(at)));
        }
        return isConnected;
      });
  if (!ok ||
      any_of(scope.bindings, [](const auto &binding) { return binding.second.value.isPoison(); })) {
    context.builder.restore(outside);
    return Poison();
  }
  op = context.builder.finishDataflow(op, values, names);
  hoistConstants(op);
  regionEditor.finishRegions(op);
  checkEffectOrder(op);
  std::vector<Entity> results;
  for (mlir::Value result : op.getResults())
    results.push_back(Entity(result));
  if (results.size() <= 1)
    return results.empty() ? Entity(Nothing{}) : results.front();
  return Entity::group(std::move(results));
}

void DataflowBuilder::checkEffectOrder(dfg::DataflowOp op) {
  findUnorderedEffects(op, [&](const UnorderedEffects &effects) {
    reporter
        .error(toRange(effects.second->getLoc(), context.sources), "unordered-effects",
               "this and another use of '{}', which one of them changes, may run in any order",
               effects.name)
        .note(toRange(effects.first->getLoc(), context.sources), "the other one")
        .help("a control edge orders them, as in f(x, after: [a])");
    return !context.budget.isStopped();
  });
}

} // namespace tfc::text
