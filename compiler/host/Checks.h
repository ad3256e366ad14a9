//===- Checks.h - Conditions that make a call fail ------------------------===//

#pragma once

#include "compiler/host/Context.h"
#include "compiler/host/SizeBuilder.h"
#include "dialects/dfg/Facts.h"
#include "dialects/dfg/SizeLimits.h"
#include "dialects/rt/Rt.h"

namespace tfc::host {

/// Builds the checks of a call: facts about its sizes, limits of memory and numbers, and checks of
/// data.
class Checks {
public:
  Checks(Context &context, SizeBuilder &sizes, mlir::Value symbols)
      : context(context), sizes(sizes), symbols(symbols) {}

  void checkFact(const dfg::Fact &fact);
  /// Checks the sizes and byte counts that the bounds of the entry do not limit.
  void checkLimits();
  /// The message shows `values`, which are i64.
  void check(mlir::Value condition, llvm::ArrayRef<mlir::Value> values, dfg::CheckOp op);

private:
  void checkLimit(const dfg::SizeLimit &limit, rt::Status status, llvm::StringRef text);
  /// The error message ends with the values of the first names in `used`.
  void checkSizes(mlir::Value condition, rt::Status status, llvm::StringRef text,
                  llvm::ArrayRef<dfg::DimExpr> used);
  std::pair<mlir::Value, mlir::Value> compare(mlir::arith::CmpIPredicate predicate,
                                              const dfg::DimExpr &lhs, const dfg::DimExpr &rhs);

  Context &context;
  SizeBuilder &sizes;
  mlir::Value symbols;
};

} // namespace tfc::host
