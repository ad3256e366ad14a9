/// Evaluates expressions.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Advisor;
class Binder;
class BranchBuilder;
class CallEvaluator;
class DataflowBuilder;
class Evaluator;
class IndexEvaluator;
class LoopBuilder;
class Meter;
class NameResolver;
class Reporter;
class StaticStage;
class TensorEmitter;
class TypeEvaluator;

/// Evaluates expressions.
class ExpressionEvaluator {
public:
  ExpressionEvaluator(Context &context, Evaluator &evaluator, Reporter &reporter, Meter &meter,
                      Advisor &advisor, StaticStage &staticStage, TensorEmitter &tensorEmitter,
                      TypeEvaluator &typeEvaluator, Binder &binder, NameResolver &nameResolver,
                      IndexEvaluator &indexEvaluator, BranchBuilder &branchBuilder,
                      LoopBuilder &loopBuilder, DataflowBuilder &dataflowBuilder,
                      CallEvaluator &callEvaluator)
      : context(context), evaluator(evaluator), reporter(reporter), meter(meter), advisor(advisor),
        staticStage(staticStage), tensorEmitter(tensorEmitter), typeEvaluator(typeEvaluator),
        binder(binder), nameResolver(nameResolver), indexEvaluator(indexEvaluator),
        branchBuilder(branchBuilder), loopBuilder(loopBuilder), dataflowBuilder(dataflowBuilder),
        callEvaluator(callEvaluator) {}

  Entity eval(const ast::Expr *expr);

private:
  Entity evalUnlimited(const ast::Expr *expr);
  Entity evalName(const ast::NameExpr &expr);
  Entity evalString(const ast::StringExpr &expr);
  Entity evalUnary(const ast::UnaryExpr &expr);
  Entity evalBinary(const ast::BinaryExpr &expr);
  Entity evalLogic(const ast::BinaryExpr &expr);
  Entity evalMember(const ast::MemberExpr &expr);
  Entity evalComprehension(const ast::ComprehensionExpr &expr);
  Entity runTimeBinary(const ast::BinaryExpr &expr, const Entity &lhs, const Entity &rhs);

  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
  Meter &meter;
  Advisor &advisor;
  StaticStage &staticStage;
  TensorEmitter &tensorEmitter;
  TypeEvaluator &typeEvaluator;
  Binder &binder;
  NameResolver &nameResolver;
  IndexEvaluator &indexEvaluator;
  BranchBuilder &branchBuilder;
  LoopBuilder &loopBuilder;
  DataflowBuilder &dataflowBuilder;
  CallEvaluator &callEvaluator;
};

} // namespace tfc::text
