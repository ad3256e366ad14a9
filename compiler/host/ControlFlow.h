//===- ControlFlow.h - Branches and loops ---------------------------------===//

#pragma once

#include "compiler/host/Lists.h"

namespace tfc::host {

/// Builds branches and loops as `scf.if` and `scf.while`.
///
/// Both carry the values that are in registers: scalars, the lengths of lists and, for a tensor of
/// a loop with two alternating buffers, both addresses. Loops with checks whose order matters count
/// their iterations.
class ControlFlow {
public:
  ControlFlow(Context &context, Addresses &addresses, Scalars &scalars, Copies &copies,
              Lists &lists, StepBuilder &steps)
      : context(context), addresses(addresses), scalars(scalars), copies(copies), lists(lists),
        steps(steps) {}

  void branch(dfg::IfOp op);
  void loop(dfg::WhileOp op);

private:
  void buildBranch(dfg::IfOp op, mlir::Block &region, mlir::Block *block);
  llvm::SmallVector<mlir::Value> startLoop(dfg::WhileOp op);
  void enter(dfg::WhileOp op, mlir::Block &region, mlir::ValueRange carried);
  llvm::SmallVector<mlir::Value> nextIteration(dfg::WhileOp op);
  void leave(dfg::WhileOp op, mlir::ValueRange carried);
  mlir::Block *addBlock(mlir::Region &region, mlir::TypeRange types);
  /// Builds the steps of `region` at the insertion point. The last argument of `block` is the
  /// number of the iteration if `isCounted`.
  void buildIteration(mlir::Block &region, mlir::Block *block, bool isCounted);

  Context &context;
  Addresses &addresses;
  Scalars &scalars;
  Copies &copies;
  Lists &lists;
  StepBuilder &steps;
};

} // namespace tfc::host
