/// Turns syntax trees into a dfg module: expands functions, parts and the static stage.
#pragma once

#include "frontend/text/elaborate/Advisor.h"
#include "frontend/text/elaborate/Binder.h"
#include "frontend/text/elaborate/BlockRunner.h"
#include "frontend/text/elaborate/BranchBuilder.h"
#include "frontend/text/elaborate/Builtins.h"
#include "frontend/text/elaborate/CallEvaluator.h"
#include "frontend/text/elaborate/DataflowBuilder.h"
#include "frontend/text/elaborate/DatasetEmitter.h"
#include "frontend/text/elaborate/EntryElaborator.h"
#include "frontend/text/elaborate/ErrorCapture.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/ExpressionEvaluator.h"
#include "frontend/text/elaborate/FactChecker.h"
#include "frontend/text/elaborate/FactSolver.h"
#include "frontend/text/elaborate/GradientBuilder.h"
#include "frontend/text/elaborate/IndexEvaluator.h"
#include "frontend/text/elaborate/InitializerElaborator.h"
#include "frontend/text/elaborate/ListEmitter.h"
#include "frontend/text/elaborate/LoopBuilder.h"
#include "frontend/text/elaborate/Meter.h"
#include "frontend/text/elaborate/ModuleLoader.h"
#include "frontend/text/elaborate/NameResolver.h"
#include "frontend/text/elaborate/OperationBuilder.h"
#include "frontend/text/elaborate/ParameterBinder.h"
#include "frontend/text/elaborate/PartInstantiator.h"
#include "frontend/text/elaborate/Placer.h"
#include "frontend/text/elaborate/QueueEmitter.h"
#include "frontend/text/elaborate/RandomDraws.h"
#include "frontend/text/elaborate/RegionEditor.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/SizeExplainer.h"
#include "frontend/text/elaborate/SizeScope.h"
#include "frontend/text/elaborate/Slicer.h"
#include "frontend/text/elaborate/StatementRunner.h"
#include "frontend/text/elaborate/StaticStage.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "frontend/text/elaborate/TypeEvaluator.h"
#include "frontend/text/elaborate/UncalledChecker.h"
#include "frontend/text/elaborate/Unifier.h"
#include "frontend/text/elaborate/VariableTable.h"

namespace tfc::text {

/// The collaborators, each of which uses only earlier ones.
class Elaborator final : public Evaluator {
public:
  Elaborator(GraphBuilder &builder, SourceManager &sources, DiagnosticEngine &diagnostics,
             const ImportOptions &options = {});

  /// Elaborates `file` and the files that it uses; all errors have been reported when it returns.
  void run(FileId file);

  //===--- For other frontends (LibraryCalls.cpp) -------------------------===//

  Module *loadShipped(llvm::StringRef file);
  std::optional<Function> findShipped(llvm::StringRef file, llvm::StringRef name);
  /// Expands a call with these arguments in the current entry.
  Entity callWith(const Function &function,
                  llvm::ArrayRef<std::pair<llvm::StringRef, Entity>> values);

  //===--- Evaluator ------------------------------------------------------===//

  Entity eval(const ast::Expr *expr) override { return expressionEvaluator.eval(expr); }
  std::optional<Entity> lookup(llvm::StringRef name, SourceRange at) override {
    return nameResolver.lookup(name, at);
  }
  std::optional<Entity> lookupDeclared(llvm::StringRef name, SourceRange at,
                                       bool inBlocks = true) override {
    return nameResolver.lookupDeclared(name, at, inBlocks);
  }
  std::optional<Entity> lookupDataflow(llvm::StringRef name, SourceRange at) override {
    return dataflowBuilder.lookupDataflow(name, at);
  }
  std::optional<Entity> valueInModule(Module &module, llvm::StringRef name,
                                      SourceRange at) override {
    return nameResolver.valueInModule(module, name, at);
  }
  std::optional<Entity> valueInInstance(Instance &instance, llvm::StringRef name,
                                        SourceRange at) override {
    return nameResolver.valueInInstance(instance, name, at);
  }

private:
  Context context;

  SizeScope sizeScope;
  Reporter reporter;
  Meter meter;
  Advisor advisor;
  SizeExplainer sizeExplainer;
  ErrorCapture errorCapture;
  StaticStage staticStage;
  Placer placer;
  RegionEditor regionEditor;
  TensorEmitter tensorEmitter;
  FactChecker factChecker;
  FactSolver factSolver;
  TypeEvaluator typeEvaluator;
  Unifier unifier;
  Binder binder;
  RandomDraws randomDraws;
  ListEmitter listEmitter;
  ParameterBinder parameterBinder;
  ModuleLoader moduleLoader;
  PartInstantiator partInstantiator;
  QueueEmitter queueEmitter;
  DatasetEmitter datasetEmitter;
  Slicer slicer;
  VariableTable variableTable;
  NameResolver nameResolver;
  OperationBuilder operationBuilder;
  GradientBuilder gradientBuilder;
  Builtins builtins;
  IndexEvaluator indexEvaluator;
  BlockRunner blockRunner;
  StatementRunner statementRunner;
  BranchBuilder branchBuilder;
  LoopBuilder loopBuilder;
  DataflowBuilder dataflowBuilder;
  CallEvaluator callEvaluator;
  ExpressionEvaluator expressionEvaluator;
  EntryElaborator entryElaborator;
  InitializerElaborator initializerElaborator;
  UncalledChecker uncalledChecker;
};

} // namespace tfc::text
