// Instantiates parts: parameters, members, and the sizes that calls bind later.
#include "frontend/text/elaborate/PartInstantiator.h"

#include "frontend/text/elaborate/Advisor.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/FactChecker.h"
#include "frontend/text/elaborate/Meter.h"
#include "frontend/text/elaborate/ModuleLoader.h"
#include "frontend/text/elaborate/ParameterBinder.h"
#include "frontend/text/elaborate/Placer.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/StaticStage.h"
#include "frontend/text/elaborate/TypeEvaluator.h"

using namespace llvm;

namespace tfc::text {

Entity PartInstantiator::instantiate(const Part &part, const ast::CallExpr &call,
                                     const LetName &name) {
  const ast::PartDecl &decl = *part.decl;
  Budget::Scope expansion(context.budget, {Expansion::Kind::Part, decl.name.text, call.range});
  if (!meter.spend(kStepsOfInstance, call.range))
    return Poison();
  for (const Instance *outer = name.parent; outer; outer = outer->parent)
    if (outer->part.decl == &decl)
      return reporter.fail(call.range, "recursion",
                           "'{}' contains an instance of itself, so its expansion would never end",
                           decl.name.text);
  SmallVector<ast::Param> params(decl.params.begin(), decl.params.end());
  for (ast::Param &param : params)
    param.isStatic = true;
  std::vector<Argument> matched;
  std::string what = fmt::format("'{}'", decl.name.text);
  if (!parameterBinder.matchArguments(params, what, call, matched))
    return Poison();
  for (size_t i : argumentOrder(matched)) {
    matched[i].value = evaluator.eval(matched[i].expr);
    if (matched[i].value.isPoison())
      return Poison();
  }

  Instance &instance = context.program.instances.emplace_back();
  instance.part = part;
  instance.path = name.path;
  instance.formerly = name.formerly;
  instance.whole = name.whole;
  instance.isFrozen = name.isFrozen;
  instance.order = name.order;
  instance.parent = name.parent;
  instance.at = call.range;
  std::shared_ptr<Activation> partActivation = context.newActivation(part.module, &instance);
  partActivation->callSite = call.range;
  partActivation->caller = context.activation;
  SaveAndRestore<Activation *> inner(context.activation, partActivation.get());
  for (auto [param, argument] : zip(params, matched)) {
    bool isBound = isTypeArgument(param)
                       ? parameterBinder.bindTypeArgument(param, argument, decl.name.text)
                       : parameterBinder.bindStaticParam(param, argument);
    if (!isBound)
      return Poison();
    instance.params[param.name.text] = context.activation->locals[param.name.text].value;
  }
  partActivation->callSite = {};
  partActivation->caller = nullptr;
  instance.activation = partActivation;
  if (!declare(instance, name.placement))
    return Poison();
  collectSizeNames(instance);
  SaveAndRestore<SourceRange> site(partActivation->callSite, call.range);
  if (!factChecker.checkWhere(decl.where, what))
    return Poison();
  return Entity(&instance);
}

bool PartInstantiator::declare(Instance &instance, const Placement &outer) {
  const ast::PartDecl &part = *instance.part.decl;
  instance.placement = placer.read(part.annotations, outer);
  return declareMembers(instance, part.members);
}

bool PartInstantiator::declareMembers(Instance &instance, ArrayRef<ast::Stmt *> members) {
  for (const ast::Stmt *member : members) {
    Declaration declaration;
    declaration.stmt = member;
    declaration.position = instance.memberCount++;
    if (const auto *var = dyn_cast<ast::VarDecl>(member)) {
      moduleLoader.checkAnnotations(*member, kVariableAnnotations);
      moduleLoader.declare(instance.members, var->name, declaration);
    } else if (const auto *fn = dyn_cast<ast::FnDecl>(member)) {
      moduleLoader.checkAnnotations(*member, {"recompute", "device", "colocate"});
      moduleLoader.declare(instance.members, fn->name, declaration);
    } else if (const auto *let = dyn_cast<ast::LetDecl>(member)) {
      moduleLoader.checkAnnotations(*member, kLetAnnotations);
      for (const ast::Binding &binding : let->bindings) {
        declaration.binding = &binding;
        moduleLoader.declare(instance.members, binding.name, declaration);
        declaration.position = instance.memberCount++;
      }
    } else if (const auto *branch = dyn_cast<ast::StaticIfStmt>(member)) {
      std::optional<bool> condition = staticStage.evalCondition(branch->condition, "static if");
      if (!condition)
        return false;
      const ast::Block *block = *condition ? branch->thenBlock : branch->elseBlock;
      if (block && !declareMembers(instance, block->statements))
        return false;
    } else if (const auto *queue = dyn_cast<ast::QueueDecl>(member)) {
      moduleLoader.checkAnnotations(*member, {"device", "colocate"});
      moduleLoader.declare(instance.members, queue->name, declaration);
    } else if (const auto *dataset = dyn_cast<ast::DatasetDecl>(member)) {
      moduleLoader.checkAnnotations(*member, {});
      moduleLoader.declare(instance.members, dataset->name, declaration);
    } else {
      advisor.laterWork(member->range, "'static for' among the members of a part");
      return false;
    }
  }
  return true;
}

void forEachName(const ast::Expr *expr, function_ref<void(const ast::NameExpr &)> visit) {
  if (!expr)
    return;
  if (const auto *name = dyn_cast<ast::NameExpr>(expr)) {
    visit(*name);
  } else if (const auto *unary = dyn_cast<ast::UnaryExpr>(expr)) {
    forEachName(unary->operand, visit);
  } else if (const auto *binary = dyn_cast<ast::BinaryExpr>(expr)) {
    forEachName(binary->lhs, visit);
    forEachName(binary->rhs, visit);
  } else if (const auto *call = dyn_cast<ast::CallExpr>(expr)) {
    for (const ast::Arg &arg : call->args)
      forEachName(arg.value, visit);
  } else if (const auto *index = dyn_cast<ast::IndexExpr>(expr)) {
    forEachName(index->base, visit);
    for (const ast::IndexItem &item : index->items)
      for (const ast::Expr *part : {item.value, item.stop, item.step})
        forEachName(part, visit);
  } else if (const auto *list = dyn_cast<ast::ListExpr>(expr)) {
    for (const ast::Expr *element : list->elements)
      forEachName(element, visit);
  } else if (const auto *comprehension = dyn_cast<ast::ComprehensionExpr>(expr)) {
    forEachName(comprehension->element, visit);
    forEachName(comprehension->each->sequence, visit);
    forEachName(comprehension->each->last, visit);
  }
}

static void forEachName(const ast::Type *type, function_ref<void(const ast::NameExpr &)> visit) {
  for (const ast::IndexItem &item : type ? type->items : ArrayRef<ast::IndexItem>())
    forEachName(item.value, visit);
}

void PartInstantiator::collectSizeNames(Instance &instance) {
  auto isKnown = [&](StringRef name) {
    if (name == "_" || instance.params.contains(name) || instance.members.contains(name))
      return true;
    auto it = instance.part.module->declarations.find(name);
    return it != instance.part.module->declarations.end() && it->second.binding;
  };
  auto add = [&](StringRef name) {
    if (!isKnown(name))
      instance.sizes.try_emplace(name);
  };
  // As in T[n].
  auto namesElementType = [](const ast::Type *type) {
    return type && type->kind == ast::TypeKind::Named && !isStaticType(*type);
  };
  llvm::StringSet<> inCalls;
  for (const auto &member : instance.members)
    if (const auto *fn = dyn_cast<ast::FnDecl>(member.second.stmt))
      for (const ast::Param &param : fn->params) {
        forEachName(param.type, [&](const ast::NameExpr &name) { inCalls.insert(name.name); });
        if (namesElementType(param.type))
          inCalls.insert(param.type->name);
      }
  for (const auto &member : instance.members) {
    if (const auto *var = dyn_cast<ast::VarDecl>(member.second.stmt); var && var->type) {
      forEachName(var->type, [&](const ast::NameExpr &name) { add(name.name); });
      if (namesElementType(var->type))
        add(var->type->name);
    } else if (const ast::Binding *binding = member.second.binding) {
      forEachName(binding->value, [&](const ast::NameExpr &name) {
        if (inCalls.contains(name.name))
          add(name.name);
      });
    }
  }
}

} // namespace tfc::text
