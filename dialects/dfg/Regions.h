//===- Regions.h - Changing the results of branches and loops -------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/BitVector.h"

namespace tfc::dfg {

/// Replaces `op` by an operation with additional results at the end; its regions yield `onTrue` and
/// `onFalse` for them.
IfOp addResults(IfOp op, mlir::ValueRange onTrue, mlir::ValueRange onFalse);

/// Replaces `op` by a loop with additional carried values, initialized with `inits`. Both regions
/// get arguments for them; the caller adds the values of the next iteration with `addYields`.
WhileOp addCarried(WhileOp op, mlir::ValueRange inits);

/// Adds the values that the body yields for carried values created by `addCarried`.
void addYields(WhileOp op, mlir::ValueRange values);

/// Replaces `op` by a loop without the carried values `dropped`, whose arguments and yielded values
/// have already been removed from its regions.
WhileOp dropCarried(WhileOp op, const llvm::BitVector &dropped);

/// Clones the operations of `block` except its terminator at the insertion point of `b`.
void cloneBlock(mlir::OpBuilder &b, mlir::Block &block, mlir::IRMapping &mapping);

} // namespace tfc::dfg
