// Brings the elements of a factor to shared memory.
#pragma once

#include "compiler/gpu/TileMultiplier.h"

namespace tfc::gpu {

/// Emits what a thread does to fill the panels of a factor. Elements come from the emitters of
/// elements, so producers and convolutions need nothing of their own here.
class PanelLoader : kernels::IndexArithmetic {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  /// `tile` is the number of the tile along m or n, `inBatch` the indices of the batch.
  PanelLoader(kernels::KernelEmitter &emitter, mlir::linalg::GenericOp op,
              const TiledProduct &product, bool isA, TileMultiplier &multiplier, ThreadGroup &group,
              llvm::ArrayRef<mlir::AffineExpr> inBatch, mlir::AffineExpr tile);

  /// The first index across the sum, and their number.
  mlir::Value getFirst() const { return first; }
  mlir::Value getExtent() const { return extent; }

  /// Returns true if pieces are copied from memory to memory: then `copy` begins to fill a panel.
  /// Otherwise `load` returns elements in registers, for `store`.
  bool copies() const { return source != nullptr; }
  /// `k` is the first term of the step; those beyond the last one are zero.
  void copy(mlir::Value k, mlir::Value panel);
  /// The sum must have a term.
  Values load(mlir::Value k);
  void store(const Values &values, mlir::Value panel);

private:
  /// The place of a piece in a panel.
  struct Place {
    mlir::Value across, along;
  };

  int64_t rounds() const;
  Place placeOf(int64_t round);
  llvm::SmallVector<mlir::AffineExpr> pointOf(const Place &place, mlir::Value k);
  mlir::Value hasTerms(const Place &place, mlir::Value k);

  kernels::KernelEmitter &e;
  mlir::linalg::GenericOp op;
  const TiledProduct &product;
  bool isA;
  const FactorAccess &access;
  TileMultiplier &multiplier;
  ThreadGroup &group;
  llvm::ArrayRef<mlir::AffineExpr> inBatch;
  mlir::Type type; // of elements in panels
  mlir::Value first, extent, terms;
  mlir::OpOperand *source = nullptr; // the tensor that is copied
};

} // namespace tfc::gpu
