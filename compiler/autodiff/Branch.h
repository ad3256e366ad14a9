//===- Branch.h - Gradients of branches -----------------------------------===//

#pragma once

#include "compiler/autodiff/Tapes.h"
#include "llvm/ADT/BitVector.h"

namespace tfc {

/// Builds the gradients of branches.
class BranchGradients {
public:
  BranchGradients(BackwardSweep &sweep, Visitor &visitor, GradientTapes &tapes)
      : sweep(sweep), visitor(visitor), tapes(tapes) {}

  mlir::LogicalResult visit(dfg::IfOp branch);

private:
  mlir::LogicalResult visitRegion(mlir::Block &forward, mlir::ValueRange seeds,
                                  llvm::ArrayRef<mlir::Value> captured, mlir::Block &backward,
                                  llvm::BitVector &changed);
  void save(dfg::IfOp forward, dfg::IfOp backward);

  BackwardSweep &sweep;
  Visitor &visitor;
  GradientTapes &tapes;
};

} // namespace tfc
