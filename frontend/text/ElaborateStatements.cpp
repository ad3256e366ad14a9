#include "frontend/text/ElaborateImpl.h"

using namespace llvm;

namespace tfc::text {

Elaborator::Flow Elaborator::execBlock(const ast::Block &block) {
  for (const ast::Stmt *stmt : block.statements)
    if (exec(stmt) == Flow::Returned)
      return Flow::Returned;
  return Flow::Next;
}

Elaborator::Flow Elaborator::exec(const ast::Stmt *stmt) {
  if (!spend(1, stmt->range))
    return Flow::Returned;
  if (!isa<ast::VarDecl>(stmt))
    checkAnnotations(*stmt, {"device", "recompute"});
  switch (stmt->kind) {
  case ast::StmtKind::Bind:
    execAnnotated(*stmt, [&] { execBind(*cast<ast::BindStmt>(stmt)); });
    return Flow::Next;
  case ast::StmtKind::Expr:
    execAnnotated(*stmt, [&] { eval(cast<ast::ExprStmt>(stmt)->expr); });
    return Flow::Next;
  case ast::StmtKind::Let:
    execLet(*cast<ast::LetDecl>(stmt));
    return Flow::Next;
  case ast::StmtKind::Var:
    declareSlot(*cast<ast::VarDecl>(stmt), *frame);
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
    execYield(*cast<ast::YieldStmt>(stmt));
    return Flow::Returned;
  default:
    error(stmt->range, "misplaced", "this declaration does not belong into a function");
    return Flow::Next;
  }
}

void Elaborator::bindLocal(const ast::Name &name, const Entity &value, const ast::Type *type) {
  DataflowScope *dataflow = frame->dataflow;
  if (dataflow && frame->block == dataflow->block)
    if (auto it = dataflow->bindings.find(name.text); it != dataflow->bindings.end()) {
      it->second.value = value;
      return;
    }
  if (name && !name.isDiscard())
    frame->locals[name.text] = {value, name.range, type, frame->block};
}

void Elaborator::bindTarget(const ast::Target &target, const Entity &value, SourceRange at) {
  StringRef name = target.name.text;
  Entity bound = value;
  if (value.is<Nothing>())
    bound = fail(at, "no-value", "this call gives no value for '" + name + "'");
  if (!frame->find(name) && !target.name.isDiscard() && !bound.isPoison())
    if (std::optional<Entity> outer = lookupDeclared(name, target.name.range, /*inBlocks=*/false);
        outer && outer->is<Variable *>()) {
      error(target.name.range, "shadows-variable",
            "'" + name + "' is a variable, and '=' only binds a name")
          .help("assign(" + name + ", ..) writes the variable");
      bound = Poison();
    }
  if (!checkRebinding(target.name))
    bound = Entity();
  if (target.type && !bound.isPoison())
    bound = checkResult(*target.type, bound, at, ("'" + name + "'").str());
  readNow(bound, at);
  bindLocal(target.name, bound, target.type);
}

/// A variable that is named is read there.
void Elaborator::readNow(Entity &value, SourceRange at) {
  Variable *const *variable = value.get<Variable *>();
  if (!variable)
    return;
  mlir::Value read = readVariable(**variable, at);
  value = read ? Entity(read) : Entity();
}

std::optional<TensorType> Elaborator::declaredType(const ast::Type *type) {
  if (!type || type->kind == ast::TypeKind::List || type->kind == ast::TypeKind::Dim ||
      isStaticType(*type))
    return std::nullopt;
  if (type->kind == ast::TypeKind::Named) {
    std::optional<Entity> known = sizeName(type->name, type->baseRange);
    if (!known || known->isPoison())
      return std::nullopt;
  }
  for (const ast::IndexItem &item : type->items) {
    SmallVector<StringRef> unknown;
    if (item.value)
      collectUnbound(item.value, unknown);
    const auto *binary = dyn_cast_or_null<ast::BinaryExpr>(item.value);
    bool isBound = binary && binary->op == ast::BinaryOp::Le;
    if (!item.value || item.kind == ast::IndexItemKind::Slice || !unknown.empty() || isBound)
      return std::nullopt;
  }
  return evalType(*type);
}

/// Runs a statement under what its annotations say.
void Elaborator::execAnnotated(const ast::Stmt &stmt, function_ref<void()> run) {
  const auto *annotation = find_if(stmt.annotations, [](const ast::Annotation &annotation) {
    return annotation.name.text == "recompute";
  });
  if (annotation == stmt.annotations.end()) {
    run();
    return;
  }
  SaveAndRestore<std::string> outer(recompute, "all");
  SaveAndRestore<bool> outerUse(hasRecomputed, false);
  if (annotation->hasParens) {
    const auto *text = annotation->args.size() == 1
                           ? dyn_cast<ast::StringExpr>(annotation->args.front().value)
                           : nullptr;
    recompute = text && text->literal() ? text->literal()->str() : "";
  }
  if (recompute != "all" && recompute != "sqrt")
    error(annotation->range, "bad-annotation", "'@recompute' takes nothing, \"all\" or \"sqrt\"");
  run();
  if (!hasRecomputed)
    error(annotation->range, "bad-annotation", "'@recompute' applies to a loop, and here is none");
}

void Elaborator::execBind(const ast::BindStmt &stmt) {
  SaveAndRestore<std::string> outer(bindingName);
  SaveAndRestore<size_t> sizes(newSizes, runTimeSizes.size());
  if (stmt.targets.empty() || stmt.values.empty()) {
    for (const ast::Target &target : stmt.targets)
      bindLocal(target.name, Entity());
    return;
  }
  bindingName = stmt.targets.front().name.text.str();
  std::vector<Entity> values;
  bool hasTypes = stmt.values.size() == stmt.targets.size();
  for (auto [i, expr] : enumerate(stmt.values)) {
    expected = hasTypes ? declaredType(stmt.targets[i].type) : std::nullopt;
    values.push_back(eval(expr));
    expected.reset();
    // Before a later value has its effects.
    if (stmt.values.size() > 1)
      readNow(values.back(), expr->range);
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
    error(at, "wrong-count",
          "expected " + Twine(stmt.targets.size()) + " values for these names, but got " +
              Twine(values.size()))
        .also(stmt.targets.front().name.range);
    values.assign(stmt.targets.size(), Entity());
  }
  bool isPairwise = stmt.values.size() == stmt.targets.size();
  for (auto [i, target] : enumerate(stmt.targets))
    bindTarget(target, values[i], isPairwise ? stmt.values[i]->range : at);
}

void Elaborator::execLet(const ast::LetDecl &stmt) {
  for (const ast::Binding &binding : stmt.bindings) {
    SaveAndRestore<std::string> outer(bindingName, binding.name.text.str());
    expected.reset();
    const auto *call = dyn_cast<ast::CallExpr>(binding.value);
    if (call && isa<ast::NameExpr, ast::MemberExpr>(call->callee)) {
      Entity callee = eval(call->callee);
      if (const Part *part = callee.get<Part>()) {
        bindLocal(binding.name, failUnnamed(*part, *call));
        continue;
      }
    }
    if (!checkRebinding(binding.name)) {
      bindLocal(binding.name, Entity());
      continue;
    }
    Entity value = eval(binding.value);
    if (value.is<mlir::Value>())
      value = fail(binding.value->range, "not-static",
                   "'let' binds what is known at compile time, but " + value.describe() +
                       " arrives at run time");
    if (binding.type && !value.isPoison()) {
      ast::Param param;
      param.name = binding.name;
      param.type = binding.type;
      value =
          convertStatic(param, {{}, binding.value, binding.value->range, value}).value_or(Entity());
    }
    bindLocal(binding.name, value, binding.type);
  }
}

Elaborator::Flow Elaborator::execStaticIf(const ast::StaticIfStmt &stmt) {
  std::optional<bool> condition = evalCondition(stmt.condition, "static if");
  if (!condition) {
    poisonBindings(stmt.thenBlock);
    poisonBindings(stmt.elseBlock);
    return Flow::Next;
  }
  const ast::Block *block = *condition ? stmt.thenBlock : stmt.elseBlock;
  return block ? execBlock(*block) : Flow::Next;
}

/// What a block that cannot be expanded would bind is unknown, without more errors.
void Elaborator::poisonBindings(const ast::Block *block) {
  if (!block)
    return;
  for (const ast::Stmt *stmt : block->statements) {
    if (const auto *bind = dyn_cast<ast::BindStmt>(stmt)) {
      for (const ast::Target &target : bind->targets)
        bindLocal(target.name, Entity());
    } else if (const auto *branch = dyn_cast<ast::StaticIfStmt>(stmt)) {
      poisonBindings(branch->thenBlock);
      poisonBindings(branch->elseBlock);
    } else if (const auto *loop = dyn_cast<ast::StaticForStmt>(stmt)) {
      poisonBindings(loop->body);
    } else if (const auto *let = dyn_cast<ast::LetDecl>(stmt)) {
      for (const ast::Binding &binding : let->bindings)
        bindLocal(binding.name, Entity());
    } else if (isa<ast::ReturnStmt>(stmt)) {
      frame->result = Entity();
    }
  }
}

Elaborator::Flow Elaborator::execStaticFor(const ast::StaticForStmt &stmt) {
  Flow flow = Flow::Next;
  Budget::Scope scope(budget, {Expansion::Kind::Loop, "", stmt.each->range});
  bool expanded = forEach(*stmt.each, [&](const Entity &) {
    flow = execBlock(*stmt.body);
    return flow == Flow::Next;
  });
  if (!expanded)
    poisonBindings(stmt.body);
  return flow;
}

void Elaborator::execReturn(const ast::ReturnStmt &stmt) {
  SaveAndRestore<std::string> outer(bindingName, "return");
  if (frame->block) {
    frame->result = Entity();
    frame->block->values.emplace_back();
    frame->block->valuesAt.push_back(stmt.range);
    error(stmt.range, "misplaced",
          "'return' cannot leave a run-time '" + frame->block->keyword + "'")
        .help("yield the value, and return what the block gives");
    return;
  }
  frame->resultAt = stmt.range;
  if (stmt.values.empty()) {
    frame->result = Entity(Nothing{});
    return;
  }
  frame->resultAt = SourceRange::join(stmt.values.front()->range, stmt.values.back()->range);
  std::vector<Entity> values;
  const ast::Type *declared = frame->fn ? frame->fn->resultType : nullptr;
  if (frame->fn && frame->fn->results.size() == 1)
    declared = frame->fn->results.front().type;
  for (const ast::Expr *expr : stmt.values) {
    expected = stmt.values.size() == 1 ? declaredType(declared) : std::nullopt;
    values.push_back(eval(expr));
    expected.reset();
    if (stmt.values.size() > 1)
      readNow(values.back(), expr->range);
  }
  if (any_of(values, [](const Entity &value) { return value.isPoison(); }))
    frame->result = Entity();
  else
    frame->result = values.size() == 1 ? values.front() : Entity::group(std::move(values));
}

} // namespace tfc::text
