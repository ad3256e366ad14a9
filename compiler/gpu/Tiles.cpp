//===- Tiles.cpp - Sums of products as tiles ------------------------------===//
//
// Decides which loops of a sum of products are the dimensions of a matrix product. A convolution is
// one whose factors are read at several of its loops.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/Tiles.h"
#include "compiler/kernels/Polynomial.h"

using namespace mlir;
using namespace tfc::kernels;

namespace tfc::gpu {

/// Products with fewer rows, columns or terms leave most of a tile empty.
static constexpr int64_t kLeastExtent = 16;

/// The loops around m and n on which both factors depend are the batch; on others only b depends.
static void divideOuter(linalg::GenericOp op, const ContractionForm &form,
                        SmallVectorImpl<unsigned> &batch, SmallVectorImpl<unsigned> &n) {
  llvm::BitVector inA = loopsOf(op, form.a);
  for (unsigned loop : form.outer)
    (inA[loop] ? batch : n).push_back(loop);
  n.push_back(form.n);
}

bool takesTiles(linalg::GenericOp op, const ContractionForm &form) {
  SmallVector<unsigned> batch, n;
  divideOuter(op, form, batch, n);
  auto isEnough = [&](AffineExpr extent) {
    return constantOf(normalize(extent)).value_or(kLeastExtent) >= kLeastExtent;
  };
  return isEnough(form.mOuterSize() * form.mSize()) && isEnough(form.extentOf(n)) &&
         isEnough(form.kOuterSize() * form.kSize());
}

/// The narrowest type that has all values of a factor.
static Type typeOf(const ContractionFactor &factor, const ContractionForm &form) {
  auto extension = factor.root.getDefiningOp<arith::ExtFOp>();
  return extension ? extension.getIn().getType() : form.factorType;
}

/// There are units for floats of 16 bits; f32 may be rounded to the type `factors`.
static Type matrixTypeOf(const ContractionForm &form, Type factors) {
  Type type = typeOf(form.a, form);
  if (!form.computeType.isF32() || typeOf(form.b, form) != type)
    return {};
  return type.isF16() || type.isBF16() ? type : factors;
}

TiledProduct::TiledProduct(KernelShapes &shapes, linalg::GenericOp op, Type factors)
    : form(*matchContraction(op, shapes)), matrixType(matrixTypeOf(form, factors)) {
  divideOuter(op, form, batch, n);
  m.append(form.mOuter);
  m.append(form.m);
  k.append(form.kOuter);
  k.append(form.k);
  auto isAlongK = [&](bool isA) {
    std::optional<LinearAccess> access = denseAccess(shapes, op, form, isA);
    return access && constantOf(access->k) == 1 && constantOf(access->across) != 1;
  };
  isAAlongK = isAlongK(true);
  isBAlongK = isAlongK(false);
  divideSum();
}

/// Blocks that keep a GPU busy, the terms that are worth a block, and the most parts of a sum.
static constexpr int64_t kEnoughBlocks = 256, kTermsOfPart = 256, kMostParts = 16;

/// Divides a long sum if there are few tiles. If the number of terms is known when it runs, a few
/// parts are a guess: with few terms some are empty.
void TiledProduct::divideSum() {
  constexpr int64_t kPartsOfUnknown = 4;
  int64_t tiles = 1;
  for (AffineExpr size : gridSizes()) {
    std::optional<int64_t> known = constantOf(normalize(size));
    if (!known)
      return;
    tiles *= *known;
  }
  std::optional<int64_t> terms = constantOf(normalize(form.extentOf(k)));
  int64_t most = terms ? std::min(*terms / kTermsOfPart, kMostParts) : kPartsOfUnknown;
  parts = std::max<int64_t>(std::min(most, kEnoughBlocks / std::max<int64_t>(tiles, 1)), 1);
}

AffineExpr TiledProduct::partExtent() const {
  return normalize(form.extentOf(k).ceilDiv(parts * kTileDepth) * kTileDepth);
}

SmallVector<AffineExpr> TiledProduct::gridSizes() const {
  SmallVector<AffineExpr> sizes = elementSizes();
  for (AffineExpr &size : MutableArrayRef(sizes).take_back(2))
    size = normalize(size.ceilDiv(kTile));
  if (parts > 1)
    sizes.insert(sizes.begin(), getAffineConstantExpr(parts, sizes.back().getContext()));
  return sizes;
}

SmallVector<AffineExpr> TiledProduct::elementSizes() const {
  SmallVector<AffineExpr> sizes;
  for (unsigned loop : batch)
    sizes.push_back(form.loopSizes[loop]);
  for (ArrayRef<unsigned> loops : {ArrayRef(m), ArrayRef(n)})
    sizes.push_back(normalize(form.extentOf(loops)));
  return sizes;
}

SmallVector<AffineExpr> TiledProduct::point(ArrayRef<AffineExpr> inBatch, AffineExpr mIndex,
                                            AffineExpr nIndex, AffineExpr kIndex) const {
  SmallVector<AffineExpr> indices(form.loopSizes.size(),
                                  getAffineConstantExpr(0, mIndex.getContext()));
  for (auto [loop, index] : llvm::zip_equal(batch, inBatch))
    indices[loop] = index;
  form.split(m, mIndex, indices);
  form.split(n, nIndex, indices);
  form.split(k, kIndex, indices);
  return indices;
}

} // namespace tfc::gpu
