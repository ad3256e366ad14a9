/// Executes statements.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Advisor;
class Binder;
class BlockRunner;
class Evaluator;
class Meter;
class ModuleLoader;
class Placer;
class Reporter;
class StaticStage;
class TensorEmitter;
class TypeEvaluator;
class VariableTable;

/// Where execution goes on after a statement: with the next one, or after a `return`.
enum class Flow { Next, Returned };

/// Executes statements.
class StatementRunner {
public:
  StatementRunner(Context &context, Evaluator &evaluator, Reporter &reporter, Meter &meter,
                  Advisor &advisor, StaticStage &staticStage, TensorEmitter &tensorEmitter,
                  TypeEvaluator &typeEvaluator, Binder &binder, ModuleLoader &moduleLoader,
                  VariableTable &variableTable, Placer &placer, BlockRunner &blockRunner)
      : context(context), evaluator(evaluator), reporter(reporter), meter(meter), advisor(advisor),
        staticStage(staticStage), tensorEmitter(tensorEmitter), typeEvaluator(typeEvaluator),
        binder(binder), moduleLoader(moduleLoader), variableTable(variableTable), placer(placer),
        blockRunner(blockRunner) {}

  Flow execBlock(const ast::Block &block);
  Flow exec(const ast::Stmt *stmt);
  void execBind(const ast::BindStmt &stmt);
  void execAnnotated(const ast::Stmt &stmt, llvm::function_ref<void()> run);

private:
  void execRecomputed(const ast::Stmt &stmt, llvm::function_ref<void()> run);
  Flow execPlaced(const ast::Stmt *stmt);
  void execLet(const ast::LetDecl &stmt);
  Entity failRunTimeLet(const ast::Binding &binding, const Entity &value);
  Flow execStaticIf(const ast::StaticIfStmt &stmt);
  Flow execStaticFor(const ast::StaticForStmt &stmt);
  void execReturn(const ast::ReturnStmt &stmt);

  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
  Meter &meter;
  Advisor &advisor;
  StaticStage &staticStage;
  TensorEmitter &tensorEmitter;
  TypeEvaluator &typeEvaluator;
  Binder &binder;
  ModuleLoader &moduleLoader;
  VariableTable &variableTable;
  Placer &placer;
  BlockRunner &blockRunner;
};

} // namespace tfc::text
