//===- PanelLoader.cpp - Factors to shared memory -------------------------===//
//
// Divides a panel among the threads of a block, in pieces of neighbours in memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/PanelLoader.h"
#include "compiler/gpu/Accesses.h"
#include "compiler/gpu/AsyncCopy.h"
#include "compiler/kernels/emit/ProductEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc::gpu;
using namespace tfc::kernels;

PanelLoader::PanelLoader(KernelEmitter &emitter, linalg::GenericOp op, const TiledProduct &product,
                         bool isA, TileMultiplier &multiplier, ThreadGroup &group,
                         ArrayRef<AffineExpr> inBatch, AffineExpr tile)
    : IndexArithmetic(emitter), e(emitter), op(op), product(product), isA(isA),
      access(product.access(isA)), multiplier(multiplier), group(group), inBatch(inBatch),
      type(product.panelType()) {
  const ContractionForm &form = product.form;
  first = mul(e.indexValue(tile), product.across(isA));
  extent = e.indexValue(form.extentOf(isA ? product.m : product.n));
  terms = e.indexValue(form.extentOf(product.k));
  if (!access.isCopy || !multiplier.keepsPieces(isA))
    return;
  OpOperand *tensor = op.getDpsInputOperand((isA ? form.a : form.b).inputs.front());
  if (e.buffer(tensor->get()))
    source = tensor;
}

/// The pieces of a panel that each thread brings.
int64_t PanelLoader::rounds() const {
  return product.across(isA) * product.tile.depth / access.pieceSize / kBlockThreads;
}

PanelLoader::Place PanelLoader::placeOf(int64_t round) {
  int64_t size = access.pieceSize;
  int64_t fastPieces = (access.isAlongK ? product.tile.depth : product.across(isA)) / size;
  auto [fastOfWarp, slowOfWarp] = multiplier.warpExtents(isA, fastPieces);
  auto [warp, lane] = divide(add(group.lane(), round * kBlockThreads), kWarpThreads);
  auto [slowInWarp, fastInWarp] = divide(lane, fastOfWarp);
  auto [slowWarp, fastWarp] = divide(warp, fastPieces / fastOfWarp);
  Value fast = mul(add(mul(fastWarp, fastOfWarp), fastInWarp), size);
  Value slow = add(mul(slowWarp, slowOfWarp), slowInWarp);
  return access.isAlongK ? Place{slow, fast} : Place{fast, slow};
}

Value PanelLoader::hasTerms(const Place &place, Value k) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, add(k, place.along), terms);
}

/// The indices of all loops at the first element of a piece. Pieces beyond the last one are
/// replaced by it: such rows and columns are not stored, and such terms are zero.
SmallVector<AffineExpr> PanelLoader::pointOf(const Place &place, Value k) {
  auto clamp = [&](Value index, Value size, bool isFast) {
    Value last = add(size, isFast ? -access.pieceSize : -1);
    return AffineExpr(e.addDim(minimum(index, last)));
  };
  AffineExpr index = clamp(add(first, place.across), extent, !access.isAlongK);
  AffineExpr kIndex = clamp(add(k, place.along), terms, access.isAlongK);
  AffineExpr zero = e.constantExpr(0);
  return product.point(inBatch, isA ? index : zero, isA ? zero : index, kIndex);
}

void PanelLoader::copy(Value k, Value panel) {
  for (int64_t round = 0; round < rounds(); ++round) {
    KernelEmitter::Scope scope(e);
    Place place = placeOf(round);
    SmallVector<AffineExpr> point = pointOf(place, k), indices;
    for (AffineExpr result : indicesOf(op, source))
      indices.push_back(result.replaceDims(point));
    Value from = e.addressOf(source->get(), indices);
    Value position = multiplier.positionInPanel(isA, place.across, place.along);
    copyPiece(b, loc, elementAt(b, loc, panel, type, position), from, hasTerms(place, k));
  }
}

PanelLoader::Values PanelLoader::load(Value k) {
  Values values;
  const ContractionFactor &factor = isA ? product.form.a : product.form.b;
  ArrayRef<unsigned> loops = access.isAlongK ? product.k : isA ? product.m : product.n;
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(product.form.computeType));
  for (int64_t round = 0; round < rounds(); ++round) {
    KernelEmitter::Scope scope(e);
    Place place = placeOf(round);
    SmallVector<AffineExpr> point = pointOf(place, k);
    Value isThere = hasTerms(place, k);
    AffineExpr innermost = point[loops.back()];
    for (int64_t i = 0; i < access.pieceSize; ++i) {
      point[loops.back()] = innermost + i;
      Value value = factorAt(e, op, product.form, factor, point);
      value = arith::SelectOp::create(b, loc, isThere, value, zero);
      values.push_back(convertNumber(b, loc, value, type));
    }
  }
  return values;
}

void PanelLoader::store(const Values &values, Value panel) {
  int64_t size = access.pieceSize;
  bool isPiece = multiplier.keepsPieces(isA);
  for (int64_t round = 0; round < rounds(); ++round) {
    Place place = placeOf(round);
    ArrayRef<Value> piece = ArrayRef(values).slice(round * size, size);
    if (isPiece && size > 1) {
      Value position = multiplier.positionInPanel(isA, place.across, place.along);
      storePiece(b, loc, elementAt(b, loc, panel, type, position), piece);
      continue;
    }
    for (auto [i, value] : llvm::enumerate(piece)) {
      int64_t number = int64_t(i);
      Value across = access.isAlongK ? place.across : add(place.across, number);
      Value along = access.isAlongK ? add(place.along, number) : place.along;
      Value position = multiplier.positionInPanel(isA, across, along);
      LLVM::StoreOp::create(b, loc, value, elementAt(b, loc, panel, type, position));
    }
  }
}
