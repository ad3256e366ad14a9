//===- Specials.cpp - Scatters and sorts by many threads ------------------===//
//
// Both compare all pairs: that takes more operations than a thread that goes through updates or
// keys in order, but no time of waiting for memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/Specials.h"
#include "compiler/gpu/TileMultiplier.h"
#include "compiler/kernels/Polynomial.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc::gpu;
using namespace tfc::kernels;
using namespace tfc::linalg_ext;

using Values = SmallVector<Value>;

static AffineExpr productOf(ArrayRef<AffineExpr> sizes, MLIRContext *context) {
  AffineExpr product = getAffineConstantExpr(1, context);
  for (AffineExpr size : sizes)
    product = normalize(product * size);
  return product;
}

/// The indices of an element with a number, in row-major order.
static SmallVector<AffineExpr> indicesOf(AffineExpr number, ArrayRef<AffineExpr> sizes) {
  SmallVector<AffineExpr> indices(sizes.size());
  for (size_t i = sizes.size(); i-- > 1; number = number.floorDiv(sizes[i]))
    indices[i] = normalize(number % sizes[i]);
  if (!indices.empty())
    indices.front() = normalize(number);
  return indices;
}

static AffineExpr numberOf(ArrayRef<AffineExpr> indices, ArrayRef<AffineExpr> sizes,
                           MLIRContext *context) {
  AffineExpr number = getAffineConstantExpr(0, context);
  for (auto [index, size] : llvm::zip_equal(indices, sizes))
    number = number * size + index;
  return normalize(number);
}

static Value compare(KernelEmitter &e, arith::CmpIPredicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(e.builder(), e.loc(), predicate, x, y);
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

/// Updates up to which a thread makes them all, and up to which all pairs are compared.
static constexpr int64_t kFewUpdates = 8, kMostLinked = 1 << 14;

static AffineExpr countOf(KernelShapes &shapes, ScatterOp op) {
  return productOf(updateSizes(shapes, op), op.getContext());
}

Parallelism tfc::gpu::linkingOf(KernelShapes &shapes, ScatterOp op) {
  std::optional<int64_t> count = constantOf(countOf(shapes, op));
  if (!count)
    return Parallelism::WhenItRuns;
  return *count > kFewUpdates && *count <= kMostLinked ? Parallelism::Always : Parallelism::Never;
}

Value tfc::gpu::areLinked(KernelEmitter &e, ScatterOp op) {
  if (linkingOf(e.shapes(), op) != Parallelism::WhenItRuns)
    return {};
  return compare(e, arith::CmpIPredicate::sle, e.indexValue(countOf(e.shapes(), op)),
                 e.indexConstant(kMostLinked));
}

// Links are numbers of i64: of each update the next one of the row, or the count of all, then
// whether it is the first.

AffineExpr tfc::gpu::linkBytes(KernelShapes &shapes, ScatterOp op) {
  return countOf(shapes, op) * 16;
}

static Value linkAt(KernelEmitter &e, Value links, AffineExpr number) {
  return elementAt(e.builder(), e.loc(), links, e.builder().getI64Type(),
                   e.indexValue(normalize(number)));
}

void tfc::gpu::emitLink(KernelEmitter &e, ScatterOp op, ArrayRef<AffineExpr> update, Value links) {
  OpBuilder &b = e.builder();
  Location loc = e.loc();
  ArrayRef<AffineExpr> sizes = updateSizes(e.shapes(), op);
  AffineExpr number = numberOf(update, sizes, op.getContext()), total = countOf(e.shapes(), op);
  auto indicesAt = [&](ArrayRef<AffineExpr> at) {
    Values indices;
    SmallVector<AffineExpr> place(at);
    place.push_back({});
    int64_t depth = cast<RankedTensorType>(op.getIndices().getType()).getShape().back();
    for (int64_t i = 0; i < depth; ++i) {
      place.back() = e.constantExpr(i);
      indices.push_back(e.element(op.getIndices(), place));
    }
    return indices;
  };
  Values own = indicesAt(update);
  Value self = e.indexValue(number), count = e.indexValue(total);
  Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  Values found = e.forLoop(
      e.indexConstant(0), count, 1, {no, count}, [&](LoopDim dim, Values carried) -> Values {
        Value other = e.indexValue(dim), isSame = yes;
        for (auto [x, y] : llvm::zip_equal(own, indicesAt(indicesOf(dim, sizes))))
          isSame = b.createOrFold<arith::AndIOp>(loc, isSame,
                                                 compare(e, arith::CmpIPredicate::eq, x, y));
        Value isBefore = arith::AndIOp::create(b, loc, isSame,
                                               compare(e, arith::CmpIPredicate::slt, other, self));
        Value isAfter = arith::AndIOp::create(b, loc, isSame,
                                              compare(e, arith::CmpIPredicate::sgt, other, self));
        Value next = arith::SelectOp::create(b, loc, isAfter, other, count);
        return {arith::OrIOp::create(b, loc, carried[0], isBefore),
                arith::MinSIOp::create(b, loc, carried[1], next)};
      });
  SmallVector<AffineExpr> place;
  Value isInside = updatePlace(e, op, update, place);
  Value isFirst =
      arith::AndIOp::create(b, loc, isInside, arith::XOrIOp::create(b, loc, found[0], yes));
  Type word = b.getI64Type();
  LLVM::StoreOp::create(b, loc, arith::IndexCastOp::create(b, loc, word, found[1]),
                        linkAt(e, links, number));
  LLVM::StoreOp::create(b, loc, arith::ExtUIOp::create(b, loc, word, isFirst),
                        linkAt(e, links, total + number));
}

void tfc::gpu::emitChain(KernelEmitter &e, ScatterOp op, ArrayRef<AffineExpr> point, Value links) {
  OpBuilder &b = e.builder();
  Location loc = e.loc();
  ArrayRef<AffineExpr> sizes = updateSizes(e.shapes(), op);
  ArrayRef<AffineExpr> update = point.take_front(sizes.size()),
                       inner = point.drop_front(sizes.size());
  AffineExpr number = numberOf(update, sizes, op.getContext()), total = countOf(e.shapes(), op);
  Type word = b.getI64Type();
  Value mark = LLVM::LoadOp::create(b, loc, word, linkAt(e, links, total + number));
  Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
  Value self = e.indexValue(number), count = e.indexValue(total);
  emitIf(e, compare(e, arith::CmpIPredicate::ne, mark, zero), [&] {
    auto loop = scf::WhileOp::create(b, loc, b.getIndexType(), self);
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&loop.getBefore(), {}, b.getIndexType(), loc);
    Value next = before->getArgument(0);
    scf::ConditionOp::create(b, loc, compare(e, arith::CmpIPredicate::slt, next, count), next);
    Block *after = b.createBlock(&loop.getAfter(), {}, b.getIndexType(), loc);
    KernelEmitter::Scope scope(e);
    AffineExpr at = e.addDim(after->getArgument(0));
    emitScatterUpdate(e, op, indicesOf(at, sizes), inner);
    Value link = LLVM::LoadOp::create(b, loc, word, linkAt(e, links, at));
    scf::YieldOp::create(b, loc,
                         arith::IndexCastOp::create(b, loc, b.getIndexType(), link).getResult());
  });
}

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

/// Keys of all lines up to which each is compared with those of its line. Of fewer in a line, that
/// is always less work than to sort it.
static constexpr int64_t kMostRanked = 1 << 19, kFewKeys = 128;

SmallVector<AffineExpr> tfc::gpu::keySizes(KernelShapes &shapes, SortOp op) {
  SmallVector<AffineExpr> sizes = lineSizes(shapes, op);
  sizes.push_back(shapes.shapeOf(op.getKeys())[op.getDimension()]);
  return sizes;
}

SmallVector<AffineExpr> tfc::gpu::placeSizes(KernelShapes &shapes, SortOp op) {
  SmallVector<AffineExpr> sizes = lineSizes(shapes, op);
  sizes.push_back(shapes.shapeOf(op.getPlaces())[op.getDimension()]);
  return sizes;
}

Parallelism tfc::gpu::rankingOf(KernelShapes &shapes, SortOp op) {
  SmallVector<AffineExpr> sizes = keySizes(shapes, op);
  if (constantOf(normalize(sizes.back())).value_or(kFewKeys + 1) <= kFewKeys)
    return Parallelism::Always;
  std::optional<int64_t> keys = constantOf(productOf(sizes, op.getContext()));
  if (!keys)
    return Parallelism::WhenItRuns;
  return *keys <= kMostRanked ? Parallelism::Always : Parallelism::Never;
}

Value tfc::gpu::areRanked(KernelEmitter &e, SortOp op) {
  if (rankingOf(e.shapes(), op) != Parallelism::WhenItRuns)
    return {};
  AffineExpr keys = productOf(keySizes(e.shapes(), op), op.getContext());
  return compare(e, arith::CmpIPredicate::sle, e.indexValue(keys), e.indexConstant(kMostRanked));
}

static SmallVector<AffineExpr> placeIn(SortOp op, ArrayRef<AffineExpr> line, AffineExpr position) {
  SmallVector<AffineExpr> place(line);
  place.insert(place.begin() + op.getDimension(), position);
  return place;
}

void tfc::gpu::emitRank(KernelEmitter &e, SortOp op, ArrayRef<AffineExpr> key) {
  OpBuilder &b = e.builder();
  Location loc = e.loc();
  ArrayRef<AffineExpr> line = key.drop_back();
  Value own = e.element(op.getKeys(), placeIn(op, line, key.back()));
  Value self = e.indexValue(key.back());
  Value length = e.indexValue(e.shapes().shapeOf(op.getKeys())[op.getDimension()]);
  Value rank =
      e.forLoop(e.indexConstant(0), length, 1, {e.indexConstant(0)},
                [&](LoopDim dim, Values carried) -> Values {
                  Value other = e.element(op.getKeys(), placeIn(op, line, dim));
                  Value isLess = compare(e, arith::CmpIPredicate::ult, other, own);
                  Value isSame = compare(e, arith::CmpIPredicate::eq, other, own);
                  Value isEarlier = compare(e, arith::CmpIPredicate::slt, e.indexValue(dim), self);
                  isSame = arith::AndIOp::create(b, loc, isSame, isEarlier);
                  Value comesBefore = arith::OrIOp::create(b, loc, isLess, isSame);
                  Value one = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), comesBefore);
                  return {arith::AddIOp::create(b, loc, carried[0], one)};
                })
          .front();
  Value wanted = e.indexValue(e.shapes().shapeOf(op.getPlaces())[op.getDimension()]);
  emitIf(e, compare(e, arith::CmpIPredicate::slt, rank, wanted), [&] {
    Value position = arith::IndexCastOp::create(b, loc, op.getPlaceType(), self);
    e.store(op.getPlaces(), placeIn(op, line, e.addDim(rank)), position);
  });
}

bool tfc::gpu::hasRest(KernelShapes &shapes, SortOp op) {
  std::optional<int64_t> keys = constantOf(normalize(keySizes(shapes, op).back()));
  std::optional<int64_t> places = constantOf(normalize(placeSizes(shapes, op).back()));
  bool isWhole = normalize(keySizes(shapes, op).back()) == normalize(placeSizes(shapes, op).back());
  return !isWhole && !(keys && places && *places <= *keys);
}

void tfc::gpu::emitRest(KernelEmitter &e, SortOp op, ArrayRef<AffineExpr> place) {
  OpBuilder &b = e.builder();
  Value length = e.indexValue(e.shapes().shapeOf(op.getKeys())[op.getDimension()]);
  emitIf(e, compare(e, arith::CmpIPredicate::sge, e.indexValue(place.back()), length), [&] {
    Value zero = arith::ConstantOp::create(b, e.loc(), b.getIntegerAttr(op.getPlaceType(), 0));
    e.store(op.getPlaces(), placeIn(op, place.drop_back(), place.back()), zero);
  });
}
