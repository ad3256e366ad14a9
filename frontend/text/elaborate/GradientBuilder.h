/// Builds gradients, and collects the variables that a group contains.
#pragma once

#include "frontend/text/elaborate/Context.h"
#include "llvm/ADT/MapVector.h"

namespace tfc::text {

class ErrorCapture;
class Meter;
class NameResolver;
class Reporter;
class TensorEmitter;

/// Builds gradients, and collects the variables that a group contains.
class GradientBuilder {
public:
  GradientBuilder(Context &context, Reporter &reporter, Meter &meter, ErrorCapture &errorCapture,
                  TensorEmitter &tensorEmitter, NameResolver &nameResolver)
      : context(context), reporter(reporter), meter(meter), errorCapture(errorCapture),
        tensorEmitter(tensorEmitter), nameResolver(nameResolver) {}

  Entity callVariables(Arguments &args, const ast::CallExpr &call);
  Entity callTrainable(Arguments &args, const ast::CallExpr &call);
  Entity callGradients(Arguments &args, const ast::CallExpr &call);
  /// `gradient_pairs(g)`: `g`, if it is a group of pairs of a variable and its gradient. Errors are
  /// about the author's call of the optimizer.
  Entity callGradientPairs(Arguments &args, const ast::CallExpr &call);

private:
  Diagnostic &failPairs(SourceRange at, const llvm::Twine &text,
                        const Variable *variable = nullptr);
  Entity failNoPairs(SourceRange at, const llvm::Twine &got);
  template <typename Arg, typename... Args>
  Entity failNoPairs(SourceRange at, fmt::format_string<Arg, Args...> format, Arg &&arg,
                     Args &&...args) {
    return failNoPairs(
        at, llvm::Twine(fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...)));
  }
  const Variable *variableOf(const Group &pair, size_t number, SourceRange at);
  bool checkOnce(const Variable &variable, size_t first, size_t number, SourceRange at);
  bool checkGradient(const Variable &variable, const Entity &gradient, SourceRange at);
  bool collectVariables(const Entity &value, SourceRange at, std::vector<Variable *> &variables);
  using Reads = llvm::MapVector<llvm::StringRef, llvm::SmallVector<dfg::ReadOp, 1>>;
  std::optional<Reads> readsTowards(mlir::Value loss, SourceRange at);
  std::vector<Variable *> variablesRead(mlir::Value loss);
  Entity sparseGradient(mlir::Value indices, mlir::Value rows, mlir::Type type, bool coalesces,
                        SourceRange at);
  mlir::Value gradientSource(const Entity &value, const Reads &reads, SourceRange at);
  mlir::Value firstReadOf(Variable &variable, const Reads &reads, SourceRange at);

  Context &context;
  Reporter &reporter;
  Meter &meter;
  ErrorCapture &errorCapture;
  TensorEmitter &tensorEmitter;
  NameResolver &nameResolver;
};

} // namespace tfc::text
