/// Explains why two sizes cannot be proven equal, and what would help.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Advisor;
class SizeScope;

/// Explains why two sizes cannot be proven equal, and what would help.
class SizeExplainer {
public:
  SizeExplainer(Context &context, SizeScope &sizeScope, Advisor &advisor)
      : context(context), sizeScope(sizeScope), advisor(advisor) {}

  /// Notes the origins of two sizes that cannot be proven equal, and suggests a fix.
  void explainUnequal(Diagnostic &diagnostic, const std::pair<dfg::DimExpr, dfg::DimExpr> &sizes,
                      llvm::ArrayRef<Argument> operands);

private:
  void noteIndependent(Diagnostic &diagnostic, llvm::ArrayRef<std::string> names);
  std::string sizeInActivation(const dfg::DimExpr &size);
  std::string checkedType(const Argument &operand, const dfg::DimExpr &from,
                          const dfg::DimExpr &to);

  Context &context;
  SizeScope &sizeScope;
  Advisor &advisor;
};

} // namespace tfc::text
