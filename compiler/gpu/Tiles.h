// How the blocks of a GPU compute a sum of products.
#pragma once

#include "compiler/kernels/ContractionForm.h"
#include "llvm/ADT/BitVector.h"

namespace tfc::gpu {

/// A tile of a product: each block computes `kTile` x `kTile` elements, by steps of `kTileDepth`
/// along the sum.
inline constexpr int64_t kTile = 64, kTileDepth = 16;

/// A sum of products as a batch of matrix products, each divided into tiles. The loops of a
/// dimension are counted as one, outermost first.
struct TiledProduct {
  kernels::ContractionForm form;
  llvm::SmallVector<unsigned> batch, m, n, k;
  /// True if neighbouring elements of a factor are neighbours along the sum.
  bool isAAlongK = false, isBAlongK = false;
  /// The type of factors that matrix units multiply; null if lanes multiply.
  mlir::Type matrixType;
  /// The number of parts of the sum, each computed by other blocks. If there are several, a second
  /// launch adds them up in order.
  int64_t parts = 1;

  /// Products of f32 may round their factors to `factors`, tf32 or bf16; null: they may not.
  TiledProduct(kernels::KernelShapes &shapes, mlir::linalg::GenericOp op, mlir::Type factors);

  /// The number of parts, if there are several, the extents of the batch, then the numbers of tiles
  /// along m and n.
  llvm::SmallVector<mlir::AffineExpr> gridSizes() const;
  /// The extents of the batch, of m and of n.
  llvm::SmallVector<mlir::AffineExpr> elementSizes() const;
  /// The number of terms of a part, a multiple of a step.
  mlir::AffineExpr partExtent() const;
  /// The indices of all loops, given those of the batch and the counters of the dimensions.
  llvm::SmallVector<mlir::AffineExpr> point(llvm::ArrayRef<mlir::AffineExpr> inBatch,
                                            mlir::AffineExpr mIndex, mlir::AffineExpr nIndex,
                                            mlir::AffineExpr kIndex) const;

private:
  void divideSum();
};

/// Returns true if tiles suit a sum of products: it has enough rows, columns and terms.
bool takesTiles(mlir::linalg::GenericOp op, const kernels::ContractionForm &form);

} // namespace tfc::gpu
