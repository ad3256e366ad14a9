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

/// Clones the operation that computes `value`, and those that compute its operands, at the
/// insertion point of `b`, except for values that are in `mapping` or for which `isAvailable`
/// returns true. Returns the value to use instead of `value`. Chains of operations may be long, so
/// this does not recurse.
mlir::Value cloneWithSources(mlir::OpBuilder &b, mlir::Value value, mlir::IRMapping &mapping,
                             llvm::function_ref<bool(mlir::Value)> isAvailable);

} // namespace tfc::dfg
