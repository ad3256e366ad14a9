/// Elaborates 'dataflow' blocks.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class BlockRunner;
class Evaluator;
class OperationBuilder;
class RegionEditor;
class Reporter;
class StatementRunner;
class TensorEmitter;

/// Elaborates 'dataflow' blocks.
class DataflowBuilder {
public:
  DataflowBuilder(Context &context, Evaluator &evaluator, Reporter &reporter,
                  RegionEditor &regionEditor, TensorEmitter &tensorEmitter,
                  OperationBuilder &operationBuilder, BlockRunner &blockRunner,
                  StatementRunner &statementRunner)
      : context(context), evaluator(evaluator), reporter(reporter), regionEditor(regionEditor),
        tensorEmitter(tensorEmitter), operationBuilder(operationBuilder), blockRunner(blockRunner),
        statementRunner(statementRunner) {}

  Entity evalDataflow(const ast::DataflowExpr &expr);
  std::optional<Entity> lookupDataflow(llvm::StringRef name, SourceRange at);
  Entity callAfter(const ast::CallExpr &call);
  Entity callMerge(const ast::CallExpr &call);

private:
  void declareBindings(DataflowScope &scope, const ast::Block &body);
  void reportCycle(DataflowScope &scope, llvm::StringRef name, SourceRange at);
  void bindInDataflow(DataflowScope &scope, const ast::BindStmt &stmt);
  dfg::NodeOp makeNode(DataflowScope &scope, mlir::Operation *op,
                       llvm::ArrayRef<mlir::Value> after);
  void makeTrigger(DataflowScope &scope, DataflowScope::Binding &binding);
  bool isBackEdge(const ast::Expr *expr, unsigned depth);
  bool connectBackEdges(DataflowScope &scope);
  void checkEffectOrder(dfg::DataflowOp op);

  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
  RegionEditor &regionEditor;
  TensorEmitter &tensorEmitter;
  OperationBuilder &operationBuilder;
  BlockRunner &blockRunner;
  StatementRunner &statementRunner;
};

} // namespace tfc::text
