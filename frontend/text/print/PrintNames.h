/// The names that a printed file gives to values, sizes and declarations.
#pragma once

#include "dialects/dfg/Dfg.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tfc::text {

/// Fails at the first declaration of the module with a name that cannot be written.
mlir::LogicalResult checkNames(mlir::ModuleOp module);

/// Chooses names so that each means one thing where it is used.
class PrintNames {
public:
  explicit PrintNames(mlir::ModuleOp module);

  /// The names in an entry or a function.
  struct Scope {
    llvm::DenseMap<mlir::Value, std::string> values;
    llvm::StringSet<> taken;
    /// The feeds of the entry, and its feeds and sizes or those of the function, which hide what
    /// the module declares.
    llvm::StringSet<> feeds, hiding;
    /// Second names of sizes, for expressions that cannot use their own.
    llvm::StringMap<std::string> sizeAliases;
  };
  void enterEntry(dfg::EntryOp entry);
  /// Starts a function that takes `sizes`; returns the scope in which it is needed.
  Scope enterFunction(llvm::ArrayRef<std::string> sizes);
  void leaveFunction(Scope outer) { scope = std::move(outer); }
  /// Starts a function without parameters, the names of whose values nothing else uses.
  void enterInitializer() { scope.taken.clear(); }

  /// The first of `base`, `base_1`, ... that is not in use.
  std::string create(llvm::StringRef base);
  /// An unused name for a declaration that the printer adds.
  std::string createDeclared(llvm::StringRef base);
  /// The same, without a number if `base` itself is unused.
  std::string createFunction(llvm::StringRef base);

  /// The name that the author gave to the value, made unique, or a numbered one.
  std::string create(mlir::Value value);
  void set(mlir::Value value, std::string text) { scope.values[value] = std::move(text); }
  bool has(mlir::Value value) const { return scope.values.contains(value); }
  std::string use(mlir::Value value) const { return scope.values.lookup(value); }
  std::string use(mlir::ValueRange values) const;
  /// The names of results, "a, _, b".
  std::string define(mlir::ValueRange results);

  /// The text that calls an operation or function of the language even if the graph declares the
  /// same name.
  std::string function(llvm::StringRef name) const;
  /// How a variable or queue is named where feeds or sizes may hide it. Second names go to
  /// `declarations`.
  std::string state(llvm::StringRef name, std::string &declarations);
  /// A size in an expression, which may need another name than in types.
  std::string size(const dfg::DimExpr &size) const;
  void aliasSize(llvm::StringRef name, llvm::StringRef alias) { scope.sizeAliases[name] = alias; }
  bool isFeed(llvm::StringRef name) const { return scope.feeds.contains(name); }

private:
  llvm::StringSet<> reserved;
  /// The names that the module declares, and the feeds and sizes of all its entries.
  llvm::StringSet<> declared, interfaces;
  /// Aliases of variables and queues, by name.
  llvm::StringMap<std::string> stateAliases;
  llvm::StringMap<unsigned> counts; // of declared names, by their base
  Scope scope;
};

} // namespace tfc::text
