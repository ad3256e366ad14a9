/// Evaluates calls, and expands the functions that are called.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Advisor;
class Builtins;
class DataflowBuilder;
class Evaluator;
class FactChecker;
class ListEmitter;
class Meter;
class OperationBuilder;
class ParameterBinder;
class Placer;
class Reporter;
class StatementRunner;
class TensorEmitter;
class Unifier;

/// Evaluates calls, and expands the functions that are called.
class CallEvaluator {
public:
  CallEvaluator(Context &context, Evaluator &evaluator, Reporter &reporter, Meter &meter,
                Advisor &advisor, TensorEmitter &tensorEmitter, FactChecker &factChecker,
                Unifier &unifier, ListEmitter &listEmitter, ParameterBinder &parameterBinder,
                Placer &placer, OperationBuilder &operationBuilder, Builtins &builtins,
                StatementRunner &statementRunner, DataflowBuilder &dataflowBuilder)
      : context(context), evaluator(evaluator), reporter(reporter), meter(meter), advisor(advisor),
        tensorEmitter(tensorEmitter), factChecker(factChecker), unifier(unifier),
        listEmitter(listEmitter), parameterBinder(parameterBinder), placer(placer),
        operationBuilder(operationBuilder), builtins(builtins), statementRunner(statementRunner),
        dataflowBuilder(dataflowBuilder) {}

  Entity evalCall(const ast::CallExpr &call);
  /// Runs the body of a function where its annotations say; `outer` completes these.
  Entity runBody(Activation &callee, const Placement &outer);
  Entity callFunction(const Function &function, const ast::CallExpr &call);

private:
  Entity callEntity(const Entity &callee, const ast::CallExpr &call);
  Entity failUncallable(const Instance &instance, const ast::CallExpr &call);
  bool evaluateArguments(const ast::CallExpr &call, Arguments &args, const Entity &callee);
  Entity runStatements(Activation &callee);
  /// Checks what the function has returned against what it declares.
  Entity checkResults(const Activation &callee);

  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
  Meter &meter;
  Advisor &advisor;
  TensorEmitter &tensorEmitter;
  FactChecker &factChecker;
  Unifier &unifier;
  ListEmitter &listEmitter;
  ParameterBinder &parameterBinder;
  Placer &placer;
  OperationBuilder &operationBuilder;
  Builtins &builtins;
  StatementRunner &statementRunner;
  DataflowBuilder &dataflowBuilder;
};

} // namespace tfc::text
