//===- TransposeEmitter.cpp - Squares through shared memory ---------------===//
//
// Threads that are neighbours along the one loop bring elements to shared memory, and those that
// are neighbours along the other compute with them, so that both access global memory in whole
// sectors.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/TransposeEmitter.h"
#include "compiler/gpu/Accesses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

using namespace mlir;
using namespace tfc::gpu;
using namespace tfc::kernels;

/// The points of a thread whose elements are on their way at the same time.
static constexpr int64_t kInFlight = 4;

/// Returns how many elements of a line's first sector are before the square.
Value TransposeEmitter::lineBegin(const Order &order, Value line) {
  KernelEmitter::Scope scope(e);
  Value zero = e.indexConstant(0);
  reach(order.isAlongRead ? Place{zero, line} : Place{line, zero});
  Value offset = e.indexValue(order.lines.offset.replaceDims(loops));
  return indices.divide(offset, order.lines.sector).second;
}

/// Returns this thread's point in a round; threads are neighbours along a line. If lines begin
/// within a sector, some numbers are before or after the square.
TransposeEmitter::Place TransposeEmitter::placeInOrder(const Order &order, Value round) {
  Value number = indices.add(indices.mul(round, kBlockThreads), group.lane());
  auto [line, point] = indices.divide(number, transposition.pointsOf(order.lines));
  if (order.lines.sector > 1)
    point = indices.sub(point, lineBegin(order, line));
  return order.isAlongRead ? Place{point, line} : Place{line, point};
}

/// Emits the body for the rounds in which the threads visit all points, several at once.
void TransposeEmitter::forEachPart(const Order &order, function_ref<void(ArrayRef<Place>)> body) {
  int64_t count = transposition.tile * transposition.pointsOf(order.lines) / kBlockThreads;
  int64_t step = std::gcd(count, kInFlight);
  e.forLoop(e.indexConstant(0), e.indexConstant(count), step, {},
            [&](LoopDim dim, SmallVector<Value>) {
              SmallVector<Place> places;
              for (int64_t i = 0; i < step; ++i)
                places.push_back(placeInOrder(order, indices.add(e.indexValue(dim), i)));
              body(places);
              return SmallVector<Value>();
            });
}

/// Returns true for points of the square inside of both extents.
Value TransposeEmitter::isInside(const Order &order, const Place &place) {
  auto compare = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(b, loc, predicate, lhs, rhs);
  };
  auto isLess = [&](Value at, Value from, Value extent) {
    return compare(arith::CmpIPredicate::slt, indices.add(from, at), extent);
  };
  Value isInside =
      arith::AndIOp::create(b, loc, isLess(place.alongRead, first.alongRead, extents.alongRead),
                            isLess(place.alongStore, first.alongStore, extents.alongStore));
  if (order.lines.sector == 1)
    return isInside;
  Value point = order.isAlongRead ? place.alongRead : place.alongStore;
  Value isOfSquare = compare(arith::CmpIPredicate::ult, point, e.indexConstant(transposition.tile));
  return arith::AndIOp::create(b, loc, isInside, isOfSquare);
}

/// Sets the loops to a point, in the region at hand.
void TransposeEmitter::reach(const Place &place) {
  loops[transposition.readLoop] = e.addDim(indices.add(first.alongRead, place.alongRead));
  loops[transposition.storeLoop] = e.addDim(indices.add(first.alongStore, place.alongStore));
}

AffineExpr TransposeEmitter::positionIn(const Buffer &tile, const Place &place) {
  Value column = indices.add(place.alongRead, transposition.margin());
  return e.addSymbol(place.alongStore) * tile.strides.front() + e.addSymbol(column);
}

SmallVector<AffineExpr> TransposeEmitter::readAt(const Transposition::Read &read) {
  return llvm::map_to_vector(read.indices,
                             [&](AffineExpr index) { return index.replaceDims(loops); });
}

/// Stores the elements at points in the tiles; those outside are zero.
void TransposeEmitter::load(const Order &order, ArrayRef<Place> places) {
  SmallVector<SmallVector<Value>> elements;
  for (const Place &place : places) {
    SmallVector<Type> types;
    for (const Buffer &tile : tiles)
      types.push_back(tile.elementType);
    auto branch = scf::IfOp::create(b, loc, types, isInside(order, place), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.elseBlock());
    SmallVector<Value> zeros, loaded;
    for (Type type : types)
      zeros.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
    scf::YieldOp::create(b, loc, zeros);
    b.setInsertionPointToStart(branch.thenBlock());
    KernelEmitter::Scope scope(e);
    reach(place);
    for (const Transposition::Read &read : transposition.reads)
      loaded.push_back(e.element(read.tensor, readAt(read)));
    scf::YieldOp::create(b, loc, loaded);
    elements.push_back(branch.getResults());
  }
  for (auto [place, values] : llvm::zip_equal(places, elements))
    for (auto [tile, value] : llvm::zip_equal(tiles, values))
      e.storeAt(tile, positionIn(tile, place), value);
}

/// Computes and stores the results at a point.
void TransposeEmitter::compute(const Order &order, const Place &place) {
  auto branch = scf::IfOp::create(b, loc, isInside(order, place), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  KernelEmitter::Scope scope(e);
  reach(place);
  for (auto [tile, read] : llvm::zip_equal(tiles, transposition.reads))
    e.bind(read.tensor, readAt(read), e.loadAt(tile, positionIn(tile, place)));
  for (const LoopStage *stage : sweep.stages) {
    evaluateParallel(*stage);
    storeStage(*stage);
  }
}

void TransposeEmitter::emit(ArrayRef<unsigned> outer, ArrayRef<AffineExpr> point) {
  for (auto [loop, index] : llvm::zip_equal(outer, point.drop_back(2)))
    loops[loop] = index;
  int64_t tile = transposition.tile;
  first = {indices.mul(e.indexValue(point[point.size() - 2]), tile),
           indices.mul(e.indexValue(point.back()), tile)};
  extents = {e.indexValue(nest.sizes[transposition.readLoop]),
             e.indexValue(nest.sizes[transposition.storeLoop])};
  for (const Transposition::Read &read : transposition.reads) {
    Type type = getElementTypeOrSelf(read.tensor);
    int64_t bytes = bytesOf(type);
    AffineExpr pitch = e.constantExpr(transposition.pitch(bytes));
    tiles.push_back(
        {group.sharedMemory(transposition.bytes(bytes)), type, {pitch, e.constantExpr(1)}, 16});
  }
  Order reads{transposition.readLines, true}, stores{transposition.storeLines, false};
  forEachPart(reads, [&](ArrayRef<Place> places) { load(reads, places); });
  group.wait();
  forEachPart(stores, [&](ArrayRef<Place> places) {
    for (const Place &place : places)
      compute(stores, place);
  });
}
