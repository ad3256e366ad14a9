// Copies from global to shared memory that go on while the thread computes.
#pragma once

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tfc::gpu {

/// Begins to copy 16 bytes to shared memory; zeros unless `isThere`. Both addresses are generic and
/// multiples of 16, that of the source also if it is not read.
void copyPiece(mlir::OpBuilder &b, mlir::Location loc, mlir::Value to, mlir::Value from,
               mlir::Value isThere);
/// Makes a group of the copies that the thread has begun since the last one.
void endCopyGroup(mlir::OpBuilder &b, mlir::Location loc);
/// Waits until at most `count` of the thread's last groups are on their way.
void waitForCopies(mlir::OpBuilder &b, mlir::Location loc, int64_t count);

} // namespace tfc::gpu
