/// Elaborates 'while', 'for' and 'scan'.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Binder;
class BlockRunner;
class Evaluator;
class ListEmitter;
class RegionEditor;
class Reporter;
class SizeScope;
class StatementRunner;
class TensorEmitter;
class TypeEvaluator;
class Unifier;

/// Elaborates 'while', 'for' and 'scan'.
class LoopBuilder {
public:
  LoopBuilder(Context &context, Evaluator &evaluator, SizeScope &sizeScope, Reporter &reporter,
              RegionEditor &regionEditor, TensorEmitter &tensorEmitter,
              TypeEvaluator &typeEvaluator, Unifier &unifier, Binder &binder,
              ListEmitter &listEmitter, BlockRunner &blockRunner, StatementRunner &statementRunner)
      : context(context), evaluator(evaluator), sizeScope(sizeScope), reporter(reporter),
        regionEditor(regionEditor), tensorEmitter(tensorEmitter), typeEvaluator(typeEvaluator),
        unifier(unifier), binder(binder), listEmitter(listEmitter), blockRunner(blockRunner),
        statementRunner(statementRunner) {}

  Entity evalWhile(const ast::WhileExpr &expr);
  Entity evalForOrScan(llvm::StringRef keyword, SourceRange at, const ast::Each &each,
                       llvm::ArrayRef<ast::Binding> carried, const ast::Block &body);

private:
  /// The sequence and the carried values of the current loop.
  struct Loop;

  struct Part;

  bool evalRange(Loop &loop, const ast::Each &each);
  bool evalBounds(Loop &loop, const ast::Each &each);
  bool evalSources(Loop &loop, const ast::Each &each);
  bool addSource(Loop &loop, const Entity &value, SourceRange at);
  bool evalCarried(Loop &loop);
  bool buildCondition(Loop &loop, const ast::Expr *condition);
  bool buildBody(Loop &loop, const ast::Block &body);
  static Entity carriedValue(const Part &part, mlir::ValueRange values);
  void bindCarried(const Loop &loop, mlir::Block &block);
  void bindElements(Loop &loop);
  bool convertYield(Loop &loop, RunTimeBlock &block, const ast::Block &body);
  bool convertNext(Loop &loop, size_t i, const Entity &value, SourceRange at);
  void reportCarried(const ast::Binding &binding, mlir::Type start, mlir::Value next,
                     SourceRange nextAt);
  bool addStacks(Loop &loop, RunTimeBlock &block, size_t sizesOutside);
  void checkEnd(dfg::WhileOp loop, const ast::Expr *condition);
  Entity finishLoop(Loop &loop, const ast::Expr *condition);
  Entity elaborateLoop(Loop &loop, const ast::Expr *condition, const ast::Block &body);

  Context &context;
  Evaluator &evaluator;
  SizeScope &sizeScope;
  Reporter &reporter;
  RegionEditor &regionEditor;
  TensorEmitter &tensorEmitter;
  TypeEvaluator &typeEvaluator;
  Unifier &unifier;
  Binder &binder;
  ListEmitter &listEmitter;
  BlockRunner &blockRunner;
  StatementRunner &statementRunner;
};

} // namespace tfc::text
