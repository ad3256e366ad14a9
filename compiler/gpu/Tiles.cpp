//===- Tiles.cpp - Sums of products as tiles ------------------------------===//
//
// Decides which loops of a sum of products are the dimensions of a matrix product. A convolution is
// one whose factors are read at several of its loops.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/Tiles.h"
#include "compiler/gpu/Accesses.h"
#include "compiler/gpu/ThreadGroup.h"
#include "compiler/kernels/Polynomial.h"

using namespace mlir;
using namespace tfc::kernels;

namespace tfc::gpu {

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

bool hasShortFactors(const ContractionForm &form) {
  return bool(matrixTypeOf(form, /*factors=*/{}));
}

TiledProduct::TiledProduct(KernelShapes &shapes, linalg::GenericOp op, Type factors)
    : form(*matchContraction(op, shapes)), matrixType(matrixTypeOf(form, factors)) {
  divideOuter(op, form, batch, n);
  m.append(form.mOuter);
  m.append(form.m);
  k.append(form.kOuter);
  k.append(form.k);
  chooseTile();
  a = findAccess(shapes, op, true);
  b = findAccess(shapes, op, false);
  hasRowPanel = a.isAlongK;
  divideSum();
}

TiledProduct::TiledProduct(KernelShapes &shapes, const AttentionForm &attention,
                           const AttentionProduct &product, bool makesScores, Type factors)
    : form(product.form), batch(product.loops(attention.batch)), m(product.loops(attention.rows)),
      n(makesScores ? product.loops(attention.terms) : product.others),
      k(makesScores ? product.others : product.loops(attention.terms)),
      matrixType(matrixTypeOf(form, factors)) {
  constexpr int64_t kSmall = 64, kLarge = 128;
  bool isWide = !makesScores && constantOf(normalize(form.extentOf(n))).value_or(0) > kSmall;
  tile = {kSmall, isWide ? kLarge : kSmall, bytesOf(panelType()) == 2 ? 32 : 16};
  hasRowPanel = true;
  // Scores that it reads are in registers.
  if (makesScores)
    a = findAccess(shapes, product.op, true);
  else
    a.isAlongK = true;
  b = findAccess(shapes, product.op, false);
}

Type TiledProduct::panelType() const {
  return matrixType && !matrixType.isTF32() ? matrixType : form.computeType;
}

/// Returns the number of points of an index space, if it is known.
static std::optional<int64_t> knownPoints(ArrayRef<AffineExpr> sizes) {
  int64_t count = 1;
  for (AffineExpr size : sizes) {
    std::optional<int64_t> known = constantOf(normalize(size));
    if (!known)
      return std::nullopt;
    count *= *known;
  }
  return count;
}

/// Blocks that keep most of a GPU busy, although each brings its factors by itself.
static constexpr int64_t kEnoughLargeBlocks = 64;

/// A large tile needs half as much of memory for its factors, and of shared memory for its terms,
/// if there are enough of them.
void TiledProduct::chooseTile() {
  int64_t depth = bytesOf(panelType()) == 2 ? 32 : 16;
  tile = {128, 128, depth};
  if (bytesOf(panelType()) > 4 || knownPoints(gridSizes()).value_or(0) < kEnoughLargeBlocks)
    tile = {64, 64, depth};
}

/// Returns true if an offset is a multiple of `size` at all multiples of it along a loop along
/// which it is contiguous.
static bool isMultiple(AffineExpr offset, unsigned loop, int64_t size) {
  AffineExpr dim = getAffineDimExpr(loop, offset.getContext());
  return llvm::all_of(Polynomial(offset).terms(), [&](const Polynomial::Term &term) {
    return term.coefficient % size == 0 || llvm::equal(term.atoms, ArrayRef(dim));
  });
}

FactorAccess TiledProduct::findAccess(KernelShapes &shapes, linalg::GenericOp op, bool isA) {
  const ContractionFactor &factor = isA ? form.a : form.b;
  SmallVector<AffineExpr> offsets;
  for (unsigned input : factor.inputs) {
    OpOperand *tensor = op.getDpsInputOperand(input);
    offsets.push_back(denseOffset(shapes, tensor->get(), indicesOf(op, tensor)));
  }
  auto areNeighbours = [&](unsigned loop) {
    return llvm::any_of(offsets, [&](AffineExpr offset) { return isContiguous(offset, loop); });
  };
  FactorAccess access;
  access.isAlongK = areNeighbours(k.back());
  unsigned loop = access.isAlongK ? k.back() : (isA ? m : n).back();
  // Whole pieces are inside of the innermost loop, and each thread has one of a panel at least.
  int64_t bytes = bytesOf(panelType());
  int64_t &size = access.pieceSize;
  if (std::optional<int64_t> extent = constantOf(normalize(form.loopSizes[loop]));
      extent && areNeighbours(loop))
    for (size = std::min(16 / bytes, across(isA) * tile.depth / kBlockThreads);
         *extent % size != 0;)
      size /= 2;
  Value root = factor.root;
  if (auto extension = root.getDefiningOp<arith::ExtFOp>())
    root = extension.getIn();
  access.isCopy = size * bytes == 16 && factor.inputs.size() == 1 && isa<BlockArgument>(root) &&
                  root.getType() == panelType() && isMultiple(offsets.front(), loop, size);
  return access;
}

int64_t TiledProduct::storedPieceSize() const {
  int64_t most = std::min<int64_t>(4, 16 / bytesOf(form.computeType));
  std::optional<int64_t> extent = constantOf(normalize(form.loopSizes[n.back()]));
  return extent && *extent % most == 0 ? most : 1;
}

/// Blocks that keep a GPU busy, the terms that are worth a block, and the most parts of a sum.
static constexpr int64_t kEnoughBlocks = 512, kTermsOfPart = 128, kMostParts = 32;

/// Divides a long sum if there are few tiles. If the number of terms is known when it runs, a few
/// parts are a guess: with few terms some are empty.
void TiledProduct::divideSum() {
  constexpr int64_t kPartsOfUnknown = 4;
  std::optional<int64_t> tiles = knownPoints(gridSizes());
  if (!tiles)
    return;
  std::optional<int64_t> terms = constantOf(normalize(form.extentOf(k)));
  int64_t most = terms ? std::min(*terms / kTermsOfPart, kMostParts) : kPartsOfUnknown;
  parts = std::max<int64_t>(std::min(most, kEnoughBlocks / std::max<int64_t>(*tiles, 1)), 1);
}

AffineExpr TiledProduct::partExtent() const {
  return normalize(form.extentOf(k).ceilDiv(parts * tile.depth) * tile.depth);
}

SmallVector<AffineExpr> TiledProduct::gridSizes() const {
  SmallVector<AffineExpr> sizes = elementSizes();
  AffineExpr &rows = sizes[sizes.size() - 2], &columns = sizes.back();
  rows = normalize(rows.ceilDiv(tile.m));
  columns = normalize(columns.ceilDiv(tile.n));
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
