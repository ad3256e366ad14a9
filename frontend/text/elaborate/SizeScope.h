/// Sizes of the entry being built: their bounds, and those that depend on data.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

/// Sizes of the entry being built: their bounds, and those that depend on data.
class SizeScope {
public:
  explicit SizeScope(Context &context) : context(context) {}

  std::optional<bool> compareSizes(ast::BinaryOp op, const dfg::DimExpr &lhs,
                                   const dfg::DimExpr &rhs);
  dfg::DimExpr::Interval boundsOf(llvm::StringRef symbol) const;
  const RunTimeSize *findRunTimeSize(const dfg::DimExpr &size) const;
  bool isRunTimeSize(const dfg::DimExpr &size) const;
  std::string uniqueSizeName(llvm::StringRef name) const;
  void nameNewSizes(const ast::Type &type);
  std::pair<dfg::DimExpr, dfg::DimExpr> limitsOf(const dfg::DimExpr &size) const;

private:
  void renameSize(std::string from, const std::string &to);

  Context &context;
};

/// Tightens a bound of a size.
void addBound(SizeBounds &bounds, llvm::StringRef name, int64_t value, bool isUpper);

} // namespace tfc::text
