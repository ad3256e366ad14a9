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
  std::optional<std::string> evalStaticString(const ast::Expr *expr);
  /// Applies the operator to static values; std::nullopt if an operand is a run-time value.
  std::optional<Entity> staticBinary(ast::BinaryOp op, const Entity &lhs, const Entity &rhs,
                                     SourceRange at);
  /// The value of a function of one number, such as `sqrt`; std::nullopt if the number is a size.
  std::optional<Entity> applyMath(double (*function)(double), const Entity &x, SourceRange at);
  Entity product(llvm::ArrayRef<Entity> numbers, SourceRange at);
  std::optional<bool> evalCondition(const ast::Expr *expr, llvm::StringRef what);

private:
  template <typename T> std::optional<T> evalStatic(const ast::Expr *expr, llvm::StringRef what);
  std::optional<Entity> intBinary(ast::BinaryOp op, int64_t lhs, int64_t rhs, SourceRange at);

  Context &context;
  Evaluator &evaluator;
  SizeScope &sizeScope;
  Reporter &reporter;
  Meter &meter;
};

} // namespace tfc::text
