//===- HostForm.h - Operations that the host function runs ----------------===//
//
// After fusion, an entry consists of launches, control flow, checks, operations on lists, tapes and
// queues, and scalars that stay in registers; the host function runs them one by one. These
// declarations define that form for the stages.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "mlir/IR/AffineExpr.h"

namespace tfc::dfg {

/// A size of a lowered kernel, a semi-affine expression over its index arguments, in a launch that
/// passes `sizes` for them; std::nullopt if the expression mentions anything else.
std::optional<DimExpr> sizeInLaunch(mlir::AffineExpr expr, llvm::ArrayRef<DimExpr> sizes);

/// Returns true if the host function can keep a value of the type in a register, that is, for
/// scalars whose arithmetic is that of their dtype.
bool isRegisterType(mlir::Type type);

/// Marks an elementwise operation on scalars as one that the host computes in registers.
void putInRegister(mlir::Operation *op);
bool isInRegister(mlir::Operation *op);

/// Returns true if the value is available everywhere in the host function: scalar constants and
/// sizes.
bool isHostConstant(mlir::Operation *op);

/// Returns true if the use reads the value from a register; other uses read it from memory.
bool takesRegister(mlir::OpOperand &use);

/// Returns true if `holds` is true for the operation or one in its regions.
bool anyWithin(mlir::Operation *op, llvm::function_ref<bool(mlir::Operation *)> holds);

/// Returns true if the operation has lists as operands or results.
bool usesLists(mlir::Operation *op);

/// Returns true if the operation or one in its regions uses a tape, a queue or messages: such
/// operations keep their order.
bool hasOrderedEffects(mlir::Operation *op);

/// Returns true if the operation or one in its regions may block on a queue.
bool usesQueues(mlir::Operation *op);

/// Returns true if the operation itself reads a dataset, or a feed of its own process.
bool readsInput(mlir::Operation *op);

/// Returns true if running the operation may end the call with an error.
bool canFail(mlir::Operation *op);

/// Visits all values that the operation reads: its operands and the values that its regions
/// capture.
void forEachRead(mlir::Operation *op, llvm::function_ref<void(mlir::Value)> visit);

} // namespace tfc::dfg
