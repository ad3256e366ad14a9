/// Matches the arguments of a call with parameters and binds the parameters.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Evaluator;
class Reporter;
class TensorEmitter;
class TypeEvaluator;
class Unifier;

/// Matches the arguments of a call with parameters and binds the parameters.
class ParameterBinder {
public:
  ParameterBinder(Context &context, Evaluator &evaluator, Reporter &reporter,
                  TensorEmitter &tensorEmitter, TypeEvaluator &typeEvaluator, Unifier &unifier)
      : context(context), evaluator(evaluator), reporter(reporter), tensorEmitter(tensorEmitter),
        typeEvaluator(typeEvaluator), unifier(unifier) {}

  /// The argument of each parameter by position or name, not yet evaluated.
  bool matchArguments(llvm::ArrayRef<ast::Param> params, const std::string &what,
                      const ast::CallExpr &call, std::vector<Argument> &matched);
  bool bindParams(const Function &function, std::vector<Argument> &args, Activation &callee);
  bool bindTypeArgument(const ast::Param &param, Argument &argument, llvm::StringRef callee);
  bool bindStaticParam(const ast::Param &param, Argument &argument);
  /// A value of a static parameter whose kind has plausible values.
  std::optional<Entity> plausibleStatic(const ast::Param &param, bool flag);

private:
  bool bindNumber(const ast::FnDecl &fn, const ast::Param &param, const Argument &argument);
  bool bindTensorParam(const ast::FnDecl &fn, const ast::Param &param, Argument &argument);

  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
  TensorEmitter &tensorEmitter;
  TypeEvaluator &typeEvaluator;
  Unifier &unifier;
};

bool lacksType(llvm::ArrayRef<ast::Param> params);
llvm::SmallVector<size_t> argumentOrder(llvm::ArrayRef<Argument> args);

} // namespace tfc::text
