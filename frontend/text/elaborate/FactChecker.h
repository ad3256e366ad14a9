/// Checks the facts of a `where`; those about run-time sizes are checked by each call.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Evaluator;
class Reporter;
class SizeScope;
class StaticStage;
class TensorEmitter;

/// Checks the facts of a `where`; those about run-time sizes are checked by each call.
class FactChecker {
public:
  FactChecker(Context &context, Evaluator &evaluator, SizeScope &sizeScope, Reporter &reporter,
              StaticStage &staticStage, TensorEmitter &tensorEmitter)
      : context(context), evaluator(evaluator), sizeScope(sizeScope), reporter(reporter),
        staticStage(staticStage), tensorEmitter(tensorEmitter) {}

  bool checkWhere(llvm::ArrayRef<ast::Expr *> facts, const std::string &what);
  void recordFact(const dfg::Fact &fact, SourceRange at);

private:
  void noteReasons(Diagnostic &diagnostic, const ast::Expr &fact);
  void checkFact(const dfg::Fact &fact, SourceRange at);
  /// The names in a fact with their values, for messages.
  std::string namesIn(const ast::Expr &fact);
  std::optional<Entity> factValue(const ast::Expr *fact);

  Context &context;
  Evaluator &evaluator;
  SizeScope &sizeScope;
  Reporter &reporter;
  StaticStage &staticStage;
  TensorEmitter &tensorEmitter;
};

/// The comparison of an operator; nothing for operators that do not compare.
std::optional<dfg::Comparison> comparisonOf(ast::BinaryOp op);

} // namespace tfc::text
