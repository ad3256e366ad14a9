// Executes each kind of statement, including static branches and loops. Run-time blocks are
// expressions; their statements come back to this file.
#include "frontend/text/elaborate/StatementRunner.h"

#include "frontend/text/elaborate/Advisor.h"
#include "frontend/text/elaborate/Binder.h"
#include "frontend/text/elaborate/BlockRunner.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/Meter.h"
#include "frontend/text/elaborate/ModuleLoader.h"
#include "frontend/text/elaborate/Placer.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/StaticStage.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "frontend/text/elaborate/TypeEvaluator.h"
#include "frontend/text/elaborate/VariableTable.h"

using namespace llvm;

namespace tfc::text {

Flow StatementRunner::execBlock(const ast::Block &block) {
  for (const ast::Stmt *stmt : block.statements)
    if (exec(stmt) == Flow::Returned)
      return Flow::Returned;
  return Flow::Next;
}

Flow StatementRunner::exec(const ast::Stmt *stmt) {
  if (!meter.spend(1, stmt->range))
    return Flow::Returned;
  if (!isa<ast::VarDecl>(stmt))
    moduleLoader.checkAnnotations(*stmt, {"device", "colocate", "recompute"});
  // Others are placed when they are executed, which dataflow blocks do in another order.
  if (stmt->annotations.empty() || isa<ast::BindStmt, ast::ExprStmt, ast::ReturnStmt>(stmt))
    return execPlaced(stmt);
  Flow flow = Flow::Next;
  placer.in(placer.read(stmt->annotations, context.placement), [&] { flow = execPlaced(stmt); });
  return flow;
}

Flow StatementRunner::execPlaced(const ast::Stmt *stmt) {
  switch (stmt->kind) {
  case ast::StmtKind::Bind:
    execAnnotated(*stmt, [&] { execBind(*cast<ast::BindStmt>(stmt)); });
    return Flow::Next;
  case ast::StmtKind::Expr:
    execAnnotated(*stmt, [&] { evaluator.eval(cast<ast::ExprStmt>(stmt)->expr); });
    return Flow::Next;
  case ast::StmtKind::Let:
    execLet(*cast<ast::LetDecl>(stmt));
    return Flow::Next;
  case ast::StmtKind::Var:
    variableTable.declareSlot(*cast<ast::VarDecl>(stmt), *context.activation);
    return Flow::Next;
  case ast::StmtKind::StaticIf:
    return execStaticIf(*cast<ast::StaticIfStmt>(stmt));
  case ast::StmtKind::StaticFor:
    return execStaticFor(*cast<ast::StaticForStmt>(stmt));
  case ast::StmtKind::Block:
    return execBlock(*cast<ast::BlockStmt>(stmt)->block);
  case ast::StmtKind::Return:
    execAnnotated(*stmt, [&] { execReturn(*cast<ast::ReturnStmt>(stmt)); });
    return Flow::Returned;
  case ast::StmtKind::Yield:
    blockRunner.execYield(*cast<ast::YieldStmt>(stmt));
    return Flow::Returned;
  default:
    reporter.error(stmt->range, "misplaced", "this declaration is not allowed in a function");
    return Flow::Next;
  }
}

/// Executes a statement with its annotations.
void StatementRunner::execAnnotated(const ast::Stmt &stmt, function_ref<void()> run) {
  if (stmt.annotations.empty())
    return run();
  placer.in(placer.read(stmt.annotations, context.placement), [&] { execRecomputed(stmt, run); });
}

/// Executes a statement with the annotation of its loops.
void StatementRunner::execRecomputed(const ast::Stmt &stmt, function_ref<void()> run) {
  const auto *annotation = find_if(stmt.annotations, [](const ast::Annotation &annotation) {
    return annotation.name.text == "recompute";
  });
  if (annotation == stmt.annotations.end()) {
    run();
    return;
  }
  SaveAndRestore<std::optional<dfg::Recompute>> outer(context.recompute, dfg::Recompute::All);
  SaveAndRestore<bool> outerUse(context.hasRecomputed, false);
  if (annotation->hasParens) {
    const auto *text = annotation->args.size() == 1
                           ? dyn_cast<ast::StringExpr>(annotation->args.front().value)
                           : nullptr;
    context.recompute = dfg::symbolizeRecompute(text ? text->literal().value_or("") : "");
  }
  if (!context.recompute)
    reporter.error(annotation->range, "bad-annotation",
                   "'@recompute' takes no argument, \"all\" or \"sqrt\"");
  run();
  if (context.recompute && !context.hasRecomputed)
    reporter.error(annotation->range, "bad-annotation", "'@recompute' applies only to loops");
}

void StatementRunner::execBind(const ast::BindStmt &stmt) {
  SaveAndRestore<std::string> outer(context.bindingName);
  SaveAndRestore<size_t> sizes(context.entry.newSizes, context.entry.runTimeSizes.size());
  if (stmt.targets.empty() || stmt.values.empty()) {
    for (const ast::Target &target : stmt.targets)
      binder.bindLocal(target.name, Entity());
    return;
  }
  context.bindingName = stmt.targets.front().name.text.str();
  std::vector<Entity> values;
  bool hasTypes = stmt.values.size() == stmt.targets.size();
  for (auto [i, expr] : enumerate(stmt.values)) {
    context.expected = hasTypes ? typeEvaluator.declaredType(stmt.targets[i].type) : std::nullopt;
    values.push_back(evaluator.eval(expr));
    context.expected.reset();
    // Read before the effects of later values.
    if (stmt.values.size() > 1)
      tensorEmitter.readNow(values.back(), expr->range);
  }
  SourceRange at = SourceRange::join(rangeOf(stmt.values.front()), rangeOf(stmt.values.back()));
  bool isPoisoned = any_of(values, [](const Entity &value) { return value.isPoison(); });
  if (values.size() == 1 && stmt.targets.size() > 1 && !isPoisoned) {
    if (const Group *group = values.front().asGroup())
      values = std::vector<Entity>(group->elements);
  }
  if (isPoisoned && values.size() != stmt.targets.size())
    values.assign(stmt.targets.size(), Entity());
  if (values.size() != stmt.targets.size()) {
    reporter
        .error(at, "wrong-count", "expected {} values for these names, but got {}",
               stmt.targets.size(), values.size())
        .also(stmt.targets.front().name.range);
    values.assign(stmt.targets.size(), Entity());
  }
  bool isPairwise = stmt.values.size() == stmt.targets.size();
  for (auto [i, target] : enumerate(stmt.targets))
    binder.bindTarget(target, values[i], isPairwise ? stmt.values[i]->range : at);
}

Entity StatementRunner::failRunTimeLet(const ast::Binding &binding, const Entity &value) {
  reporter
      .error(binding.value->range, "not-static",
             "'let' binds what is known at compile time, but {} is known only at run time",
             value.describe())
      .help("without 'let', '{} = ..' binds it", binding.name.text);
  return Entity();
}

void StatementRunner::execLet(const ast::LetDecl &stmt) {
  for (const ast::Binding &binding : stmt.bindings) {
    SaveAndRestore<std::string> outer(context.bindingName, binding.name.text.str());
    context.expected.reset();
    const auto *call = dyn_cast<ast::CallExpr>(binding.value);
    if (call && isa<ast::NameExpr, ast::MemberExpr>(call->callee)) {
      Entity callee = evaluator.eval(call->callee);
      if (const Part *part = callee.get<Part>()) {
        binder.bindLocal(binding.name, advisor.failUnnamed(*part, *call));
        continue;
      }
    }
    if (!binder.checkRebinding(binding.name)) {
      binder.bindLocal(binding.name, Entity());
      continue;
    }
    Entity value = evaluator.eval(binding.value);
    if (value.is<mlir::Value>())
      value = failRunTimeLet(binding, value);
    if (binding.type && !value.isPoison()) {
      ast::Param param;
      param.name = binding.name;
      param.type = binding.type;
      value = typeEvaluator.convertStatic(param, {{}, binding.value, binding.value->range, value})
                  .value_or(Entity());
    }
    binder.bindLocal(binding.name, value, binding.type);
  }
}

Flow StatementRunner::execStaticIf(const ast::StaticIfStmt &stmt) {
  std::optional<bool> condition = staticStage.evalCondition(stmt.condition, "static if");
  if (!condition) {
    binder.poisonBindings(stmt.thenBlock);
    binder.poisonBindings(stmt.elseBlock);
    return Flow::Next;
  }
  const ast::Block *block = *condition ? stmt.thenBlock : stmt.elseBlock;
  return block ? execBlock(*block) : Flow::Next;
}

Flow StatementRunner::execStaticFor(const ast::StaticForStmt &stmt) {
  Flow flow = Flow::Next;
  Budget::Scope scope(context.budget, {Expansion::Kind::Loop, "", stmt.each->range});
  bool expanded = binder.forEach(*stmt.each, [&](const Entity &) {
    flow = execBlock(*stmt.body);
    return flow == Flow::Next;
  });
  if (!expanded)
    binder.poisonBindings(stmt.body);
  return flow;
}

void StatementRunner::execReturn(const ast::ReturnStmt &stmt) {
  SaveAndRestore<std::string> outer(context.bindingName, "return");
  if (context.activation->block) {
    context.activation->result = Entity();
    context.activation->block->values.emplace_back();
    context.activation->block->valuesAt.push_back(stmt.range);
    reporter
        .error(stmt.range, "misplaced", "'return' cannot leave a run-time '{}'",
               context.activation->block->keyword)
        .help("yield the value, and return the result of the block");
    return;
  }
  context.activation->resultAt = stmt.range;
  if (stmt.values.empty()) {
    context.activation->result = Entity(Nothing{});
    return;
  }
  context.activation->resultAt =
      SourceRange::join(stmt.values.front()->range, stmt.values.back()->range);
  context.activation->resultsAt =
      map_to_vector(stmt.values, [](auto *expr) { return expr->range; });
  std::vector<Entity> values;
  const ast::Type *declared = context.activation->fn ? context.activation->fn->resultType : nullptr;
  if (context.activation->fn && context.activation->fn->results.size() == 1)
    declared = context.activation->fn->results.front().type;
  for (const ast::Expr *expr : stmt.values) {
    context.expected =
        stmt.values.size() == 1 ? typeEvaluator.declaredType(declared) : std::nullopt;
    values.push_back(evaluator.eval(expr));
    context.expected.reset();
    if (stmt.values.size() > 1)
      tensorEmitter.readNow(values.back(), expr->range);
  }
  if (any_of(values, [](const Entity &value) { return value.isPoison(); }))
    context.activation->result = Entity();
  else
    context.activation->result =
        values.size() == 1 ? values.front() : Entity::group(std::move(values));
}

} // namespace tfc::text
