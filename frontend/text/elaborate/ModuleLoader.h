/// Reads graph files and those that they use, and enters their declarations.
#pragma once

#include "frontend/text/elaborate/Context.h"
#include <map>

namespace tfc::text {

class Advisor;
class Reporter;

/// Annotations that may precede a `var`, and those that may precede a `let`.
inline constexpr llvm::StringRef kVariableAnnotations[] = {"frozen", "was", "slice", "device",
                                                           "colocate"};
inline constexpr llvm::StringRef kLetAnnotations[] = {"frozen", "was", "shards", "device",
                                                      "colocate"};

/// Reads graph files and those that they use, and enters their declarations.
class ModuleLoader {
public:
  ModuleLoader(Context &context, Reporter &reporter, Advisor &advisor)
      : context(context), reporter(reporter), advisor(advisor) {}

  void allowFolderOf(FileId main);
  std::optional<std::string> findFile(llvm::StringRef path, FileId from, SourceRange at);
  Module *loadModule(FileId file, SourceRange usedAt, bool isShipped = false);
  Module *loadShipped(llvm::StringRef name, SourceRange usedAt);
  void declare(llvm::StringMap<Declaration> &table, const ast::Name &name, Declaration what);
  bool checkAnnotations(const ast::Stmt &stmt, llvm::ArrayRef<llvm::StringRef> known);
  /// Prefixes the names of state declared by files other than the main one with the graph's name.
  void prefixNames();

private:
  void reportCycle(FileId file, SourceRange usedAt);
  Module *loadUsed(const ast::UseDecl &use, const Module &from);
  void declareItems(Module &module);
  void checkTypes(const ast::File &file);
  void declareUse(Module &module, const ast::UseDecl &use, unsigned position);

  Context &context;
  Reporter &reporter;
  Advisor &advisor;
  std::vector<std::unique_ptr<Module>> modules;
  std::map<FileId, Module *> modulesByFile;
  /// The files being read, each used by the previous one, with the location of its use.
  std::vector<std::pair<FileId, SourceRange>> loading;
};

/// The names that another file may use, in order.
llvm::SmallVector<llvm::StringRef> publicNames(const Module &module);

} // namespace tfc::text
