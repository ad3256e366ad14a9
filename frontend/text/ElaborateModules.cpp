#include "dialects/dfg/OpTable.h"
#include "frontend/text/ElaborateImpl.h"
#include "frontend/text/Library.h"
#include "frontend/text/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static std::string stem(StringRef path) { return sys::path::stem(path).str(); }

/// Files that use each other, from the one that is met again on.
void Elaborator::reportCycle(FileId file, SourceRange usedAt) {
  size_t first =
      find_if(loading, [&](const auto &step) { return step.first == file; }) - loading.begin();
  bool isItself = first + 1 == loading.size();
  Diagnostic &diagnostic =
      error(usedAt, "use-cycle",
            isItself ? Twine("the file uses itself")
                     : "'" + sources.text(usedAt).trim('"') +
                           "' uses this file, so they would use each other without end");
  for (const auto &[other, at] : ArrayRef(loading).drop_front(first + 1))
    diagnostic.note(at, "through '" + sources.text(at).trim('"') + "', used here");
}

Module *Elaborator::loadModule(FileId file, SourceRange usedAt, bool isShipped) {
  if (auto it = modulesByFile.find(file); it != modulesByFile.end())
    return it->second;
  if (any_of(loading, [&](const auto &step) { return step.first == file; })) {
    reportCycle(file, usedAt);
    return nullptr;
  }
  loading.emplace_back(file, usedAt);
  llvm::scope_exit done([&] { loading.pop_back(); });

  auto module = std::make_unique<Module>();
  Module *result = module.get();
  module->isShipped = isShipped;
  unsigned errorsBefore = diagnostics.errorCount();
  module->file = parseFile(sources, file, diagnostics);
  module->hasSyntaxErrors = diagnostics.errorCount() != errorsBefore;
  module->name = module->file->name ? module->file->name.text.str() : stem(sources.name(file));
  module->position = modules.size();
  if (std::optional<uint64_t> edition = module->file->edition; edition && *edition != 1)
    error(module->file->headerRange, "unknown-edition",
          "this tfc knows edition 1 of the language, not " + Twine(*edition));
  modules.push_back(std::move(module));
  declareItems(*result);
  modulesByFile[file] = result;
  return result;
}

Module *Elaborator::loadShipped(StringRef name, SourceRange usedAt) {
  std::optional<StringRef> text = librarySource(name);
  if (!text) {
    Diagnostic &diagnostic = error(usedAt, "unknown-file", "no file '" + name + "' ships with tfc");
    SmallVector<StringRef> names = libraryNames();
    suggest(diagnostic, name, names);
    if (diagnostic.helpText.empty())
      diagnostic.help("a file of your own is named in quotes: use \"" + name + ".graph\"");
    return nullptr;
  }
  std::string path = ("tfc/" + name + ".graph").str();
  std::optional<FileId> file = sources.find(path);
  if (!file)
    file = sources.add(path, *text);
  return loadModule(*file, usedAt, /*isShipped=*/true);
}

Module *Elaborator::loadUsed(const ast::UseDecl &use, const Module &from) {
  if (!use.path)
    return loadShipped(use.module.text, use.module.range);
  std::optional<StringRef> path = use.path->literal();
  if (!path) {
    error(use.path->range, "not-static", "the path of a used file is a plain string");
    return nullptr;
  }
  if (!path->ends_with(".graph")) {
    error(use.path->range, "unknown-file", "'use' reads .graph files, not '" + *path + "'");
    return nullptr;
  }
  std::optional<std::string> full = findFile(*path, from.file->id, use.path->range);
  if (!full)
    return nullptr;
  // The same file by another path is the same file.
  for (FileId other = 0; other < sources.size(); ++other)
    if (sys::fs::equivalent(sources.name(other), *full))
      return loadModule(other, use.path->range);
  std::string reason;
  std::optional<FileId> file = sources.load(*full, reason);
  if (!file) {
    error(use.path->range, "unknown-file", "cannot read '" + Twine(*full) + "': " + reason);
    return nullptr;
  }
  return loadModule(*file, use.path->range);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void Elaborator::declare(StringMap<Declaration> &table, const ast::Name &name, Declaration what) {
  if (!name || name.isDiscard())
    return;
  what.at = name.range;
  auto [it, isNew] = table.try_emplace(name.text, what);
  if (!isNew)
    error(name.range, "duplicate-name", "'" + name.text + "' is declared twice")
        .note(it->second.at, "first here");
}

/// Refuses types that shipped files keep for themselves, in a function or in a part and its
/// members.
void Elaborator::checkParamTypes(const ast::Stmt &item) {
  auto check = [&](ArrayRef<ast::Param> params) {
    for (const ast::Param &param : params)
      if (param.type && param.type->kind == ast::TypeKind::Named && param.type->name == kNumberType)
        error(param.type->baseRange, "private-name",
              "'" + kNumberType + "' is private to the files that ship with tfc");
  };
  if (const auto *fn = dyn_cast<ast::FnDecl>(&item))
    check(fn->params);
  if (const auto *part = dyn_cast<ast::PartDecl>(&item)) {
    check(part->params);
    for (const ast::Stmt *member : part->members)
      checkParamTypes(*member);
  }
}

void Elaborator::declareItems(Module &module) {
  unsigned position = 0;
  for (const ast::Stmt *item : module.file->items) {
    if (!module.isShipped)
      checkParamTypes(*item);
    Declaration declaration;
    declaration.stmt = item;
    declaration.position = position++;
    if (const auto *use = dyn_cast<ast::UseDecl>(item))
      declareUse(module, *use, declaration.position);
    else if (const auto *var = dyn_cast<ast::VarDecl>(item))
      declare(module.declarations, var->name, declaration);
    else if (const auto *fn = dyn_cast<ast::FnDecl>(item))
      declare(module.declarations, fn->name, declaration);
    else if (const auto *part = dyn_cast<ast::PartDecl>(item))
      declare(module.declarations, part->name, declaration);
    else if (const auto *let = dyn_cast<ast::LetDecl>(item)) {
      for (const ast::Binding &binding : let->bindings) {
        declaration.binding = &binding;
        declare(module.declarations, binding.name, declaration);
        declaration.position = position++;
      }
    } else if (const auto *queue = dyn_cast<ast::QueueDecl>(item)) {
      declare(module.declarations, queue->name, declaration);
    }
    if (isa<ast::FnDecl>(item))
      checkAnnotations(*item, {"recompute", "device"});
    else if (isa<ast::VarDecl, ast::LetDecl>(item))
      checkAnnotations(*item, {"frozen", "was", "device", "colocate"});
    else
      checkAnnotations(*item, {});
  }
}

/// What another file may name, in order.
static SmallVector<StringRef> publicNames(const Module &module) {
  SmallVector<StringRef> names;
  for (const auto &declaration : module.declarations)
    if (StringRef name = declaration.getKey(); !name.starts_with("_"))
      names.push_back(name);
  sort(names);
  return names;
}

void Elaborator::declareUse(Module &module, const ast::UseDecl &use, unsigned position) {
  Module *used = loadUsed(use, module);
  Declaration declaration;
  declaration.stmt = &use;
  declaration.module = used;
  declaration.position = position;
  if (use.alias)
    declare(module.declarations, use.alias, declaration);
  else if (use.module && use.names.empty())
    declare(module.declarations, use.module, declaration);
  else if (use.path && use.names.empty() && used)
    declare(module.declarations, {StringRef(used->name), use.path->range}, declaration);
  for (const ast::Name &name : use.names) {
    declaration.selected = name.text;
    declare(module.declarations, name, declaration);
    if (used && !used->declarations.contains(name.text)) {
      Diagnostic &diagnostic = error(name.range, "unknown-name",
                                     "'" + used->name + "' has nothing named '" + name.text + "'");
      SmallVector<StringRef> names = publicNames(*used);
      suggestAmong(diagnostic, name.text, names);
    } else if (name.text.starts_with("_")) {
      error(name.range, "private-name", "'" + name.text + "' is private to its file");
    }
  }
}

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

std::optional<Entity> Elaborator::lookup(StringRef name, SourceRange at) {
  if (std::optional<Entity> value = lookupDeclared(name, at))
    return value;
  if (prelude && prelude->declarations.contains(name)) {
    bool isShipped = !frame || !frame->module || frame->module->isShipped;
    if (name.starts_with("_") && !isShipped)
      return fail(at, "private-name", "'" + name + "' is private to its file");
    return valueInModule(*prelude, name, at);
  }
  return builtinByName(name);
}

std::optional<Entity> Elaborator::lookupDeclared(StringRef name, SourceRange at, bool inBlocks) {
  if (frame) {
    if (Local *local = frame->find(name))
      return local->value;
    if (std::optional<Entity> value = inBlocks ? lookupDataflow(name, at) : std::nullopt)
      return value;
    if (frame->self)
      if (std::optional<Entity> value = valueInInstance(*frame->self, name, at))
        return value;
    if (frame->module)
      if (std::optional<Entity> value = valueInModule(*frame->module, name, at))
        return value;
  }
  return std::nullopt;
}

std::optional<Entity> Elaborator::valueInModule(Module &module, StringRef name, SourceRange at) {
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
  LazyValue &lazy = module.values[name];
  if (const auto *var = dyn_cast<ast::VarDecl>(declaration.stmt)) {
    if (lazy.state == LazyValue::State::New) {
      lazy.state = LazyValue::State::Done;
      Variable *variable = declareVariable(*var, path, newFrame(&module, nullptr));
      lazy.value = variable ? Entity(variable) : Entity();
    }
    return lazy.value;
  }
  if (const auto *queue = dyn_cast<ast::QueueDecl>(declaration.stmt)) {
    if (lazy.state == LazyValue::State::New) {
      lazy.state = LazyValue::State::Done;
      lazy.value = declareQueue(*queue, path, newFrame(&module, nullptr));
    }
    return lazy.value;
  }
  if (!declaration.binding)
    return Entity();
  if (lazy.state == LazyValue::State::New)
    forceNamed(
        *declaration.binding,
        [&](StringRef other) -> const ast::Binding * {
          auto found = module.declarations.find(other);
          bool isNew = found != module.declarations.end() &&
                       module.values[other].state == LazyValue::State::New;
          return isNew ? found->second.binding : nullptr;
        },
        [&](const ast::Binding &other) { valueInModule(module, other.name.text, at); });
  return force(lazy, *declaration.binding, newFrame(&module, nullptr), path, *declaration.stmt);
}

/// `path` with its last name replaced by the one that it had before.
std::string renameLast(const std::string &path, StringRef name, StringRef former) {
  size_t stem = path.size() >= name.size() ? path.size() - name.size() : 0;
  return path.substr(0, stem) + former.str();
}

/// `let`s that are evaluated for each other, from which on those that they name come first.
static constexpr unsigned kDeepLets = 64;

void Elaborator::forceNamed(const ast::Binding &binding,
                            function_ref<const ast::Binding *(StringRef)> find,
                            function_ref<void(const ast::Binding &)> evaluate) {
  if (letDepth < kDeepLets)
    return;
  DenseSet<const ast::Binding *> seen = {&binding};
  // What was visited already is at the end: what it names has been evaluated.
  SmallVector<std::pair<const ast::Binding *, bool>> pending;
  auto visit = [&](const ast::Expr *value) {
    forEachName(value, [&](const ast::NameExpr &name) {
      if (const ast::Binding *other = find(name.name); other && seen.insert(other).second)
        pending.push_back({other, false});
    });
  };
  visit(binding.value);
  while (!pending.empty() && !budget.isStopped()) {
    auto &[next, isVisited] = pending.back();
    if (isVisited) {
      const ast::Binding &ready = *next;
      pending.pop_back();
      evaluate(ready);
    } else {
      isVisited = true;
      visit(next->value);
    }
  }
}

Entity Elaborator::force(LazyValue &lazy, const ast::Binding &binding,
                         std::shared_ptr<Frame> bindingFrame, LetName name, const ast::Stmt &stmt) {
  if (lazy.state == LazyValue::State::Running)
    return fail(binding.name.range, "let-cycle",
                "'" + binding.name.text + "' is computed from itself");
  bool isStale = lazy.entry != 0 && lazy.entry != entryNumber;
  if (lazy.state == LazyValue::State::Done && !isStale)
    return lazy.value;
  lazy.state = LazyValue::State::Running;
  SaveAndRestore<unsigned> deeper(letDepth, letDepth + 1);
  if (std::string former = formerName(stmt); !former.empty())
    name.formerly =
        renameLast(name.formerly.empty() ? name.path : name.formerly, binding.name.text, former);
  name.isFrozen |= isFrozen(stmt);
  SaveAndRestore<Frame *> outerFrame(frame, bindingFrame.get());
  SaveAndRestore<std::string> outerName(bindingName, binding.name.text.str());
  SaveAndRestore<std::optional<TensorType>> outerExpected(expected, std::nullopt);
  if (binding.type && !isStaticType(*binding.type))
    expected = evalType(*binding.type);
  Entity value;
  // What an entry computes of it serves the whole entry.
  outsideOfRegions([&] { value = evalLet(binding.value, name); });
  if (binding.type && !value.isPoison()) {
    if (isStaticType(*binding.type)) {
      ast::Param param;
      param.name = binding.name;
      param.type = binding.type;
      value = convertStatic(param, {{}, binding.value, rangeOf(binding.value), value})
                  .value_or(Entity());
    } else {
      value = checkResult(*binding.type, value, rangeOf(binding.value),
                          ("'" + binding.name.text + "'").str());
    }
  }
  lazy.state = LazyValue::State::Done;
  lazy.entry = value.isStatic() ? 0 : entryNumber;
  lazy.value = value;
  return value;
}

static constexpr StringLiteral kBuiltins[] = {
    "abs",       "add_n",        "append",        "assign",    "assign_add", "assign_sub",
    "bounded",   "cast",         "ceil",          "close",     "constant",   "cos",
    "dequeue",   "dequeue_many", "dequeue_up_to", "dtype",     "enqueue",    "enqueue_many",
    "ensure",    "exp",          "float",         "floor",     "gradients",  "int",
    "is_float",  "is_int",       "is_known",      "is_sparse", "len",        "load",
    "log",       "max",          "maximum",       "min",       "minimum",    "pow",
    "prod",      "rank",         "read",          "scatter",   "shape",      "sin",
    "size",      "sqrt",         "tanh",          "trainable", "unstack",    "values",
    "variables", "wide",         "with_values",   "write",     "zip"};

std::optional<Entity> Elaborator::builtinByName(StringRef name) {
  // `dfg.sum` is the operation also where a declaration hides `sum`.
  name.consume_front("dfg.");
  if (name == "all")
    return Entity(All{});
  if (name == "pi")
    return Entity(3.14159265358979323846);
  if (const auto *it = find(kBuiltins, name); it != std::end(kBuiltins))
    return Entity(Builtin{*it});
  if (const dfg::OpSignature *op = dfg::lookupOp(name))
    return Entity(op);
  return std::nullopt;
}

Entity Elaborator::memberOfModule(Module &module, const ast::Name &name) {
  if (name.text.starts_with("_"))
    return fail(name.range, "private-name", "'" + name.text + "' is private to its file");
  if (std::optional<Entity> value = valueInModule(module, name.text, name.range))
    return *value;
  Diagnostic &diagnostic = error(name.range, "unknown-name",
                                 "'" + module.name + "' has nothing named '" + name.text + "'");
  SmallVector<StringRef> names = publicNames(module);
  suggestAmong(diagnostic, name.text, names);
  return Poison();
}

std::vector<StringRef> Elaborator::visibleNames() {
  std::vector<StringRef> names;
  auto addAll = [&](const auto &table) {
    for (const auto &entry : table)
      names.push_back(entry.getKey());
  };
  if (frame) {
    addAll(frame->locals);
    if (frame->self) {
      addAll(frame->self->members);
      addAll(frame->self->params);
    }
    if (frame->module)
      addAll(frame->module->declarations);
  }
  if (prelude)
    addAll(prelude->declarations);
  names.insert(names.end(), std::begin(kBuiltins), std::end(kBuiltins));
  for (const dfg::OpSignature &op : dfg::allOps())
    names.push_back(op.name);
  sort(names);
  return names;
}

Entity Elaborator::unknownName(StringRef name, SourceRange at) {
  Diagnostic &diagnostic = error(at, "unknown-name", "nothing is named '" + name + "' here");
  if (!hintEnded(diagnostic, name) && !hintForeign(diagnostic, name)) {
    suggest(diagnostic, name, visibleNames());
    hintLibrary(diagnostic, name);
  }
  return Poison();
}

} // namespace tfc::text
