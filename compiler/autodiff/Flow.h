//===- Flow.h - Flow of values through regions and tapes ------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc {

/// Returns true if values of the type have gradients: floating-point tensors and lists of them.
bool isDifferentiable(mlir::Type type);

/// The edges along which values flow, through the regions of branches and loops and from `dfg.push`
/// to `dfg.pop`. Conditions are not among these edges, and neither are earlier iterations of loops
/// around the `dfg.gradients`, whose values are constants.
class Flow {
public:
  explicit Flow(dfg::GradientsOp op);

  /// Calls `visit` with the operands that flow into `value`.
  void visitSources(mlir::Value value, llvm::function_ref<void(mlir::OpOperand &)> visit) const;
  /// Calls `visit` with the values that `use` flows into.
  void visitTargets(mlir::OpOperand &use, llvm::function_ref<void(mlir::Value)> visit) const;

  llvm::ArrayRef<dfg::PushOp> getPushes(mlir::StringAttr tape) const;
  llvm::ArrayRef<dfg::PopOp> getPops(mlir::StringAttr tape) const;

private:
  dfg::GradientsOp op;
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<dfg::PushOp>> pushes;
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<dfg::PopOp>> pops;
};

} // namespace tfc
