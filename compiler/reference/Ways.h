//===- Ways.h - Paths from values to a loss -------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc::reference {

/// The operations with a path to the loss of a `dfg.gradients`, through any branch and iteration. A
/// call executes some of these paths; gradients flow along all of them, as zeros along those not
/// executed.
class Ways {
public:
  explicit Ways(dfg::GradientsOp gradients);

  /// Returns true if `op` is on a path that a call may not execute. Operations outside of the entry
  /// are parts of earlier gradients.
  bool mayBeLeftOut(mlir::Operation *op) const;

private:
  void reach(mlir::Value value);
  void visitSources(mlir::Value value);
  void visitYields(mlir::Operation *around, unsigned index);

  dfg::EntryOp entry;
  bool hasChoice = false; // whether there are branches or loops at all
  bool throughGradients = false;
  llvm::DenseSet<mlir::Value> reached;
  llvm::SmallVector<mlir::Value> work;
};

} // namespace tfc::reference
