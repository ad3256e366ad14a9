// Reads graph files and those that they use, and enters their declarations.
#include "frontend/text/elaborate/ModuleLoader.h"

#include "frontend/AllowedFolders.h"
#include "frontend/text/elaborate/Advisor.h"
#include "frontend/text/elaborate/Library.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/syntax/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace tfc::text {

void ModuleLoader::allowFolderOf(FileId main) {
  tfc::allowFolderOf(context.sources.name(main), context.options.allowedPaths);
}

/// The path of a file that `from` names relative to its own folder; std::nullopt, after an error,
/// if it is outside of the folders that a graph may read.
std::optional<std::string> ModuleLoader::findFile(StringRef path, FileId from, SourceRange at) {
  if (std::optional<std::string> full =
          findAllowedFile(path, context.sources.name(from), context.options.allowedPaths))
    return full;
  reporter.error(at, "outside-folder", "'{}' is outside of the folder of the main graph", path)
      .help("--allow-path DIR lets graphs read the files below another folder");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static std::string stem(StringRef path) { return sys::path::stem(path).str(); }

/// Reports files that use each other in a cycle.
void ModuleLoader::reportCycle(FileId file, SourceRange usedAt) {
  size_t first =
      find_if(loading, [&](const auto &step) { return step.first == file; }) - loading.begin();
  bool isItself = first + 1 == loading.size();
  Diagnostic &diagnostic =
      reporter.error(usedAt, "use-cycle",
                     isItself ? Twine("the file uses itself")
                              : "'" + context.sources.text(usedAt).trim('"') +
                                    "' uses this file, so they would use each other without end");
  for (const auto &[other, at] : ArrayRef(loading).drop_front(first + 1))
    diagnostic.note(at, "through '{}', used here", context.sources.text(at).trim('"'));
}

Module *ModuleLoader::loadModule(FileId file, SourceRange usedAt, bool isShipped) {
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
  unsigned errorsBefore = context.diagnostics.errorCount();
  module->file = parseFile(context.sources, file, context.diagnostics);
  module->hasSyntaxErrors = context.diagnostics.errorCount() != errorsBefore;
  module->name =
      module->file->name ? module->file->name.text.str() : stem(context.sources.name(file));
  module->position = modules.size();
  if (std::optional<uint64_t> edition = module->file->edition; edition && *edition != 1)
    reporter.error(module->file->headerRange, "unknown-edition",
                   "this version of tfc supports edition 1 of the language, not {}", *edition);
  modules.push_back(std::move(module));
  declareItems(*result);
  modulesByFile[file] = result;
  return result;
}

Module *ModuleLoader::loadShipped(StringRef name, SourceRange usedAt) {
  std::optional<StringRef> text = librarySource(name);
  if (!text) {
    Diagnostic &diagnostic =
        reporter.error(usedAt, "unknown-file", "no file '{}' ships with tfc", name);
    SmallVector<StringRef> names = libraryNames();
    reporter.suggest(diagnostic, name, names);
    if (diagnostic.helpText.empty())
      diagnostic.help("name a file of your own in quotes: use \"{}.graph\"", name);
    return nullptr;
  }
  std::string path = fmt::format("tfc/{}.graph", name);
  std::optional<FileId> file = context.sources.find(path);
  if (!file)
    file = context.sources.add(path, *text);
  return loadModule(*file, usedAt, /*isShipped=*/true);
}

Module *ModuleLoader::loadUsed(const ast::UseDecl &use, const Module &from) {
  if (!use.path)
    return loadShipped(use.module.text, use.module.range);
  std::optional<StringRef> path = use.path->literal();
  if (!path) {
    reporter.error(use.path->range, "not-static", "the path of a used file is a plain string");
    return nullptr;
  }
  if (!path->ends_with(".graph")) {
    Diagnostic &diagnostic = reporter.error(use.path->range, "unknown-file",
                                            "'use' reads .graph files, not '{}'", *path);
    if (librarySource(*path))
      diagnostic.help("without quotes, 'use {}' names a file that ships with tfc", *path);
    return nullptr;
  }
  std::optional<std::string> full = findFile(*path, from.file->id, use.path->range);
  if (!full)
    return nullptr;
  // The file may have been read under another path.
  for (FileId other = 0; other < context.sources.size(); ++other)
    if (sys::fs::equivalent(context.sources.name(other), *full))
      return loadModule(other, use.path->range);
  std::string reason;
  std::optional<FileId> file = context.sources.load(*full, reason);
  if (!file) {
    reporter.error(use.path->range, "unknown-file", "cannot read '{}': {}", *full, reason);
    return nullptr;
  }
  return loadModule(*file, use.path->range);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void ModuleLoader::declare(StringMap<Declaration> &table, const ast::Name &name, Declaration what) {
  if (!name || name.isDiscard())
    return;
  what.at = name.range;
  auto [it, isNew] = table.try_emplace(name.text, what);
  if (!isNew)
    reporter.error(name.range, "duplicate-name", "'{}' is declared twice", name.text)
        .note(it->second.at, "first here");
}

/// Refuses types reserved for shipped files. The element of a list is an expression.
void ModuleLoader::checkTypes(const ast::File &file) {
  auto check = [&](StringRef name, SourceRange at) {
    if (name == kNumberType)
      reporter.error(at, "private-name", "'{}' is private to the files that ship with tfc",
                     kNumberType);
  };
  for (const ast::Type *type : file.types) {
    if (type->kind == ast::TypeKind::Named)
      check(type->name, type->baseRange);
    for (const ast::IndexItem &item : type->items)
      if (const auto *name = dyn_cast_or_null<ast::NameExpr>(item.value))
        check(name->name, name->range);
  }
}

void ModuleLoader::declareItems(Module &module) {
  unsigned position = 0;
  if (!module.isShipped)
    checkTypes(*module.file);
  for (const ast::Stmt *item : module.file->items) {
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
    } else if (const auto *dataset = dyn_cast<ast::DatasetDecl>(item)) {
      declare(module.declarations, dataset->name, declaration);
    } else if (const auto *dim = dyn_cast<ast::DimDecl>(item)) {
      append_range(module.facts, dim->facts);
    }
    if (isa<ast::FnDecl>(item))
      checkAnnotations(*item, {"recompute", "device", "colocate"});
    else if (isa<ast::VarDecl>(item))
      checkAnnotations(*item, kVariableAnnotations);
    else if (isa<ast::LetDecl>(item))
      checkAnnotations(*item, kLetAnnotations);
    else if (isa<ast::PartDecl, ast::QueueDecl>(item))
      checkAnnotations(*item, {"device", "colocate"});
    else
      checkAnnotations(*item, {});
  }
}

/// The names that another file may use, in order.
SmallVector<StringRef> publicNames(const Module &module) {
  SmallVector<StringRef> names;
  for (const auto &declaration : module.declarations)
    if (StringRef name = declaration.getKey(); !name.starts_with("_"))
      names.push_back(name);
  sort(names);
  return names;
}

void ModuleLoader::declareUse(Module &module, const ast::UseDecl &use, unsigned position) {
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
      Diagnostic &diagnostic = reporter.error(name.range, "unknown-name",
                                              "'{}' has nothing named '{}'", used->name, name.text);
      SmallVector<StringRef> names = publicNames(*used);
      reporter.suggestAmong(diagnostic, name.text, names);
    } else if (name.text.starts_with("_")) {
      reporter.error(name.range, "private-name", "'{}' is private to its file", name.text);
    }
  }
}

static constexpr StringRef kAnnotations[] = {"frozen", "was",      "slice",    "shards",
                                             "device", "colocate", "recompute"};

bool ModuleLoader::checkAnnotations(const ast::Stmt &stmt, ArrayRef<StringRef> known) {
  bool ok = true;
  for (const ast::Annotation &annotation : stmt.annotations) {
    StringRef name = annotation.name.text;
    if (is_contained(known, name)) {
      if (name == "recompute" && isa<ast::FnDecl>(stmt)) {
        advisor.laterWork(annotation.range, fmt::format("'@{}'", name));
        ok = false;
      }
      continue;
    }
    ok = false;
    bool isElsewhere = is_contained(kAnnotations, name);
    Diagnostic &diagnostic =
        reporter.error(annotation.range, "bad-annotation",
                       isElsewhere ? fmt::format("'@{}' does not apply to this", name)
                                   : fmt::format("there is no annotation '@{}'", name));
    if (!isElsewhere)
      reporter.suggest(diagnostic, name, kAnnotations);
  }
  return ok;
}

void ModuleLoader::prefixNames() {
  for (const auto &module : modules)
    if (module.get() != context.program.mainModule && !module->isShipped)
      module->prefix = module->name + ".";
}

} // namespace tfc::text
