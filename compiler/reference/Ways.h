//===- Ways.h - Ways from values to a loss --------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc::reference {

/// The operations from which a graph has a way to the loss of a `dfg.gradients`, through whatever
/// branch and iteration. A call goes some of them; gradients flow along all, zeros where the call
/// did not go.
class Ways {
public:
  explicit Ways(dfg::GradientsOp gradients);

  /// Whether `op` is on a way that a call may leave out. Operations that are not in the entry are
  /// parts of earlier gradients.
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
