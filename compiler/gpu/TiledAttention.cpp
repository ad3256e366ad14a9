// Chooses the tiles of attention kernels.

#include "compiler/gpu/TiledAttention.h"
#include "compiler/gpu/Accesses.h"
#include "compiler/kernels/Polynomial.h"

using namespace mlir;
using namespace tfc::gpu;
using namespace tfc::kernels;

bool tfc::gpu::takesAttention(const AttentionForm &attention) {
  auto isLarge = [](AffineExpr extent) {
    return constantOf(normalize(extent)).value_or(kLeastExtent) >= kLeastExtent;
  };
  auto fits = [&](const AttentionProduct &product) {
    return product.form.computeType.isF32() && isLarge(product.form.extentOf(product.others));
  };
  // Columns of which there may be none have no tile, but rows have reductions all the same.
  auto isKnown = [&](const AttentionProduct &product) {
    return constantOf(normalize(product.form.extentOf(product.others))).has_value();
  };
  // All threads have the same elements of each tile of scores.
  auto isLikeFirst = [&](const AttentionProduct &product) {
    return hasShortFactors(product.form) == hasShortFactors(attention.scores.front().form);
  };
  auto isF32 = [](linalg::GenericOp op) {
    return getElementTypeOrSelf(op->getResult(0).getType()).isF32();
  };
  return !attention.sumsRows() && isLarge(attention.extentOf(attention.rows)) &&
         isLarge(attention.extentOf(attention.terms)) && llvm::all_of(attention.scores, fits) &&
         llvm::all_of(attention.scores, isLikeFirst) && llvm::all_of(attention.results, fits) &&
         llvm::all_of(attention.results, isKnown) && llvm::all_of(attention.rowOps, isF32);
}

TiledAttention::TiledAttention(KernelShapes &shapes, const AttentionForm &attention, Type factors)
    : attention(&attention) {
  for (const AttentionProduct &product : attention.scores)
    scores.emplace_back(shapes, attention, product, /*makesScores=*/true, factors);
  for (const AttentionProduct &product : attention.results)
    results.emplace_back(shapes, attention, product, /*makesScores=*/false, factors);
}

SmallVector<AffineExpr> TiledAttention::gridSizes() const {
  SmallVector<AffineExpr> sizes;
  for (unsigned dim : attention->batch)
    sizes.push_back(attention->sizes[dim]);
  sizes.push_back(normalize(attention->extentOf(attention->rows).ceilDiv(kTile)));
  // Products with fewer columns have nothing to store in the tiles that only others have.
  int64_t columns = 1;
  for (const TiledProduct &product : results)
    columns = std::max<int64_t>(
        columns,
        llvm::divideCeil(*constantOf(normalize(product.form.extentOf(product.n))), product.tile.n));
  sizes.push_back(getAffineConstantExpr(columns, sizes.back().getContext()));
  return sizes;
}

SmallVector<AffineExpr> TiledAttention::scoreAt(ArrayRef<AffineExpr> inBatch, AffineExpr row,
                                                AffineExpr term) const {
  SmallVector<AffineExpr> indices(attention->sizes.size());
  for (auto [dim, index] : llvm::zip_equal(attention->batch, inBatch))
    indices[dim] =
        constantOf(attention->sizes[dim]) == 1 ? getAffineConstantExpr(0, row.getContext()) : index;
  splitCounter(attention->sizes, attention->rows, row, indices);
  splitCounter(attention->sizes, attention->terms, term, indices);
  return indices;
}
