// How the blocks of a GPU compute a sum of products.
#pragma once

#include "compiler/kernels/AttentionForm.h"
#include "llvm/ADT/BitVector.h"

namespace tfc::gpu {

/// Products with fewer rows, columns or terms leave most of a tile empty.
inline constexpr int64_t kLeastExtent = 16;

/// The part of a product that a block computes: `m` x `n` elements, by steps of `depth` along the
/// sum.
struct TileShape {
  int64_t m, n, depth;
};

/// How a block brings the elements of a factor to shared memory.
struct FactorAccess {
  /// True if neighbours in memory are neighbours along the sum.
  bool isAlongK = false;
  /// The number of neighbours that a thread brings at once. They are inside of the factor together.
  int64_t pieceSize = 1;
  /// True if pieces may be copied as they are: 16 bytes of a tensor, which start at multiples.
  bool isCopy = false;
};

/// A sum of products as a batch of matrix products, each divided into tiles. The loops of a
/// dimension are counted as one, outermost first.
struct TiledProduct {
  kernels::ContractionForm form;
  llvm::SmallVector<unsigned> batch, m, n, k;
  /// The type of factors that matrix units multiply; null if lanes multiply.
  mlir::Type matrixType;
  TileShape tile;
  FactorAccess a, b;
  /// True if panels of factor a may have rows: if it has neighbours along the sum, and in
  /// attention, where all products that make scores have the same ones in the same threads.
  bool hasRowPanel = false;
  /// The number of parts of the sum, each computed by other blocks. If there are several, a second
  /// launch adds them up in order.
  int64_t parts = 1;

  /// Products of f32 may round their factors to `factors`, tf32 or bf16; null: they may not.
  TiledProduct(kernels::KernelShapes &shapes, mlir::linalg::GenericOp op, mlir::Type factors);

  /// A product of an attention kernel, which makes scores or reads them.
  TiledProduct(kernels::KernelShapes &shapes, const kernels::AttentionForm &attention,
               const kernels::AttentionProduct &product, bool makesScores, mlir::Type factors);

  const FactorAccess &access(bool isA) const { return isA ? a : b; }
  /// The type of factors in shared memory. Matrix units round f32 to tf32 when they read it.
  mlir::Type panelType() const;
  /// The extent of the tile across the sum.
  int64_t across(bool isA) const { return isA ? tile.m : tile.n; }
  /// The number of neighbours in a row of the result that a thread stores at once.
  int64_t storedPieceSize() const;

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
  void chooseTile();
  FactorAccess findAccess(kernels::KernelShapes &shapes, mlir::linalg::GenericOp op, bool isA);
  void divideSum();
};

/// Returns true if both factors of a product have the same floats of 16 bits, which matrix units
/// multiply in any case.
bool hasShortFactors(const kernels::ContractionForm &form);

/// Returns true if tiles suit a sum of products: it has enough rows, columns and terms.
bool takesTiles(mlir::linalg::GenericOp op, const kernels::ContractionForm &form);

} // namespace tfc::gpu
