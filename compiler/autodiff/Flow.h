//===- Flow.h - What values are made of, through regions and tapes --------===//

#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc {

/// Whether values of the type have gradients: floating-point tensors and lists of them.
bool isDifferentiable(mlir::Type type);

/// The edges along which values reach others, straight through the regions of branches and loops
/// and from `dfg.push` to `dfg.pop`. Conditions are no such edges, and neither is what loops around
/// the `dfg.gradients` did before: that is held constant.
class Flow {
public:
  explicit Flow(dfg::GradientsOp op);

  /// Calls `visit` with the operands that `value` is made of.
  void visitSources(mlir::Value value, llvm::function_ref<void(mlir::OpOperand &)> visit) const;
  /// Calls `visit` with the values that `use` is a part of.
  void visitTargets(mlir::OpOperand &use, llvm::function_ref<void(mlir::Value)> visit) const;

  llvm::ArrayRef<dfg::PushOp> getPushes(mlir::StringAttr tape) const;
  llvm::ArrayRef<dfg::PopOp> getPops(mlir::StringAttr tape) const;

private:
  dfg::GradientsOp op;
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<dfg::PushOp>> pushes;
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<dfg::PopOp>> pops;
};

} // namespace tfc
