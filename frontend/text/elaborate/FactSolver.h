/// Solves facts about the sizes of an entry for its names, so that sizes need no facts in proofs.
#pragma once

#include "dialects/dfg/Remainders.h"
#include "frontend/text/elaborate/Context.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tfc::text {

class Evaluator;
class Reporter;

/// Solves facts about the sizes of an entry for its names: `n == 2 * m` makes n another name for
/// 2 * m, and `n % 4 == 0` makes it one for 4 * (n / 4).
class FactSolver {
public:
  FactSolver(Context &context, Evaluator &evaluator, Reporter &reporter)
      : context(context), evaluator(evaluator), reporter(reporter) {}

  /// Uses the equalities among the facts and those in `known`, which are about the names of the
  /// entry; the others are left to `FactChecker`.
  void solve(llvm::ArrayRef<const ast::Expr *> facts, llvm::ArrayRef<StatedFact> known = {});

private:
  /// The known remainders of sizes, and the facts that are the last to state them.
  using Remainders = llvm::MapVector<llvm::StringRef, std::pair<dfg::Remainder, SourceRange>>;

  bool isKnown(const ast::Expr *expr);
  void begin();
  bool isFree(llvm::StringRef name);
  std::optional<dfg::DimExpr> valueOf(llvm::StringRef name);
  void addMentions(llvm::StringRef dim, const dfg::DimExpr &value);
  std::optional<dfg::DimExpr> sizeOf(const ast::Expr *expr);
  void collect(const ast::Expr *fact, std::vector<StatedFact> &stated);
  dfg::DimExpr current(const dfg::DimExpr &size);
  void replace(llvm::StringRef name, const dfg::DimExpr &value, SourceRange at);
  void solveEquality(const StatedFact &stated);
  void addRemainder(const StatedFact &stated, Remainders &remainders);

  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
  /// The dimensions, and for each name those whose values mention it.
  llvm::StringSet<> dims;
  llvm::StringMap<llvm::SetVector<llvm::StringRef>> mentions;
};

} // namespace tfc::text
