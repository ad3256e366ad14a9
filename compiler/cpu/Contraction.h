#pragma once

#include "compiler/cpu/ContractionTiles.h"
#include "compiler/cpu/KernelEmitter.h"
#include "compiler/kernels/ContractionForm.h"
#include <optional>

namespace tfc::cpu {

/// How a contraction is cut into parallel units, and the memory it wants beyond its operands.
struct ContractionPlan {
  /// Units over the kernel's size symbols.
  mlir::AffineExpr units;
  /// Units that are worth waking a thread for.
  int64_t grain = 1;
  /// What one pass of the innermost loops computes, and the lanes of its vectors.
  RegisterTile tile;
  int64_t lanes = 1;
  /// What a unit covers: points of the loops of mOuter, rows at each, and panels as wide as the
  /// tile.
  int64_t unitPoints = 1, unitRows = 1, unitPanels = 1;
  /// Steps along k after which sums move to the next panel; 0 for all.
  int64_t sweepSteps = 0;
  /// Loops of kOuter, from the outermost, that run around the tiles: sums are kept in memory
  /// between them.
  unsigned blockLoops = 0;
  /// Whether tiles read copies of b, where there are loops of kOuter.
  bool copiesB = false;
  /// Whether tiles run along k in both operands, each lane on its own part of the sum.
  bool lanesAlongK = false;
};

/// Says how to emit a generic that is a contraction.
ContractionPlan planContraction(KernelShapes &shapes, const Target &target,
                                mlir::linalg::GenericOp op);

/// Emits units [begin, end) of the contraction.
void emitContraction(KernelEmitter &emitter, const ContractionNest &nest,
                     const ContractionPlan &plan, mlir::Value begin, mlir::Value end);

/// Stores what the nest stores at one point (or vector of points): `indices` index the product's
/// tensor, `product` is its element there. To be called in the vector mode of the point.
void storeContractionResults(KernelEmitter &emitter, const ContractionNest &nest,
                             llvm::ArrayRef<mlir::AffineExpr> indices, mlir::Value product);

} // namespace tfc::cpu
