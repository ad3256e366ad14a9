//===- TileEmitter.cpp - Tiles of sums of products ------------------------===//
//
// Brings steps of both factors to shared memory and stores results; TileMultiplier multiplies.
// Elements of factors come from the emitters of elements, so producers and convolutions need
// nothing of their own here.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/TileEmitter.h"
#include "compiler/gpu/Accesses.h"
#include "compiler/kernels/Polynomial.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc::gpu;
using namespace tfc::kernels;

TileEmitter::TileEmitter(KernelEmitter &emitter, const ContractionNest &nest,
                         const TiledProduct &product, ThreadGroup &group, PartSums parts)
    : IndexArithmetic(emitter), e(emitter), nest(nest), product(product), group(group),
      parts(parts), multiplier(TileMultiplier::create(emitter, product, group)),
      type(product.form.computeType) {}

Value TileEmitter::isLess(Value lhs, Value rhs) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Value PartSums::at(AffineExpr part, ArrayRef<AffineExpr> element) {
  AffineExpr position = part;
  for (auto [size, index] : llvm::zip_equal(product.elementSizes(), element))
    position = position * size + index;
  return elementAt(e.builder(), e.loc(), memory, product.form.computeType,
                   e.indexValue(normalize(position)));
}

void tfc::gpu::emitPartSum(KernelEmitter &e, const ContractionNest &nest,
                           const TiledProduct &product, PartSums &parts,
                           ArrayRef<AffineExpr> element) {
  OpBuilder &b = e.builder();
  Type type = product.form.computeType;
  Value sum;
  for (int64_t part = 0; part < product.parts; ++part) {
    Value next = LLVM::LoadOp::create(b, e.loc(), type, parts.at(e.constantExpr(part), element));
    sum = sum ? addValues(b, e.loc(), sum, next) : next;
  }
  AffineExpr m = element[element.size() - 2], n = element.back();
  storeProduct(e, nest, product.form, product.point(element.drop_back(2), m, n, e.constantExpr(0)),
               sum);
}

//===----------------------------------------------------------------------===//
// Panels
//===----------------------------------------------------------------------===//

TileEmitter::Panel TileEmitter::makePanel(bool isA, AffineExpr tile, Value memory) {
  Panel panel{isA, isA ? product.isAAlongK : product.isBAlongK, memory, {}, {}};
  panel.first = mul(e.indexValue(tile), kTile);
  panel.last = add(isA ? mSize : nSize, -1);
  return panel;
}

/// The place in a panel, across and along the sum, that this thread fills in a round.
std::pair<Value, Value> TileEmitter::placeOf(const Panel &panel, int64_t round) {
  auto [fastOfWarp, slowOfWarp] = multiplier->warpExtents(panel.isAlongK);
  int64_t fastWarps = (panel.isAlongK ? kTileDepth : kTile) / fastOfWarp;
  auto [warp, lane] = divide(add(group.lane(), round * kBlockThreads), kWarpThreads);
  auto [slowInWarp, fastInWarp] = divide(lane, fastOfWarp);
  auto [slowWarp, fastWarp] = divide(warp, fastWarps);
  Value fast = add(mul(fastWarp, fastOfWarp), fastInWarp);
  Value slow = add(mul(slowWarp, slowOfWarp), slowInWarp);
  return panel.isAlongK ? std::pair(slow, fast) : std::pair(fast, slow);
}

/// Loads this thread's elements of a step. Indices beyond the last one are replaced by it: such
/// rows and columns are not stored, and terms of the sum are zero.
TileEmitter::Values TileEmitter::load(const Panel &panel, Value k0) {
  Values values;
  for (int64_t round = 0; round < kTile * kTileDepth / kBlockThreads; ++round) {
    KernelEmitter::Scope scope(e);
    auto [across, along] = placeOf(panel, round);
    Value k = add(k0, along);
    AffineExpr other = e.constantExpr(0);
    AffineExpr index = e.addDim(minimum(add(panel.first, across), panel.last));
    AffineExpr kIndex = e.addDim(minimum(k, add(kSize, -1)));
    const ContractionForm &form = product.form;
    SmallVector<AffineExpr> point =
        product.point(inBatch, panel.isA ? index : other, panel.isA ? other : index, kIndex);
    Value factor = factorAt(e, nest.op, form, panel.isA ? form.a : form.b, point);
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    values.push_back(arith::SelectOp::create(b, loc, isLess(k, kSize), factor, zero));
  }
  return values;
}

void TileEmitter::store(const Panel &panel, const Values &values) {
  for (auto [round, value] : llvm::enumerate(values)) {
    auto [across, along] = placeOf(panel, int64_t(round));
    Type element = multiplier->elementType();
    LLVM::StoreOp::create(
        b, loc, multiplier->toElement(value),
        elementAt(b, loc, panel.memory, element, multiplier->positionInPanel(across, along)));
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Passes the sums to threads that are neighbours along the rows, which store the results.
void TileEmitter::finish(const Values &sums) {
  group.wait();
  multiplier->storeSums(memory, sums);
  group.wait();
  e.forLoop(group.lane(), constant(kTile * kTile), kBlockThreads, {}, [&](LoopDim dim, Values) {
    Value number = e.indexValue(dim);
    auto [inRow, inColumn] = divide(number, kTile);
    Value m = add(a.first, inRow), n = add(bPanel.first, inColumn);
    Value isInside = arith::AndIOp::create(b, loc, isLess(m, mSize), isLess(n, nSize));
    auto branch = scf::IfOp::create(b, loc, isInside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    KernelEmitter::Scope scope(e);
    Value place = add(mul(inRow, kSumPitch), inColumn);
    Value sum = LLVM::LoadOp::create(b, loc, type, elementAt(b, loc, memory, type, place));
    AffineExpr mIndex = e.addDim(m), nIndex = e.addDim(n);
    if (part) {
      SmallVector<AffineExpr> element(inBatch);
      element.append({mIndex, nIndex});
      LLVM::StoreOp::create(b, loc, sum, parts.at(part, element));
      return Values();
    }
    SmallVector<AffineExpr> point = product.point(inBatch, mIndex, nIndex, e.constantExpr(0));
    storeProduct(e, nest, product.form, point, sum);
    return Values();
  });
}

void TileEmitter::emit(ArrayRef<AffineExpr> point) {
  if (product.parts > 1) {
    part = point.front();
    point = point.drop_front();
  }
  inBatch.assign(point.begin(), point.end() - 2);
  mSize = e.indexValue(product.form.extentOf(product.m));
  nSize = e.indexValue(product.form.extentOf(product.n));
  kSize = e.indexValue(product.form.extentOf(product.k));
  // The sums take the memory of the panels, which nobody reads then.
  Type element = multiplier->elementType();
  int64_t panelElements = multiplier->panelElements();
  memory = group.sharedMemory(
      std::max(2 * panelElements * bytesOf(element), kTile * kSumPitch * bytesOf(type)));
  a = makePanel(true, point[point.size() - 2], memory);
  bPanel =
      makePanel(false, point.back(), elementAt(b, loc, memory, element, constant(panelElements)));
  Values sums(kSumsOfThread, arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
  Value from = constant(0), to = kSize;
  if (part) {
    from = e.indexValue(part * product.partExtent());
    to = minimum(add(from, e.indexValue(product.partExtent())), kSize);
  }
  sums = e.forLoop(from, to, kTileDepth, sums, [&](LoopDim dim, Values carried) {
    Value k0 = e.indexValue(dim);
    Values left = load(a, k0), right = load(bPanel, k0);
    group.wait(); // for the readers of the last step
    store(a, left);
    store(bPanel, right);
    group.wait();
    return multiplier->multiply(a.memory, bPanel.memory, carried);
  });
  finish(sums);
}
