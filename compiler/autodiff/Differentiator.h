//===- Differentiator.h - One gradient ------------------------------------===//

#pragma once

#include "compiler/autodiff/Branch.h"
#include "compiler/autodiff/Loop.h"
#include "compiler/autodiff/SparseGradients.h"

namespace tfc {

/// Builds the replacement of a `dfg.gradients`: walks back from y, also through regions. The
/// backward region of a branch or loop first uses forward values as if they were visible; then
/// `Saved` makes them available.
class Differentiator : private Visitor {
public:
  Differentiator(dfg::GradientsOp op, GradientContext &context);

  /// Builds the gradients before the operation; fails with an error.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> run();

private:
  bool concerns(mlir::Operation *forward) const override;
  mlir::LogicalResult visit(mlir::Operation *forward) override;
  mlir::LogicalResult visitBlock(mlir::Block &block, mlir::Operation *end) override;
  mlir::LogicalResult visitAround();
  mlir::LogicalResult visitPlain(mlir::Operation *forward);
  mlir::LogicalResult checkGrowth();
  mlir::LogicalResult reportPath(mlir::Operation *blocking);
  void eraseUnneeded(size_t first, mlir::ValueRange operands);

  BackwardSweep sweep;
  GradientTapes tapes;
  SparseGradients sparse;
  BranchGradients branches;
  LoopGradients loops;
};

} // namespace tfc
