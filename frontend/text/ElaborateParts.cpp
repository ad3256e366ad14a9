#include "frontend/text/ElaborateImpl.h"

using namespace llvm;

namespace tfc::text {

std::shared_ptr<Frame> Elaborator::newFrame(Module *module, Instance *self) {
  auto result = std::make_shared<Frame>();
  result->module = module;
  result->self = self;
  keptFrames.push_back(result);
  return result;
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

static LetName elementOf(const LetName &name, unsigned index) {
  LetName element = name;
  element.path += "." + std::to_string(index);
  if (!element.formerly.empty())
    element.formerly += "." + std::to_string(index);
  element.order.push_back(index);
  return element;
}

Entity Elaborator::evalLet(const ast::Expr *expr, const LetName &name) {
  if (const auto *list = dyn_cast<ast::ListExpr>(expr)) {
    std::vector<Entity> elements;
    std::vector<SourceRange> places;
    for (auto [i, element] : enumerate(list->elements)) {
      elements.push_back(evalLet(element, elementOf(name, i)));
      places.push_back(element->range);
      if (elements.back().isPoison())
        return Poison();
    }
    return limited(Entity::list(std::move(elements), std::move(places)), expr->range);
  }
  if (const auto *comprehension = dyn_cast<ast::ComprehensionExpr>(expr)) {
    std::vector<Entity> elements;
    Budget::Scope scope(budget, {Expansion::Kind::Comprehension, "", expr->range});
    bool done = forEach(*comprehension->each, [&](const Entity &) {
      elements.push_back(evalLet(comprehension->element, elementOf(name, elements.size())));
      return !elements.back().isPoison();
    });
    bool isPoisoned = !elements.empty() && elements.back().isPoison();
    if (!done || isPoisoned)
      return Poison();
    return limited(Entity::group(std::move(elements)), expr->range);
  }
  const auto *call = dyn_cast<ast::CallExpr>(expr);
  if (!call || !isa<ast::NameExpr, ast::MemberExpr>(call->callee))
    return eval(expr);
  std::optional<TensorType> wanted = std::move(expected);
  Entity callee = eval(call->callee);
  if (const Part *part = callee.get<Part>())
    return instantiate(*part, *call, name);
  expected = std::move(wanted);
  return callee.isPoison() ? callee : eval(expr);
}

Entity Elaborator::instantiate(const Part &part, const ast::CallExpr &call, const LetName &name) {
  const ast::PartDecl &decl = *part.decl;
  Budget::Scope expansion(budget, {Expansion::Kind::Part, decl.name.text, call.range});
  if (!spend(kStepsOfInstance, call.range))
    return Poison();
  for (const Instance *outer = name.parent; outer; outer = outer->parent)
    if (outer->part.decl == &decl)
      return fail(call.range, "recursion",
                  "'" + decl.name.text + "' is part of itself, so it would never end");
  SmallVector<ast::Param> params(decl.params.begin(), decl.params.end());
  for (ast::Param &param : params)
    param.isStatic = true;
  std::vector<Argument> matched;
  std::string what = "'" + decl.name.text.str() + "'";
  if (!matchArguments(params, what, call, matched))
    return Poison();
  for (size_t i : argumentOrder(matched)) {
    matched[i].value = eval(matched[i].expr);
    if (matched[i].value.isPoison())
      return Poison();
  }

  Instance &instance = instances.emplace_back();
  instance.part = part;
  instance.path = name.path;
  instance.formerly = name.formerly;
  instance.isFrozen = name.isFrozen;
  instance.order = name.order;
  instance.parent = name.parent;
  instance.at = call.range;
  std::shared_ptr<Frame> partFrame = newFrame(part.module, &instance);
  partFrame->callSite = call.range;
  partFrame->caller = frame;
  SaveAndRestore<Frame *> inner(frame, partFrame.get());
  for (auto [param, argument] : zip(params, matched)) {
    bool isBound = isTypeArgument(param) ? bindTypeArgument(param, argument, decl.name.text)
                                         : bindStaticParam(param, argument);
    if (!isBound)
      return Poison();
    instance.params[param.name.text] = frame->locals[param.name.text].value;
  }
  partFrame->callSite = {};
  partFrame->caller = nullptr;
  instance.frame = partFrame;
  if (!declareMembers(instance, decl.members))
    return Poison();
  collectSizeNames(instance);
  SaveAndRestore<SourceRange> site(partFrame->callSite, call.range);
  if (!checkWhere(decl.where, what))
    return Poison();
  return Entity(&instance);
}

bool Elaborator::declareMembers(Instance &instance, ArrayRef<ast::Stmt *> members) {
  for (const ast::Stmt *member : members) {
    Declaration declaration;
    declaration.stmt = member;
    declaration.position = instance.memberCount++;
    if (const auto *var = dyn_cast<ast::VarDecl>(member)) {
      checkAnnotations(*member, {"frozen", "was", "device", "colocate"});
      declare(instance.members, var->name, declaration);
    } else if (const auto *fn = dyn_cast<ast::FnDecl>(member)) {
      checkAnnotations(*member, {"recompute", "device"});
      declare(instance.members, fn->name, declaration);
    } else if (const auto *let = dyn_cast<ast::LetDecl>(member)) {
      checkAnnotations(*member, {"frozen", "was", "device"});
      for (const ast::Binding &binding : let->bindings) {
        declaration.binding = &binding;
        declare(instance.members, binding.name, declaration);
        declaration.position = instance.memberCount++;
      }
    } else if (const auto *branch = dyn_cast<ast::StaticIfStmt>(member)) {
      std::optional<bool> condition = evalCondition(branch->condition, "static if");
      if (!condition)
        return false;
      const ast::Block *block = *condition ? branch->thenBlock : branch->elseBlock;
      if (block && !declareMembers(instance, block->statements))
        return false;
    } else if (const auto *queue = dyn_cast<ast::QueueDecl>(member)) {
      checkAnnotations(*member, {"device"});
      declare(instance.members, queue->name, declaration);
    } else {
      laterWork(member->range, "'static for' among the members of a part");
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

void Elaborator::collectSizeNames(Instance &instance) {
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

std::optional<Entity> Elaborator::valueInInstance(Instance &instance, StringRef name,
                                                  SourceRange at) {
  if (auto it = instance.params.find(name); it != instance.params.end())
    return it->second;
  if (auto it = instance.sizes.find(name); it != instance.sizes.end()) {
    if (it->second.at.isValid())
      return it->second.value;
    if (mainModule->hasSyntaxErrors)
      return Entity(); // what could not be parsed may have called it
    Diagnostic &diagnostic =
        error(at, "unknown-size",
              "'" + name + "' of '" + instance.path + "' is not known before a call has bound it");
    for (const Instance *around = &instance; around; around = around->parent)
      diagnostic.note(around->at, "the instance '" + around->path + "' is made here");
    return Entity();
  }
  auto it = instance.members.find(name);
  if (it == instance.members.end())
    return std::nullopt;
  const Declaration &declaration = it->second;
  if (const auto *fn = dyn_cast<ast::FnDecl>(declaration.stmt))
    return Entity(Function{fn, instance.part.module, &instance});
  LetName path;
  path.path = instance.path + "." + name.str();
  path.order = instance.order;
  path.order.push_back(declaration.position);
  path.parent = &instance;
  path.isFrozen = instance.isFrozen;
  if (!instance.formerly.empty())
    path.formerly = instance.formerly + "." + name.str();
  LazyValue &lazy = instance.values[name];
  if (const auto *var = dyn_cast<ast::VarDecl>(declaration.stmt)) {
    if (lazy.state == LazyValue::State::Done)
      return lazy.value;
    lazy.state = LazyValue::State::Done;
    Variable *variable = declareVariable(*var, path, instance.frame);
    lazy.value = variable ? Entity(variable) : Entity();
    return lazy.value;
  }
  if (const auto *queue = dyn_cast<ast::QueueDecl>(declaration.stmt)) {
    if (lazy.state == LazyValue::State::New) {
      lazy.state = LazyValue::State::Done;
      lazy.value = declareQueue(*queue, path, instance.frame);
    }
    return lazy.value;
  }
  if (!declaration.binding)
    return Entity();
  if (lazy.state == LazyValue::State::New)
    forceNamed(
        *declaration.binding,
        [&](StringRef other) -> const ast::Binding * {
          auto found = instance.members.find(other);
          bool isNew = found != instance.members.end() &&
                       instance.values[other].state == LazyValue::State::New;
          return isNew ? found->second.binding : nullptr;
        },
        [&](const ast::Binding &other) { valueInInstance(instance, other.name.text, at); });
  return force(lazy, *declaration.binding, instance.frame, path, *declaration.stmt);
}

Entity Elaborator::memberOfInstance(Instance &instance, const ast::Name &name) {
  if (std::optional<Entity> value = valueInInstance(instance, name.text, name.range))
    return *value;
  Diagnostic &diagnostic =
      error(name.range, "unknown-name",
            "'" + instance.part.decl->name.text + "' has nothing named '" + name.text + "'");
  SmallVector<StringRef> names;
  for (const auto &member : instance.members)
    names.push_back(member.getKey());
  for (const auto &param : instance.params)
    names.push_back(param.getKey());
  sort(names);
  suggestAmong(diagnostic, name.text, names);
  return Poison();
}

//===----------------------------------------------------------------------===//
// Everything that is declared
//===----------------------------------------------------------------------===//

void Elaborator::forceAll(Module &module) {
  for (const ast::Stmt *item : module.file->items) {
    if (const auto *var = dyn_cast<ast::VarDecl>(item))
      valueInModule(module, var->name.text, var->name.range);
    if (const auto *queue = dyn_cast<ast::QueueDecl>(item))
      valueInModule(module, queue->name.text, queue->name.range);
    if (const auto *let = dyn_cast<ast::LetDecl>(item))
      for (const ast::Binding &binding : let->bindings)
        if (std::optional<Entity> value =
                valueInModule(module, binding.name.text, binding.name.range))
          forceAll(*value);
  }
}

void Elaborator::forceAll(const Entity &value) {
  if (Instance *const *instance = value.get<Instance *>())
    forceAll(**instance);
  if (const Group *group = value.asGroup())
    for (const Entity &element : group->elements)
      forceAll(element);
}

void Elaborator::forceAll(Instance &instance) {
  if (instance.isForced)
    return;
  instance.isForced = true;
  Budget::Scope expansion(budget,
                          {Expansion::Kind::Part, instance.part.decl->name.text, instance.at});
  for (const auto &size : instance.sizes) {
    if (size.second.at.isValid())
      continue;
    // After other errors the call may just not have been reached.
    if (hasFailedEntries)
      return;
    error(instance.at, "unknown-size",
          "'" + instance.path + "' is never called, so its size '" + size.getKey() +
              "' is not known");
    return;
  }
  std::vector<std::pair<unsigned, StringRef>> names;
  for (const auto &member : instance.members)
    if (!isa<ast::FnDecl>(member.second.stmt))
      names.emplace_back(member.second.position, member.getKey());
  sort(names);
  for (const auto &[position, name] : names)
    if (std::optional<Entity> value = valueInInstance(instance, name, instance.at))
      forceAll(*value);
}

} // namespace tfc::text
