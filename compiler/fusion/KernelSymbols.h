//===- KernelSymbols.h - Names of sizes in kernels ------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc::fusion {

/// Names d0, d1, ... for the sizes of an entry that a kernel uses, in order of first appearance, so
/// that kernels that differ only in names are equal. `min` and `max` of sizes get a name too, so
/// that a kernel's sizes are semi-affine.
class KernelSymbols {
public:
  dfg::DimExpr rename(const dfg::DimExpr &size);

  /// Renames the sizes in the types and attributes of `op` and everything in it.
  void renameIn(mlir::Operation *op);

  /// Returns the entry's sizes that the names represent.
  llvm::ArrayRef<dfg::DimExpr> getSizes() const { return sizes; }

  mlir::ArrayAttr getNames(mlir::Builder &b) const;

private:
  dfg::DimExpr nameOf(const dfg::DimExpr &size);

  dfg::Shape sizes;
};

} // namespace tfc::fusion
