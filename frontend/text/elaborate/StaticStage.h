/// Computes with values known at compile time.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Evaluator;
class Meter;
class Reporter;
class SizeScope;

/// Computes with values known at compile time.
class StaticStage {
public:
  StaticStage(Context &context, Evaluator &evaluator, SizeScope &sizeScope, Reporter &reporter,
              Meter &meter)
      : context(context), evaluator(evaluator), sizeScope(sizeScope), reporter(reporter),
        meter(meter) {}

  std::optional<int64_t> evalStaticInt(const ast::Expr *expr);
  /// Applies the operator to static values; std::nullopt if an operand is a run-time value.
  std::optional<Entity> staticBinary(ast::BinaryOp op, const Entity &lhs, const Entity &rhs,
                                     SourceRange at);
  /// Functions of numbers that operations also offer for tensors: sqrt, min, ...
  std::optional<Entity> staticMath(llvm::StringRef name, llvm::ArrayRef<Argument> args,
                                   SourceRange at);
  std::optional<bool> evalCondition(const ast::Expr *expr, llvm::StringRef what);

private:
  std::optional<Entity> intBinary(ast::BinaryOp op, int64_t lhs, int64_t rhs, SourceRange at);

  Context &context;
  Evaluator &evaluator;
  SizeScope &sizeScope;
  Reporter &reporter;
  Meter &meter;
};

} // namespace tfc::text
