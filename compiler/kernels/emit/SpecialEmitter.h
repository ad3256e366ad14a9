// Emits operations of linalg_ext, and combines values as reductions do.
#pragma once

#include "compiler/kernels/emit/KernelEmitter.h"
#include "dialects/linalg_ext/LinalgExt.h"

namespace tfc::kernels {

/// Combines vectors, and then their lanes, by `combiner` in a fixed tree.
mlir::Value combineTree(mlir::OpBuilder &b, mlir::Location loc, mlir::Operation *combiner,
                        llvm::SmallVector<mlir::Value> vectors);
/// Applies `combiner` to two values of its operands' type, or to vectors of it.
mlir::Value combine(mlir::OpBuilder &b, mlir::Location loc, mlir::Operation *combiner,
                    mlir::Value lhs, mlir::Value rhs);

/// Returns true if as many vectors as they have lanes can be transposed in registers.
inline bool canTranspose(int64_t lanes) {
  return lanes > 1 && lanes <= 16 && llvm::isPowerOf2_64(lanes);
}
/// Transposes a square of elements; each vector is a row.
void transpose(mlir::OpBuilder &b, mlir::Location loc, llvm::SmallVectorImpl<mlir::Value> &rows);

/// Emits `body` at each point of an index space; the indices of the point are appended to
/// `indices`.
void forEachPoint(KernelEmitter &emitter, llvm::ArrayRef<mlir::AffineExpr> sizes,
                  llvm::SmallVector<mlir::AffineExpr> &indices, llvm::function_ref<void()> body);

/// Emits `body` in a branch for a condition.
void emitIf(KernelEmitter &emitter, mlir::Value condition, llvm::function_ref<void()> body);

/// Temporary memory for the code of an operation: `count` elements, over the kernel's sizes.
struct Workspace {
  mlir::Type elementType;
  mlir::AffineExpr count;
};
/// The temporary memory of a line that is sorted; none for other operations.
llvm::SmallVector<Workspace> workspaceOf(KernelShapes &shapes, mlir::Operation *op);

// Operations of linalg_ext have dependences between their iterations. The functions below emit the
// parts that are independent of each other: a line along the operation's dimension, at the indices
// of all other dimensions, or an element.

/// The sizes of the other dimensions of a scan or a sort.
llvm::SmallVector<mlir::AffineExpr> lineSizes(KernelShapes &shapes, mlir::Operation *op);
/// Returns the number of lanes for a loop along a dimension of size `size`.
int64_t lanesFor(KernelEmitter &emitter, mlir::Value tensor, mlir::AffineExpr size);
/// Emits all lines of a scan.
void emitScan(KernelEmitter &emitter, linalg_ext::ScanOp op);
/// Emits a line of a scan; with vectors, one line per lane.
void emitScanLine(KernelEmitter &emitter, linalg_ext::ScanOp op,
                  llvm::ArrayRef<mlir::AffineExpr> line);
/// Emits a line of a sort in the workspace of the operation.
void emitSortLine(KernelEmitter &emitter, linalg_ext::SortOp op,
                  llvm::ArrayRef<mlir::AffineExpr> line);

/// Returns true if a scatter copies its operand, because the result has memory of its own.
bool copiesOperand(KernelEmitter &emitter, linalg_ext::ScatterOp op);
/// Copies an element of a scatter's operand to the result.
void emitScatterCopy(KernelEmitter &emitter, linalg_ext::ScatterOp op,
                     llvm::ArrayRef<mlir::AffineExpr> indices);
/// The sizes of the rows that a scatter updates as a whole; empty if it updates single elements.
llvm::ArrayRef<mlir::AffineExpr> rowSizes(KernelShapes &shapes, linalg_ext::ScatterOp op);
/// The sizes of the dimensions along which a scatter has updates.
llvm::ArrayRef<mlir::AffineExpr> updateSizes(KernelShapes &shapes, linalg_ext::ScatterOp op);
/// Computes the indices that an update is written to, as symbols; returns whether all of them are
/// in bounds.
mlir::Value updatePlace(KernelEmitter &emitter, linalg_ext::ScatterOp op,
                        llvm::ArrayRef<mlir::AffineExpr> update,
                        llvm::SmallVectorImpl<mlir::AffineExpr> &place);
/// Emits an update of a scatter, which may be restricted to the element `inner` of its row. Without
/// one, it is a loop over the row, along the lanes.
void emitScatterUpdate(KernelEmitter &emitter, linalg_ext::ScatterOp op,
                       llvm::ArrayRef<mlir::AffineExpr> update,
                       std::optional<llvm::ArrayRef<mlir::AffineExpr>> inner);
/// Emits all updates of a scatter, one after the other, which may be restricted to the elements
/// `inner` of the rows.
void emitScatterUpdates(KernelEmitter &emitter, linalg_ext::ScatterOp op,
                        std::optional<llvm::ArrayRef<mlir::AffineExpr>> inner);

/// Emits an operation of linalg_ext whose results have buffers, with vectors along its lines or
/// rows. Fails with an error for others.
llvm::LogicalResult emitSpecial(KernelEmitter &emitter, mlir::Operation *op);

} // namespace tfc::kernels
