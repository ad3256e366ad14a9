/// Elaborates entries: feeds, facts, body and results.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class CallEvaluator;
class FactChecker;
class FactSolver;
class ModuleLoader;
class Reporter;
class TensorEmitter;
class TypeEvaluator;

/// Elaborates entries: feeds, facts, body and results.
class EntryElaborator {
public:
  EntryElaborator(Context &context, Reporter &reporter, TensorEmitter &tensorEmitter,
                  FactChecker &factChecker, FactSolver &factSolver, TypeEvaluator &typeEvaluator,
                  ModuleLoader &moduleLoader, CallEvaluator &callEvaluator)
      : context(context), reporter(reporter), tensorEmitter(tensorEmitter),
        factChecker(factChecker), factSolver(factSolver), typeEvaluator(typeEvaluator),
        moduleLoader(moduleLoader), callEvaluator(callEvaluator) {}

  /// Elaborates all entries of a file.
  void elaborateEntries(Module &module);

private:
  bool mustWait(Module &module, const ast::FnDecl &entry);
  void elaborateEntry(Module &module, const ast::FnDecl &entry);
  void elaborateKnowing(Module &module, const ast::FnDecl &entry, llvm::ArrayRef<StatedFact> known);
  void restoreOrder(llvm::ArrayRef<const ast::FnDecl *> entries);
  bool bindFeeds(const Module &module, const ast::FnDecl &entry, llvm::ArrayRef<StatedFact> known,
                 EntryHeader &header);
  bool bindFeedSizes(const ast::Type &type, EntryHeader &header);
  void declareSymbols(const ast::Expr *expr, EntryHeader &header);
  std::optional<TensorType> feedType(const ast::Type &type, const EntryHeader &header);
  bool isDimension(llvm::StringRef name);
  bool checkSolvable(const ast::FnDecl &entry, const EntryHeader &header);
  void applyFileFacts(Module &module);
  bool isAboutResults(const ast::Expr *fact, const ast::FnDecl &entry);
  void finishEntry(const ast::FnDecl &entry, const EntryHeader &header, const Entity &result);

  Context &context;
  Reporter &reporter;
  TensorEmitter &tensorEmitter;
  FactChecker &factChecker;
  FactSolver &factSolver;
  TypeEvaluator &typeEvaluator;
  ModuleLoader &moduleLoader;
  CallEvaluator &callEvaluator;
};

} // namespace tfc::text
