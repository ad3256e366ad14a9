/// Elaborates 'if' on run-time values.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class BlockRunner;
class RegionEditor;
class Reporter;
class StatementRunner;
class TensorEmitter;

/// Elaborates 'if' on run-time values.
class BranchBuilder {
public:
  BranchBuilder(Context &context, Reporter &reporter, RegionEditor &regionEditor,
                TensorEmitter &tensorEmitter, BlockRunner &blockRunner,
                StatementRunner &statementRunner)
      : context(context), reporter(reporter), regionEditor(regionEditor),
        tensorEmitter(tensorEmitter), blockRunner(blockRunner), statementRunner(statementRunner) {}

  Entity evalIf(const ast::IfExpr &expr, llvm::ArrayRef<mlir::Type> hints);

private:
  bool runBranch(RunTimeBlock &block, mlir::Block &into, const ast::IfExpr &expr, bool isElse,
                 llvm::ArrayRef<mlir::Type> hints);
  bool joinBranches(RunTimeBlock &onTrue, RunTimeBlock &onFalse, dfg::IfOp op,
                    llvm::ArrayRef<mlir::Type> hints, const ast::IfExpr &expr,
                    std::vector<mlir::Value> &thenValues, std::vector<mlir::Value> &elseValues);

  Context &context;
  Reporter &reporter;
  RegionEditor &regionEditor;
  TensorEmitter &tensorEmitter;
  BlockRunner &blockRunner;
  StatementRunner &statementRunner;
};

} // namespace tfc::text
