//===- Work.h - How much there is to compute ------------------------------===//

#pragma once

#include "compiler/placement/Machine.h"
#include "dialects/dfg/Dfg.h"

namespace tfc::placement {

/// Estimates the work of operations of an entry from their types, and from what is fused with them.
/// Named sizes count as their bounds, those without as `kUnknownSize`.
class Work {
public:
  explicit Work(dfg::EntryOp entry) : bounds(entry.getBoundsAttr()) {}

  /// The seconds that a device takes for an operation without regions.
  double secondsOf(mlir::Operation *op, const DeviceFigures &device) const;

  double bytesOf(mlir::Type type) const;

  /// How often the body of a loop runs.
  double tripsOf(dfg::WhileOp loop) const;

  /// Returns true for operations that are kernels of their own, or that others are fused into; all
  /// others run along with those.
  static bool isHeavy(mlir::Operation *op);

private:
  double valueOf(const dfg::DimExpr &size) const;
  double productOf(llvm::ArrayRef<dfg::DimExpr> sizes) const;
  double elementsOf(mlir::Type type) const;
  double flopsOf(mlir::Operation *op) const;
  double bytesRead(mlir::Value operand, mlir::Operation *op) const;
  double bytesWritten(mlir::Operation *op) const;

  mlir::DictionaryAttr bounds;
};

} // namespace tfc::placement
