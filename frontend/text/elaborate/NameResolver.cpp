// Resolves names, and evaluates each declaration when it is first needed.
#include "frontend/text/elaborate/NameResolver.h"

#include "dialects/dfg/OpTable.h"
#include "frontend/text/elaborate/Binder.h"
#include "frontend/text/elaborate/DatasetEmitter.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/Meter.h"
#include "frontend/text/elaborate/ModuleLoader.h"
#include "frontend/text/elaborate/PartInstantiator.h"
#include "frontend/text/elaborate/Placer.h"
#include "frontend/text/elaborate/QueueEmitter.h"
#include "frontend/text/elaborate/RegionEditor.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/Slicer.h"
#include "frontend/text/elaborate/TypeEvaluator.h"
#include "frontend/text/elaborate/Unifier.h"
#include "frontend/text/elaborate/VariableTable.h"

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

std::optional<Entity> NameResolver::lookup(StringRef name, SourceRange at) {
  if (std::optional<Entity> value = lookupDeclared(name, at))
    return value;
  if (context.program.prelude && context.program.prelude->declarations.contains(name)) {
    bool isShipped =
        !context.activation || !context.activation->module || context.activation->module->isShipped;
    if (name.starts_with("_") && !isShipped)
      return reporter.fail(at, "private-name", "'{}' is private to its file", name);
    return valueInModule(*context.program.prelude, name, at);
  }
  return builtinByName(name);
}

std::optional<Entity> NameResolver::lookupDeclared(StringRef name, SourceRange at, bool inBlocks) {
  if (context.activation) {
    if (Local *local = context.activation->find(name))
      return local->value;
    if (std::optional<Entity> value = inBlocks ? evaluator.lookupDataflow(name, at) : std::nullopt)
      return value;
    if (context.activation->self)
      if (std::optional<Entity> value = valueInInstance(*context.activation->self, name, at))
        return value;
    if (context.activation->module)
      if (std::optional<Entity> value = valueInModule(*context.activation->module, name, at))
        return value;
  }
  return std::nullopt;
}

std::optional<Entity> NameResolver::valueInModule(Module &module, StringRef name, SourceRange at) {
  auto it = module.declarations.find(name);
  if (it == module.declarations.end())
    return std::nullopt;
  const Declaration &declaration = it->second;
  if (isa<ast::UseDecl>(declaration.stmt)) {
    if (!declaration.module)
      return Entity();
    if (declaration.selected.empty())
      return Entity(declaration.module);
    return valueInModule(*declaration.module, declaration.selected, at).value_or(Entity());
  }
  if (const auto *fn = dyn_cast<ast::FnDecl>(declaration.stmt))
    return Entity(Function{fn, &module, nullptr});
  if (const auto *part = dyn_cast<ast::PartDecl>(declaration.stmt))
    return Entity(Part{part, &module});

  LetName path;
  path.path = module.prefix + name.str();
  path.order = {module.position, declaration.position};
  return valueOf({module.declarations, module.values, path,
                  [&] { return context.newActivation(&module, nullptr); },
                  [&](StringRef other) { valueInModule(module, other, at); }},
                 name);
}

/// Sets a value, which a later entry computes again if this one needed a size that is not bound
/// yet.
void NameResolver::finish(LazyValue &lazy, const Entity &value) {
  bool isLate = value.isPoison() && context.entry.needsSize;
  lazy.state = isLate ? LazyValue::State::New : LazyValue::State::Done;
  lazy.value = value;
}

Entity NameResolver::valueOf(const Declarer &declarer, StringRef name) {
  const Declaration &declaration = declarer.declarations.find(name)->second;
  LazyValue &lazy = declarer.values[name];
  bool isNew = lazy.state == LazyValue::State::New;
  if (const auto *var = dyn_cast<ast::VarDecl>(declaration.stmt)) {
    if (isNew) {
      lazy.state = LazyValue::State::Done;
      Variable *variable =
          variableTable.declareVariable(*var, declarer.path, declarer.activation());
      finish(lazy, variable ? Entity(variable) : Entity());
    }
    return lazy.value;
  }
  if (const auto *queue = dyn_cast<ast::QueueDecl>(declaration.stmt)) {
    if (isNew) {
      lazy.state = LazyValue::State::Done;
      lazy.value = queueEmitter.declareQueue(*queue, declarer.path, declarer.activation());
    }
    return lazy.value;
  }
  if (const auto *dataset = dyn_cast<ast::DatasetDecl>(declaration.stmt)) {
    if (isNew) {
      lazy.state = LazyValue::State::Done;
      lazy.value = datasetEmitter.declareDataset(*dataset, declarer.path, declarer.activation());
    }
    return lazy.value;
  }
  if (!declaration.binding)
    return Entity();
  if (isNew)
    forceNamed(*declaration.binding, declarer);
  return force(lazy, declaration, declarer);
}

/// `path` with its last name replaced by the former one.
std::string renameLast(const std::string &path, StringRef name, StringRef former) {
  size_t stem = path.size() >= name.size() ? path.size() - name.size() : 0;
  return path.substr(0, stem) + former.str();
}

/// The nesting of `let`s beyond which the `let`s that a binding names are evaluated first.
static constexpr unsigned kDeepLets = 64;

void NameResolver::forceNamed(const ast::Binding &binding, const Declarer &declarer) {
  if (letDepth < kDeepLets)
    return;
  auto findNew = [&](StringRef name) -> const ast::Binding * {
    auto found = declarer.declarations.find(name);
    bool isNew = found != declarer.declarations.end() &&
                 declarer.values[name].state == LazyValue::State::New;
    return isNew ? found->second.binding : nullptr;
  };
  DenseSet<const ast::Binding *> seen = {&binding};
  // Bindings visited before are done: those that they name have been evaluated.
  SmallVector<std::pair<const ast::Binding *, bool>> pending;
  auto visit = [&](const ast::Expr *value) {
    forEachName(value, [&](const ast::NameExpr &name) {
      if (const ast::Binding *other = findNew(name.name); other && seen.insert(other).second)
        pending.push_back({other, false});
    });
  };
  visit(binding.value);
  while (!pending.empty() && !context.budget.isStopped()) {
    auto &[next, isVisited] = pending.back();
    if (isVisited) {
      const ast::Binding &ready = *next;
      pending.pop_back();
      declarer.evaluate(ready.name.text);
    } else {
      isVisited = true;
      visit(next->value);
    }
  }
}

Entity NameResolver::force(LazyValue &lazy, const Declaration &declaration,
                           const Declarer &declarer) {
  const ast::Binding &binding = *declaration.binding;
  if (lazy.state == LazyValue::State::Running)
    return reporter.fail(binding.name.range, "let-cycle", "'{}' depends on itself",
                         binding.name.text);
  bool isStale = lazy.entry != 0 && lazy.entry != context.entry.number;
  if (lazy.state == LazyValue::State::Done && !isStale)
    return lazy.value;
  lazy.state = LazyValue::State::Running;
  SaveAndRestore<unsigned> deeper(letDepth, letDepth + 1);
  LetName name = declarer.path;
  if (std::string former = variableTable.formerName(*declaration.stmt); !former.empty())
    name.formerly =
        renameLast(name.formerly.empty() ? name.path : name.formerly, binding.name.text, former);
  name.isFrozen |= isFrozen(*declaration.stmt);
  const ast::Annotation *shards = findAnnotation(*declaration.stmt, "shards");
  name.hasShards = shards;
  if (shards && !isa<ast::ListExpr, ast::ComprehensionExpr>(binding.value))
    reporter.error(shards->range, "bad-annotation", "'@shards' applies only to groups")
        .help("as in @shards let copies = [net() for k in 0..4]");
  std::shared_ptr<Activation> activation = declarer.activation();
  SaveAndRestore<Activation *> outerActivation(context.activation, activation.get());
  name.placement = placer.read(declaration.stmt->annotations, declarer.path.placement);
  SaveAndRestore<std::string> outerName(context.bindingName, binding.name.text.str());
  SaveAndRestore<std::optional<TensorType>> outerExpected(context.expected, std::nullopt);
  if (binding.type && !isStaticType(*binding.type))
    context.expected = typeEvaluator.evalType(*binding.type);
  Entity value;
  // The operations are built outside of all regions, so that the whole entry can use them.
  regionEditor.outsideOfRegions(
      [&] { placer.in(name.placement, [&] { value = evalLet(binding.value, name); }); });
  if (binding.type && !value.isPoison()) {
    if (isStaticType(*binding.type)) {
      ast::Param param;
      param.name = binding.name;
      param.type = binding.type;
      value = typeEvaluator.convertStatic(param, {{}, binding.value, rangeOf(binding.value), value})
                  .value_or(Entity());
    } else {
      value = unifier.checkResult(*binding.type, value, rangeOf(binding.value),
                                  fmt::format("'{}'", binding.name.text));
    }
  }
  lazy.entry = value.isStatic() ? 0 : context.entry.number;
  finish(lazy, value);
  return value;
}

std::optional<Entity> NameResolver::builtinByName(StringRef name) {
  // `dfg.sum` is the operation even if a declaration hides `sum`.
  name.consume_front("dfg.");
  if (name == "all")
    return Entity(All{});
  if (name == "pi")
    return Entity(3.14159265358979323846);
  ArrayRef<StringRef> builtins = context.program.builtins;
  if (const auto *it = find(builtins, name); it != builtins.end())
    return Entity(Builtin{*it});
  if (const dfg::OpSignature *op = dfg::lookupOp(name))
    return Entity(op);
  return std::nullopt;
}

Entity NameResolver::memberOfModule(Module &module, const ast::Name &name) {
  if (name.text.starts_with("_"))
    return reporter.fail(name.range, "private-name", "'{}' is private to its file", name.text);
  if (std::optional<Entity> value = valueInModule(module, name.text, name.range))
    return *value;
  Diagnostic &diagnostic = reporter.error(name.range, "unknown-name", "'{}' has nothing named '{}'",
                                          module.name, name.text);
  SmallVector<StringRef> names = publicNames(module);
  reporter.suggestAmong(diagnostic, name.text, names);
  return Poison();
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

static LetName elementOf(const LetName &name, unsigned index) {
  LetName element = name;
  element.path += "." + std::to_string(index);
  if (!element.formerly.empty())
    element.formerly += "." + std::to_string(index);
  if (name.hasShards)
    element.whole = name.whole.empty() ? name.path : name.whole;
  else if (!name.whole.empty())
    element.whole += "." + std::to_string(index);
  element.hasShards = false;
  element.order.push_back(index);
  return element;
}

Entity NameResolver::evalLet(const ast::Expr *expr, const LetName &name) {
  if (const auto *list = dyn_cast<ast::ListExpr>(expr)) {
    std::vector<Entity> elements;
    std::vector<SourceRange> places;
    for (auto [i, element] : enumerate(list->elements)) {
      elements.push_back(evalLet(element, elementOf(name, i)));
      places.push_back(element->range);
      if (elements.back().isPoison())
        return Poison();
    }
    return meter.limited(Entity::list(std::move(elements), std::move(places)), expr->range);
  }
  if (const auto *comprehension = dyn_cast<ast::ComprehensionExpr>(expr)) {
    std::vector<Entity> elements;
    Budget::Scope scope(context.budget, {Expansion::Kind::Comprehension, "", expr->range});
    bool done = binder.forEach(*comprehension->each, [&](const Entity &) {
      elements.push_back(evalLet(comprehension->element, elementOf(name, elements.size())));
      return !elements.back().isPoison();
    });
    bool isPoisoned = !elements.empty() && elements.back().isPoison();
    if (!done || isPoisoned)
      return Poison();
    return meter.limited(Entity::group(std::move(elements)), expr->range);
  }
  const auto *call = dyn_cast<ast::CallExpr>(expr);
  if (!call || !isa<ast::NameExpr, ast::MemberExpr>(call->callee))
    return evaluator.eval(expr);
  std::optional<TensorType> wanted = std::move(context.expected);
  Entity callee = evaluator.eval(call->callee);
  if (const Part *part = callee.get<Part>())
    return partInstantiator.instantiate(*part, *call, name);
  context.expected = std::move(wanted);
  return callee.isPoison() ? callee : evaluator.eval(expr);
}

std::optional<Entity> NameResolver::valueInInstance(Instance &instance, StringRef name,
                                                    SourceRange at) {
  if (auto it = instance.params.find(name); it != instance.params.end())
    return it->second;
  if (auto it = instance.sizes.find(name); it != instance.sizes.end()) {
    if (it->second.at.isValid())
      return it->second.value;
    if (context.program.mainModule->hasSyntaxErrors)
      return Entity(); // a statement that could not be parsed may have called it
    context.entry.needsSize = true;
    Diagnostic &diagnostic =
        reporter.error(at, "unknown-size", "'{}' of '{}' is not known before a call has bound it",
                       name, instance.path);
    for (const Instance *around = &instance; around; around = around->parent)
      diagnostic.note(around->at, "the instance '{}' is made here", around->path);
    return Entity();
  }
  auto it = instance.members.find(name);
  if (it == instance.members.end())
    return std::nullopt;
  const Declaration &declaration = it->second;
  if (const auto *fn = dyn_cast<ast::FnDecl>(declaration.stmt))
    return Entity(Function{fn, instance.part.module, &instance});
  LetName path;
  path.path = fmt::format("{}.{}", instance.path, name);
  path.order = instance.order;
  path.order.push_back(declaration.position);
  path.parent = &instance;
  path.isFrozen = instance.isFrozen;
  path.placement = instance.placement;
  if (!instance.formerly.empty())
    path.formerly = fmt::format("{}.{}", instance.formerly, name);
  if (!instance.whole.empty())
    path.whole = fmt::format("{}.{}", instance.whole, name);
  return valueOf({instance.members, instance.values, path, [&] { return instance.activation; },
                  [&](StringRef other) { valueInInstance(instance, other, at); }},
                 name);
}

Entity NameResolver::memberOfInstance(Instance &instance, const ast::Name &name) {
  if (std::optional<Entity> value = valueInInstance(instance, name.text, name.range))
    return *value;
  Diagnostic &diagnostic = reporter.error(name.range, "unknown-name", "'{}' has nothing named '{}'",
                                          instance.part.decl->name.text, name.text);
  SmallVector<StringRef> names;
  for (const auto &member : instance.members)
    names.push_back(member.getKey());
  for (const auto &param : instance.params)
    names.push_back(param.getKey());
  sort(names);
  reporter.suggestAmong(diagnostic, name.text, names);
  return Poison();
}

//===----------------------------------------------------------------------===//
// Everything that is declared
//===----------------------------------------------------------------------===//

void NameResolver::forceAll(Module &module) {
  for (const ast::Stmt *item : module.file->items) {
    if (const auto *var = dyn_cast<ast::VarDecl>(item))
      valueInModule(module, var->name.text, var->name.range);
    if (const auto *queue = dyn_cast<ast::QueueDecl>(item))
      valueInModule(module, queue->name.text, queue->name.range);
    if (const auto *dataset = dyn_cast<ast::DatasetDecl>(item))
      valueInModule(module, dataset->name.text, dataset->name.range);
    if (const auto *let = dyn_cast<ast::LetDecl>(item))
      for (const ast::Binding &binding : let->bindings)
        if (std::optional<Entity> value =
                valueInModule(module, binding.name.text, binding.name.range))
          forceAll(*value);
  }
}

void NameResolver::forceAll(const Entity &value, SourceRange user) {
  if (Instance *const *instance = value.get<Instance *>())
    forceAll(**instance, user);
  if (const Group *group = value.asGroup())
    for (const Entity &element : group->elements)
      forceAll(element, user);
}

/// Reports a size of the instance that no call has bound so far; false if there is none.
bool NameResolver::failUnbound(Instance &instance, SourceRange user) {
  auto unbound = find_if(instance.sizes, [](auto &size) { return !size.second.at.isValid(); });
  if (unbound == instance.sizes.end())
    return false;
  // After other errors the call may not have been reached.
  if (context.program.hasFailedEntries)
    return true;
  if (user.isValid())
    valueInInstance(instance, unbound->getKey(), user);
  else
    reporter.error(instance.at, "unknown-size",
                   "'{}' is never called, so its size '{}' is not known", instance.path,
                   unbound->getKey());
  return true;
}

void NameResolver::forceAll(Instance &instance, SourceRange user) {
  if (instance.isForced)
    return;
  instance.isForced = true;
  Budget::Scope expansion(context.budget,
                          {Expansion::Kind::Part, instance.part.decl->name.text, instance.at});
  if (!failUnbound(instance, user)) {
    std::vector<std::pair<unsigned, StringRef>> names;
    for (const auto &member : instance.members)
      if (!isa<ast::FnDecl>(member.second.stmt))
        names.emplace_back(member.second.position, member.getKey());
    sort(names);
    for (const auto &[position, name] : names)
      if (std::optional<Entity> value = valueInInstance(instance, name, instance.at))
        forceAll(*value, user);
  }
  // Once its calls have been reached, more of it is known.
  instance.isForced = !context.entry.needsSize;
}

} // namespace tfc::text
