//===- Tapes.h - Values saved for backward loops --------------------------===//

#pragma once

#include "compiler/autodiff/BackwardSweep.h"
#include "compiler/autodiff/Saved.h"

namespace tfc {

/// Makes the tapes of a gradient: those that save forward values, and those that carry gradients
/// from the pops of a forward tape to its pushes.
class GradientTapes {
public:
  explicit GradientTapes(BackwardSweep &sweep) : sweep(sweep) {}

  mlir::FlatSymbolRefAttr make(mlir::Location loc, mlir::Type type);
  static mlir::Value pop(mlir::OpBuilder &b, mlir::Value like, mlir::FlatSymbolRefAttr tape);
  /// Pushes the values of a forward block that its backward block uses, and pops them after
  /// `prelude`.
  void save(Saved &saved, mlir::Operation *prelude);

  /// Builds the gradients of forward pushes and pops.
  void visit(dfg::PushOp push);
  void visit(dfg::PopOp pop);

private:
  mlir::FlatSymbolRefAttr push(mlir::Value value);
  mlir::FlatSymbolRefAttr ofGradients(mlir::FlatSymbolRefAttr tape);

  BackwardSweep &sweep;
  llvm::DenseMap<mlir::StringAttr, mlir::FlatSymbolRefAttr> gradientTapes;
};

} // namespace tfc
