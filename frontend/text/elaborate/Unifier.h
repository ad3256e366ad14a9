/// Matches declared types with the types of values and binds the names in them.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Advisor;
class Evaluator;
class FactChecker;
class Reporter;
class SizeScope;
class TensorEmitter;
class TypeEvaluator;

/// Names are bound first, then compound sizes are solved for their remaining names.
enum class UnifyPhase { Names, Compound };

/// Matches declared types with the types of values and binds the names in them.
class Unifier {
public:
  Unifier(Context &context, Evaluator &evaluator, SizeScope &sizeScope, Reporter &reporter,
          Advisor &advisor, TensorEmitter &tensorEmitter, FactChecker &factChecker,
          TypeEvaluator &typeEvaluator)
      : context(context), evaluator(evaluator), sizeScope(sizeScope), reporter(reporter),
        advisor(advisor), tensorEmitter(tensorEmitter), factChecker(factChecker),
        typeEvaluator(typeEvaluator) {}

  bool unify(const ast::Type &type, const TensorType &actual, UnifyPhase phase,
             const Argument &argument, const std::string &what);
  bool leavesBlock(mlir::Type type, size_t outside, llvm::StringRef keyword, SourceRange at);
  Entity checkResult(const ast::Type &type, const Entity &value, SourceRange at,
                     const std::string &what);
  bool unifyValue(const ast::Type &type, mlir::Type actual, UnifyPhase phase,
                  const Argument &argument, const std::string &what);

private:
  bool unifySize(const ast::Expr *expr, const dfg::DimExpr &actual, UnifyPhase phase,
                 const Argument &argument, llvm::function_ref<bool(const std::string &)> mismatch);
  bool bindOrCompare(llvm::StringRef name, const Entity &value, SourceRange nameAt,
                     const Argument &argument,
                     llvm::function_ref<bool(const std::string &)> mismatch);
  bool solveSize(const ast::Expr *expr, llvm::StringRef unknown, const dfg::DimExpr &actual,
                 llvm::function_ref<bool(const std::string &)> mismatch);
  bool boundSize(const ast::BinaryExpr &expr, const dfg::DimExpr &size,
                 llvm::function_ref<bool(const std::string &)> mismatch);

  Context &context;
  Evaluator &evaluator;
  SizeScope &sizeScope;
  Reporter &reporter;
  Advisor &advisor;
  TensorEmitter &tensorEmitter;
  FactChecker &factChecker;
  TypeEvaluator &typeEvaluator;
};

} // namespace tfc::text
