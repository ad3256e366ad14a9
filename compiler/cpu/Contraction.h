#pragma once

#include "compiler/cpu/ContractionTiles.h"
#include "compiler/cpu/KernelEmitter.h"
#include <optional>

namespace tfc::cpu {

/// A matrix product (a generic that multiplies two operands and adds up along its reduction loops)
/// with the parallel generics that ride along.
struct ContractionNest {
  mlir::linalg::GenericOp op;
  /// Generics whose results are stored; each reads the product at its own point only.
  llvm::SmallVector<mlir::linalg::GenericOp> epilogues;
  /// For each epilogue, the index of the product's tensor that each of its loops is.
  llvm::SmallVector<llvm::SmallVector<unsigned>> epilogueLoops;
  /// Whether the product itself is stored as well.
  bool storesProduct = true;
};

/// How a contraction is cut into parallel units, and the memory it wants beyond its operands.
struct ContractionPlan {
  /// Units over the kernel's size symbols.
  mlir::AffineExpr units;
  /// Units that are worth waking a thread for.
  int64_t grain = 1;
  /// Bytes of scratch over the kernel's size symbols; null for none.
  mlir::AffineExpr scratchBytes;
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

/// Says how to emit the contraction, or nothing where the plain loop nest does better.
std::optional<ContractionPlan> planContraction(KernelShapes &shapes, const Target &target,
                                               const ContractionNest &nest);

/// Emits units [begin, end) of the contraction. `scratch` has the planned bytes (64-byte aligned).
void emitContraction(KernelEmitter &emitter, const ContractionNest &nest,
                     const ContractionPlan &plan, mlir::Value begin, mlir::Value end,
                     mlir::Value scratch);

/// Stores what the nest stores at one point (or vector of points): `indices` index the product's
/// tensor, `product` is its element there. To be called in the vector mode of the point.
void storeContractionResults(KernelEmitter &emitter, const ContractionNest &nest,
                             llvm::ArrayRef<mlir::AffineExpr> indices, mlir::Value product);

} // namespace tfc::cpu
