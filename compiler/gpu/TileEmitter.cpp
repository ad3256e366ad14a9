//===- TileEmitter.cpp - Tiles of sums of products ------------------------===//
//
// The loop over the steps of a tile. PanelLoader brings both factors to shared memory, in stages
// that are used in turn, TileMultiplier multiplies, and the results are stored by neighbours.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/TileEmitter.h"
#include "compiler/gpu/Accesses.h"
#include "compiler/gpu/AsyncCopy.h"
#include "compiler/kernels/Polynomial.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc::gpu;
using namespace tfc::kernels;

/// One stage is multiplied, the others are on their way.
static constexpr int64_t kMostStages = 4;

TileEmitter::TileEmitter(KernelEmitter &emitter, const ContractionNest &nest,
                         const TiledProduct &product, ThreadGroup &group, PartSums parts)
    : IndexArithmetic(emitter), e(emitter), nest(nest), product(product), group(group),
      parts(parts), multiplier(TileMultiplier::create(emitter, product, group)),
      type(product.form.computeType) {}

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
// Stages
//===----------------------------------------------------------------------===//

int64_t TileEmitter::sliceBytes() const {
  return multiplier->sliceRows() * multiplier->sumPitch() * bytesOf(type);
}

void TileEmitter::setMemory(Value address, int64_t stages) {
  memory = address;
  numStages = std::min(stages, kMostStages);
}

/// The panel of a factor in a stage, which is given by its offset in bytes.
Value TileEmitter::panelAt(bool isA, Value stage) {
  Value offset = isA ? stage : add(stage, multiplier->panelBytes(true));
  return elementAt(b, loc, memory, b.getI8Type(), offset);
}

Value TileEmitter::nextStage(Value stage) {
  Value next = add(stage, panelBytes()), end = constant(numStages * panelBytes());
  Value isEnd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next, end);
  return arith::SelectOp::create(b, loc, isEnd, constant(0), next);
}

/// Brings the first steps to all stages but the last, unless there is no term.
void TileEmitter::fillFirstStages(Value from, Value to) {
  Value hasTerm = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, from, to);
  auto branch = scf::IfOp::create(b, loc, hasTerm, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  KernelEmitter::Scope scope(e);
  for (int64_t stage = 0; stage + 1 < numStages; ++stage) {
    Value k = add(from, stage * product.tile.depth), offset = constant(stage * panelBytes());
    for (bool isA : {true, false}) {
      PanelLoader &loader = loaderOf(isA);
      if (loader.copies())
        loader.copy(k, panelAt(isA, offset));
      else
        loader.store(loader.load(k), panelAt(isA, offset));
    }
    if (anyCopies())
      endCopyGroup(b, loc);
  }
}

/// Returns this thread's sums of the products of the terms.
TileEmitter::Values TileEmitter::sumUp(Value from, Value to) {
  int64_t ahead = numStages - 1;
  fillFirstStages(from, to);
  Values carried(multiplier->numSums(), arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
  carried.push_back(constant(0));                    // the stage to multiply
  carried.push_back(constant(ahead * panelBytes())); // the stage to fill
  carried = e.forLoop(from, to, product.tile.depth, carried, [&](LoopDim dim, Values values) {
    Value toFill = values.pop_back_val(), stage = values.pop_back_val();
    Value k = add(e.indexValue(dim), ahead * product.tile.depth);
    if (anyCopies())
      waitForCopies(b, loc, ahead - 1);
    group.wait(); // for what the threads have brought, and for the readers of the stage to fill
    Values inRegisters[2];
    for (bool isA : {true, false}) {
      PanelLoader &loader = loaderOf(isA);
      if (loader.copies())
        loader.copy(k, panelAt(isA, toFill));
      else
        inRegisters[isA] = loader.load(k);
    }
    if (anyCopies())
      endCopyGroup(b, loc);
    multiplier->multiply(panelAt(true, stage), panelAt(false, stage), values);
    for (bool isA : {true, false})
      if (PanelLoader &loader = loaderOf(isA); !loader.copies())
        loader.store(inRegisters[isA], panelAt(isA, toFill));
    values.push_back(nextStage(stage));
    values.push_back(nextStage(toFill));
    return values;
  });
  if (anyCopies())
    waitForCopies(b, loc, 0);
  carried.truncate(size_t(multiplier->numSums()));
  return carried;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Computes and stores neighbours in a row from their sums in memory.
void TileEmitter::storeElements(Value row, Value column, Value rowInSlice) {
  KernelEmitter::Scope scope(e);
  int64_t count = product.storedPieceSize();
  Value n = add(bLoader->getFirst(), column);
  Value place =
      elementAt(b, loc, memory, type, add(mul(rowInSlice, multiplier->sumPitch()), column));
  Values sums;
  if (count > 1)
    sums = loadPiece(b, loc, place, type, count);
  else
    sums.push_back(LLVM::LoadOp::create(b, loc, type, place));
  AffineExpr mIndex = e.addDim(row), nIndex = e.addDim(n);
  for (auto [i, sum] : llvm::enumerate(sums)) {
    if (part) {
      SmallVector<AffineExpr> element(inBatch);
      element.append({mIndex, nIndex + int64_t(i)});
      LLVM::StoreOp::create(b, loc, sum, parts.at(part, element));
      continue;
    }
    SmallVector<AffineExpr> point = product.point(inBatch, mIndex, nIndex, e.constantExpr(0));
    AffineExpr &innermost = point[product.n.back()];
    innermost = innermost + int64_t(i);
    storeProduct(e, nest, product.form, point, sum);
  }
}

/// Stores the results of a slice, whose sums are in memory.
void TileEmitter::storeSlice(Value slice) {
  int64_t count = product.storedPieceSize(), pieces = product.tile.n / count;
  auto isLess = [&](Value index, Value extent) {
    return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, index, extent);
  };
  e.forLoop(group.lane(), constant(multiplier->sliceRows() * pieces), kBlockThreads, {},
            [&](LoopDim dim, Values) {
              auto [rowInSlice, piece] = divide(e.indexValue(dim), pieces);
              Value column = mul(piece, count);
              Value row = add(a->getFirst(), multiplier->rowInTile(slice, rowInSlice));
              Value isInside = arith::AndIOp::create(
                  b, loc, isLess(row, a->getExtent()),
                  isLess(add(bLoader->getFirst(), column), bLoader->getExtent()));
              auto branch = scf::IfOp::create(b, loc, isInside, /*withElseRegion=*/false);
              OpBuilder::InsertionGuard guard(b);
              b.setInsertionPointToStart(branch.thenBlock());
              storeElements(row, column, rowInSlice);
              return Values();
            });
}

void TileEmitter::store(const Values &sums) {
  e.forLoop(constant(0), constant(multiplier->numSlices()), 1, {}, [&](LoopDim dim, Values) {
    Value slice = e.indexValue(dim);
    group.wait(); // for the readers of panels or of the last slice
    multiplier->storeSums(memory, slice, sums);
    group.wait();
    storeSlice(slice);
    return Values();
  });
}

void TileEmitter::place(ArrayRef<AffineExpr> batchIndices, AffineExpr mTile, AffineExpr nTile) {
  inBatch.assign(batchIndices.begin(), batchIndices.end());
  a.emplace(e, nest.op, product, true, *multiplier, group, inBatch, mTile);
  bLoader.emplace(e, nest.op, product, false, *multiplier, group, inBatch, nTile);
}

void TileEmitter::emit(ArrayRef<AffineExpr> point) {
  if (product.parts > 1) {
    part = point.front();
    point = point.drop_front();
  }
  place(point.drop_back(2), point[point.size() - 2], point.back());
  // The sums take the memory of the panels, which nobody reads then.
  int64_t stages = std::min(kMostSharedBytes / panelBytes(), kMostStages);
  setMemory(group.sharedMemory(std::max(stages * panelBytes(), sliceBytes())), stages);
  Value from = constant(0), to = e.indexValue(product.form.extentOf(product.k));
  if (part) {
    Value terms = to;
    from = e.indexValue(part * product.partExtent());
    to = minimum(add(from, e.indexValue(product.partExtent())), terms);
  }
  store(sumUp(from, to));
}
