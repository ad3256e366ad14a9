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

using namespace mlir;
using namespace tfc::gpu;
using namespace tfc::kernels;

/// The points of a thread whose elements are on their way at the same time.
static constexpr int64_t kInFlight = 4;

/// Emits the body for the rounds in which the threads visit all points, several at once.
void TransposeEmitter::forEachPart(function_ref<void(ArrayRef<Value>)> body) {
  int64_t count = rounds(), step = std::min(count, kInFlight);
  e.forLoop(e.indexConstant(0), e.indexConstant(count), step, {},
            [&](LoopDim dim, SmallVector<Value>) {
              SmallVector<Value> numbers;
              for (int64_t i = 0; i < step; ++i)
                numbers.push_back(indices.add(e.indexValue(dim), i));
              body(numbers);
              return SmallVector<Value>();
            });
}

/// The row of this thread's point in a round, and its place in the row; neighbours differ in this.
std::pair<Value, Value> TransposeEmitter::placeInOrder(Value round) {
  Value number = indices.add(indices.mul(round, kBlockThreads), group.lane());
  return indices.divide(number, transposition.tile);
}

/// Returns true for points inside of both extents.
Value TransposeEmitter::isInside(const Place &place) {
  auto isLess = [&](Value at, Value from, Value extent) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, indices.add(from, at), extent);
  };
  return arith::AndIOp::create(b, loc, isLess(place.alongRead, first.alongRead, extents.alongRead),
                               isLess(place.alongStore, first.alongStore, extents.alongStore));
}

/// Sets the loops to a point, in the region at hand.
void TransposeEmitter::reach(const Place &place) {
  loops[transposition.readLoop] = e.addDim(indices.add(first.alongRead, place.alongRead));
  loops[transposition.storeLoop] = e.addDim(indices.add(first.alongStore, place.alongStore));
}

AffineExpr TransposeEmitter::positionIn(const Buffer &tile, const Place &place) {
  return e.addSymbol(place.alongStore) * tile.strides.front() + e.addSymbol(place.alongRead);
}

SmallVector<AffineExpr> TransposeEmitter::readAt(const Transposition::Read &read) {
  return llvm::map_to_vector(read.indices,
                             [&](AffineExpr index) { return index.replaceDims(loops); });
}

/// Stores the elements at points in the tiles; those beyond an extent are zero.
void TransposeEmitter::load(ArrayRef<Place> places) {
  SmallVector<SmallVector<Value>> elements;
  for (const Place &place : places) {
    SmallVector<Type> types;
    for (const Buffer &tile : tiles)
      types.push_back(tile.elementType);
    auto branch = scf::IfOp::create(b, loc, types, isInside(place), /*withElseRegion=*/true);
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
void TransposeEmitter::compute(const Place &place) {
  auto branch = scf::IfOp::create(b, loc, isInside(place), /*withElseRegion=*/false);
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
  forEachPart([&](ArrayRef<Value> numbers) {
    load(llvm::map_to_vector(numbers, [&](Value round) {
      auto [slow, fast] = placeInOrder(round);
      return Place{fast, slow};
    }));
  });
  group.wait();
  forEachPart([&](ArrayRef<Value> numbers) {
    for (Value round : numbers) {
      auto [slow, fast] = placeInOrder(round);
      compute({slow, fast});
    }
  });
}
