//===- Activity.h - Values that need a gradient ---------------------------===//

#pragma once

#include "compiler/autodiff/Flow.h"
#include "llvm/ADT/SetVector.h"

namespace tfc {

/// The values between the xs and the y of a `dfg.gradients`: those that depend on some x, and that
/// y depends on, only through differentiable values. For loops they are computed as a fixed point.
class Activity {
public:
  explicit Activity(dfg::GradientsOp op);

  /// Returns true if a gradient of the value is needed.
  bool isActive(mlir::Value value) const { return active.contains(value); }
  /// Returns true if the value depends on an x.
  bool isVaried(mlir::Value value) const { return varied.contains(value); }
  /// Returns true if gradients flow from the pops of a tape to its pushes.
  bool isActiveTape(mlir::StringAttr tape) const { return tapes.contains(tape); }
  /// Returns true if the gradients of the operation have to be built: some result is active, or
  /// there is an active tape in it.
  bool concerns(mlir::Operation *op) const;
  /// Returns true if a branch or loop uses an active tape.
  bool usesTapes(mlir::Operation *op) const { return withTapes.contains(op); }

  /// Values captured by the regions of `op` that need a gradient.
  llvm::SmallVector<mlir::Value> captured(mlir::Operation *op) const;

  /// Transfers the properties of `value`, which is about to be erased, to `to`.
  void move(mlir::Value value, mlir::Value to);
  void forget(mlir::Value value) {
    varied.erase(value);
    active.erase(value);
  }
  /// Gives `copy` the properties of `value`.
  void copy(mlir::Value value, mlir::Value copy);

private:
  void markVaried(dfg::GradientsOp op, const Flow &flow);
  void markActive(dfg::GradientsOp op, const Flow &flow);
  void markTape(mlir::StringAttr tape, const Flow &flow);

  llvm::DenseSet<mlir::Value> varied, active;
  llvm::DenseSet<mlir::StringAttr> tapes;
  llvm::DenseSet<mlir::Operation *> withTapes; // branches and loops that use active tapes
};

} // namespace tfc
