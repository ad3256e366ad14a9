//===- Recompute.h - Loops that save less and compute again ---------------===//

#pragma once

#include "compiler/autodiff/Loop.h"

namespace tfc {

/// Builds the gradients of a loop body after computing the iteration again: only carried values
/// come from the forward loop.
mlir::LogicalResult visitReplayed(BackwardSweep &sweep, Visitor &visitor, mlir::Block &body);

/// Builds the gradients of loops that save some iterations only: a backward loop over segments.
class SegmentGradients {
public:
  SegmentGradients(BackwardSweep &sweep, GradientTapes &tapes, LoopGradients &loops)
      : sweep(sweep), tapes(tapes), loops(loops) {}

  /// Returns true if the iterations of a loop can run once more from carried values that were
  /// saved.
  static bool canReplay(dfg::WhileOp loop);
  mlir::LogicalResult visit(dfg::WhileOp loop);

private:
  dfg::WhileOp saveSquares(dfg::WhileOp loop,
                           llvm::SmallVectorImpl<mlir::FlatSymbolRefAttr> &saved);
  llvm::SmallVector<mlir::Value>
  loadState(dfg::WhileOp loop, llvm::ArrayRef<mlir::FlatSymbolRefAttr> saved, mlir::Value begin);
  dfg::WhileOp replay(dfg::WhileOp loop, llvm::ArrayRef<mlir::Operation *> ops,
                      mlir::ValueRange state, mlir::Value begin, mlir::Value end);
  void dropLists(dfg::WhileOp replay);

  BackwardSweep &sweep;
  GradientTapes &tapes;
  LoopGradients &loops;
};

} // namespace tfc
