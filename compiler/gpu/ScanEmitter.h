// Emits scans by the threads of a group.
#pragma once

#include "compiler/gpu/ThreadGroup.h"
#include "compiler/kernels/emit/IndexArithmetic.h"
#include "compiler/kernels/emit/KernelEmitter.h"
#include "dialects/linalg_ext/LinalgExt.h"

namespace tfc::gpu {

/// The threads of a group that scan a line, and the parts of the line that groups scan by
/// themselves: a launch before computes what each part adds up to.
struct ScanShape {
  int64_t threads;
  mlir::AffineExpr parts; // null: one
  mlir::AffineExpr partExtent;
};

/// Chooses how lines are scanned; none if a thread scans each.
std::optional<ScanShape> shapeOfScan(kernels::KernelShapes &shapes, linalg_ext::ScanOp op);

/// Emits a line of a scan, or a part of one. The group goes through it in steps, in which each
/// thread has neighbours. They are combined in the same order for any number of lines and parts of
/// the same length.
class ScanEmitter : kernels::IndexArithmetic {
public:
  /// `totals` is memory for what parts add up to.
  ScanEmitter(kernels::KernelEmitter &emitter, linalg_ext::ScanOp op, const ScanShape &shape,
              ThreadGroup &group, mlir::Value totals);

  /// The bytes of `totals`.
  static mlir::AffineExpr totalBytes(kernels::KernelShapes &shapes, linalg_ext::ScanOp op,
                                     const ScanShape &shape);

  /// Emits what the part at a point adds up to: a line, then the number of the part.
  void emitTotal(llvm::ArrayRef<mlir::AffineExpr> point);
  /// Emits the elements of the part at a point, or of a line.
  void emitElements(llvm::ArrayRef<mlir::AffineExpr> point);

private:
  using Values = llvm::SmallVector<mlir::Value>;

  mlir::Value combineStates(mlir::Value earlier, mlir::Value later);
  mlir::Value stateAt(mlir::AffineExpr position, mlir::Value isThere);
  mlir::Value scanGroup(mlir::Value own, mlir::Value &total);
  mlir::Value scanParts(mlir::Value carry, mlir::Value from, mlir::Value to, bool stores);
  mlir::Value totalAt(mlir::AffineExpr part);
  mlir::Value carryInto(mlir::AffineExpr part);
  llvm::SmallVector<mlir::AffineExpr> placeOf(mlir::AffineExpr position);

  kernels::KernelEmitter &e;
  linalg_ext::ScanOp op;
  const ScanShape &shape;
  ThreadGroup &group;
  mlir::Value totals, exchange;
  mlir::AffineExpr length;
  llvm::SmallVector<mlir::AffineExpr> line; // the indices of the other dimensions
  mlir::Value init;
};

} // namespace tfc::gpu
