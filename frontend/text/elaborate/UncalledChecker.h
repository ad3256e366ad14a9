/// Checks functions without callers under assumed sizes and types.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class CallEvaluator;
class Evaluator;
class FactChecker;
class FactSolver;
class ParameterBinder;
class PartInstantiator;
class Reporter;
class TypeEvaluator;

/// Checks functions without callers under assumed sizes and types.
class UncalledChecker {
public:
  UncalledChecker(Context &context, Evaluator &evaluator, Reporter &reporter,
                  FactChecker &factChecker, FactSolver &factSolver, TypeEvaluator &typeEvaluator,
                  ParameterBinder &parameterBinder, PartInstantiator &partInstantiator,
                  CallEvaluator &callEvaluator)
      : context(context), evaluator(evaluator), reporter(reporter), factChecker(factChecker),
        factSolver(factSolver), typeEvaluator(typeEvaluator), parameterBinder(parameterBinder),
        partInstantiator(partInstantiator), callEvaluator(callEvaluator) {}

  void checkUncalled();
  void checkUncalled(const ast::FnDecl &fn, const ast::PartDecl *part);

private:
  /// The assumptions under which an uncalled function is checked.
  struct Assumption;

  void warnUnchecked(const ast::FnDecl &fn, const ast::PartDecl *part);
  std::optional<std::vector<Diagnostic>>
  checkAssuming(const ast::FnDecl &fn, const ast::PartDecl *part, const Assumption &assumption);
  bool elaborateAssuming(const ast::FnDecl &fn, const ast::PartDecl *part,
                         const Assumption &assumption);
  Instance *assumeInstance(const ast::PartDecl &part, const Assumption &assumption);
  bool assumeStatic(const ast::Param &param, const Assumption &assumption);
  std::optional<TensorType> assumeType(const ast::Type &type, llvm::ArrayRef<ast::Expr *> facts,
                                       const Assumption &assumption);
  bool assumeElement(const ast::Type &type, llvm::ArrayRef<ast::Expr *> facts,
                     const Assumption &assumption);
  void assumeSize(const ast::Expr *size, const Assumption &assumption);

  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
  FactChecker &factChecker;
  FactSolver &factSolver;
  TypeEvaluator &typeEvaluator;
  ParameterBinder &parameterBinder;
  PartInstantiator &partInstantiator;
  CallEvaluator &callEvaluator;
};

} // namespace tfc::text
