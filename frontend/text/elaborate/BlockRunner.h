/// Elaborates run-time blocks and what they yield.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Evaluator;
class Reporter;
class TensorEmitter;

/// Elaborates run-time blocks and what they yield.
class BlockRunner {
public:
  BlockRunner(Context &context, Evaluator &evaluator, Reporter &reporter,
              TensorEmitter &tensorEmitter)
      : context(context), evaluator(evaluator), reporter(reporter), tensorEmitter(tensorEmitter) {}

  /// Elaborates `body` as a run-time block at the end of `into`; `bind` binds its names.
  bool runBlock(RunTimeBlock &block, mlir::Block &into, llvm::function_ref<void()> bind,
                llvm::function_ref<bool()> body);
  void execYield(const ast::YieldStmt &stmt);

private:
  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
  TensorEmitter &tensorEmitter;
};

} // namespace tfc::text
