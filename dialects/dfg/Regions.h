//===- Regions.h - Changing what branches and loops give -------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/BitVector.h"

namespace tfc::dfg {

/// Replaces `op` by one with further results at the end; `onTrue` and `onFalse` are what its
/// regions yield for them.
IfOp addResults(IfOp op, mlir::ValueRange onTrue, mlir::ValueRange onFalse);

/// Replaces `op` by one that carries further values, which start as `inits`. Both regions get
/// arguments for them; the caller says with `addYields` what the next iteration gets.
WhileOp addCarried(WhileOp op, mlir::ValueRange inits);

/// Adds what the body yields for carried values that `addCarried` made.
void addYields(WhileOp op, mlir::ValueRange values);

/// Replaces `op`, whose regions have lost the arguments and the yielded values of `dropped`
/// already, by one without these.
WhileOp dropCarried(WhileOp op, const llvm::BitVector &dropped);

/// Clones what stands in `block` before its terminator to where `b` stands.
void cloneBlock(mlir::OpBuilder &b, mlir::Block &block, mlir::IRMapping &mapping);

} // namespace tfc::dfg
