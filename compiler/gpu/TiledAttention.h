// How the blocks of a GPU compute an attention kernel.
#pragma once

#include "compiler/gpu/Tiles.h"

namespace tfc::gpu {

/// An attention kernel whose blocks compute some rows of the scores each, tile by tile along the
/// terms, and multiply each tile at once.
struct TiledAttention {
  /// The rows and the terms of a tile of scores.
  static constexpr int64_t kTile = 64;

  /// `attention` outlives this.
  const kernels::AttentionForm *attention;
  std::vector<TiledProduct> scores, results;

  TiledAttention(kernels::KernelShapes &shapes, const kernels::AttentionForm &attention,
                 mlir::Type factors);

  /// The extents of the batch, then the numbers of tiles of rows and of columns.
  llvm::SmallVector<mlir::AffineExpr> gridSizes() const;
  /// The indices of the scores' dimensions, given those of the batch and the counters of others.
  llvm::SmallVector<mlir::AffineExpr> scoreAt(llvm::ArrayRef<mlir::AffineExpr> inBatch,
                                              mlir::AffineExpr row, mlir::AffineExpr term) const;
};

/// Returns true if tiles suit an attention kernel.
bool takesAttention(const kernels::AttentionForm &attention);

} // namespace tfc::gpu
