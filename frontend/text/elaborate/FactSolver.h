/// Solves facts about the sizes of an entry for its names, so that sizes need no facts in proofs.
#pragma once

#include "frontend/text/elaborate/Context.h"
#include "llvm/ADT/MapVector.h"

namespace tfc::text {

class Evaluator;

/// Solves facts about the sizes of an entry for its names: `n == 2 * m` makes n another name for
/// 2 * m, and `n % 4 == 0` makes it one for 4 * (n / 4).
class FactSolver {
public:
  FactSolver(Context &context, Evaluator &evaluator) : context(context), evaluator(evaluator) {}

  /// Uses the equalities among the facts; the others are left to `FactChecker`.
  void solve(llvm::ArrayRef<const ast::Expr *> facts);

private:
  /// The known remainder of a size: modulo `divisor`, it is `value`.
  struct Remainder {
    int64_t divisor = 1, value = 0;
  };
  using Remainders = llvm::MapVector<llvm::StringRef, Remainder>;

  bool isKnown(const ast::Expr *expr);
  bool isFree(llvm::StringRef name);
  std::optional<dfg::DimExpr> sizeOf(const ast::Expr *expr);
  void replace(llvm::StringRef name, const dfg::DimExpr &value);
  void solveEquality(const ast::BinaryExpr &fact);
  void addRemainder(const ast::BinaryExpr &quotient, const ast::Expr *remainder,
                    Remainders &remainders);

  Context &context;
  Evaluator &evaluator;
};

} // namespace tfc::text
