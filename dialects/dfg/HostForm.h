//===- HostForm.h - Operations that the host function runs -----------------===//
//
// From fusion on an entry holds launches, control flow, checks, operations on
// lists, tapes and queues, and scalars that stay in registers: the host function
// runs them one by one. This is what the stages agree on about that form.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "mlir/IR/AffineExpr.h"

namespace tfc::dfg {

/// On a `dfg.push`: it shows its value to a function of the process that compiles, by the number
/// that is the attribute's, instead of keeping it. On the module: the address of that function,
/// void(int64 number, ptr data, int64 bytes). Only comparisons with the oracle compile so.
inline constexpr llvm::StringLiteral kProbeAttr = "tfc.probe";

/// A size of a lowered kernel, a semi-affine expression over its index arguments, in a launch that
/// gives `sizes` for them; nothing if the expression mentions anything else.
std::optional<DimExpr> sizeInLaunch(mlir::AffineExpr expr, llvm::ArrayRef<DimExpr> sizes);

/// Whether the host function can keep a value of the type in a register: scalars whose arithmetic
/// is that of their dtype.
bool isRegisterType(mlir::Type type);

/// Marks an elementwise operation on scalars as one that the host computes in registers.
void putInRegister(mlir::Operation *op);
bool isInRegister(mlir::Operation *op);

/// Marks a view as one that a kernel stores, rather than each reader computing it.
void storeView(mlir::Operation *op);
bool isStoredView(mlir::Operation *op);

/// Whether the host can tell the value at any place: scalar constants and sizes.
bool isHostConstant(mlir::Operation *op);

/// Whether the reader takes a value of register type from a register; others want it in memory.
bool takesRegister(mlir::OpOperand &use);

/// Whether lists go in or out of the operation.
bool usesLists(mlir::Operation *op);

/// Whether the operation or one in its regions uses a tape or a queue: such operations keep their
/// order.
bool hasOrderedEffects(mlir::Operation *op);

/// Whether the operation or one in its regions may wait at a queue.
bool usesQueues(mlir::Operation *op);

/// Whether running the operation may end the call with an error.
bool canFail(mlir::Operation *op);

/// All values that the operation reads: its operands and what its regions see of the outside.
void forEachRead(mlir::Operation *op, llvm::function_ref<void(mlir::Value)> visit);

} // namespace tfc::dfg
