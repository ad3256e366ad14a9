// Emits scans and scatters. Operations of linalg_ext have dependences between their iterations, so
// they do not fit into NestEmitter's loops.

#include "compiler/cpu/NestEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc::cpu;
using namespace tfc::linalg_ext;

void tfc::cpu::forEachPoint(KernelEmitter &e, ArrayRef<AffineExpr> sizes,
                            SmallVector<AffineExpr> &indices, function_ref<void()> body) {
  if (sizes.empty())
    return body();
  OpBuilder &b = e.builder();
  auto loop = scf::ForOp::create(b, e.loc(), e.indexConstant(0), e.indexValue(sizes.front()),
                                 e.indexConstant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  KernelEmitter::Scope scope(e);
  indices.push_back(e.addDim(loop.getInductionVar()));
  forEachPoint(e, sizes.drop_front(), indices, body);
  indices.pop_back();
}

/// Returns the number of lanes for a loop along a dimension of size `size`.
static int64_t lanesFor(KernelEmitter &e, Value tensor, AffineExpr size) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  int64_t lanes = e.target().lanes(std::max(8u, element.getIntOrFloatBitWidth()));
  if (auto constant = dyn_cast<AffineConstantExpr>(size))
    lanes = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(std::max<int64_t>(constant.getValue(), 1)));
  return lanes;
}

/// Scans one line along the dimension, or one line per lane; the running value stays in a register.
static void emitScanLine(KernelEmitter &e, ScanOp op, AffineExpr length,
                         ArrayRef<AffineExpr> indices, Value init) {
  OpBuilder &b = e.builder();
  auto loop = scf::ForOp::create(b, e.loc(), e.indexConstant(0), e.indexValue(length),
                                 e.indexConstant(1), ValueRange{init});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  KernelEmitter::Scope scope(e);
  AffineExpr step = e.addDim(loop.getInductionVar());
  SmallVector<AffineExpr> place(indices);
  place.insert(place.begin() + op.getDimension(), op.getReverse() ? length - 1 - step : step);
  Value old = loop.getRegionIterArg(0);
  SmallVector<Value> scalars = {old};
  for (Value input : op.getInputs()) {
    Value element = e.element(input, place);
    scalars.push_back(isa<VectorType>(old.getType()) ? e.broadcast(element) : element);
  }
  Value sum = e.inlineRegion(op.getCombine(), scalars);
  e.store(op.getResult(), place, op.getExclusive() ? old : sum);
  scf::YieldOp::create(b, e.loc(), sum);
}

/// Vectorizes the last dimension, unless that is the scanned one.
static void emitScan(KernelEmitter &e, ScanOp op) {
  SmallVector<AffineExpr> sizes(e.shapes().shapeOf(op.getResult())), indices;
  unsigned dimension = op.getDimension();
  AffineExpr length = sizes[dimension];
  bool isAcross = dimension + 1 < sizes.size();
  sizes.erase(sizes.begin() + dimension);
  AffineExpr last = isAcross ? sizes.pop_back_val() : AffineExpr();
  forEachPoint(e, sizes, indices, [&] {
    if (!isAcross)
      return emitScanLine(e, op, length, indices, e.scalar(op.getInit()));
    e.laneLoop(last, lanesFor(e, op.getResult(), last), [&](LoopDim dim) {
      indices.push_back(dim);
      emitScanLine(e, op, length, indices, e.broadcast(e.scalar(op.getInit())));
      indices.pop_back();
    });
  });
}

/// Computes the indices that an update is written to, as symbols; returns whether all of them are
/// in bounds.
static Value updatePlace(KernelEmitter &e, ScatterOp op, ArrayRef<AffineExpr> batch,
                         SmallVectorImpl<AffineExpr> &place) {
  OpBuilder &b = e.builder();
  Location loc = e.loc();
  ArrayRef<AffineExpr> shape = e.shapes().shapeOf(op.getOperand());
  int64_t depth = cast<RankedTensorType>(op.getIndices().getType()).getShape().back();
  Value inside = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  for (int64_t i = 0; i < depth; ++i) {
    SmallVector<AffineExpr> at(batch);
    at.push_back(e.constantExpr(i));
    Value index =
        arith::IndexCastOp::create(b, loc, b.getIndexType(), e.element(op.getIndices(), at));
    // The comparison is unsigned, so that negative indices are out of bounds, too.
    Value fits =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, e.indexValue(shape[i]));
    inside = b.createOrFold<arith::AndIOp>(loc, inside, fits);
    place.push_back(e.addSymbol(index));
  }
  return inside;
}

/// Combines one update row with the operand's row, vectorized along the last dimension.
static void emitUpdate(KernelEmitter &e, ScatterOp op, ArrayRef<AffineExpr> batch,
                       ArrayRef<AffineExpr> place) {
  ArrayRef<AffineExpr> shape = e.shapes().shapeOf(op.getOperand());
  ArrayRef<AffineExpr> rest = shape.drop_front(place.size());
  auto point = [&](ArrayRef<AffineExpr> inner) {
    SmallVector<AffineExpr> target(place), source(batch);
    target.append(inner.begin(), inner.end());
    source.append(inner.begin(), inner.end());
    const Buffer &memory = *e.buffer(op.getResult());
    AffineExpr offset = e.constantExpr(0);
    for (auto [index, stride] : llvm::zip(target, memory.strides))
      offset = offset + index * stride;
    offset = normalize(offset);
    Value update = e.element(op.getUpdates(), source);
    // The old element must be loaded here: an earlier update may have changed it.
    Value old = e.loadAt(memory, offset);
    e.storeAt(memory, offset, e.inlineRegion(op.getCombine(), {old, update}));
  };
  if (rest.empty())
    return point({});
  SmallVector<AffineExpr> inner;
  forEachPoint(e, rest.drop_back(), inner, [&] {
    e.laneLoop(rest.back(), lanesFor(e, op.getResult(), rest.back()), [&](LoopDim dim) {
      inner.push_back(dim);
      point(inner);
      inner.pop_back();
    });
  });
}

/// Copies the operand, unless the result uses its memory.
static void emitScatterCopy(KernelEmitter &e, ScatterOp op) {
  const Buffer *from = e.buffer(op.getOperand()), *to = e.buffer(op.getResult());
  if (from && from->pointer == to->pointer)
    return;
  ArrayRef<AffineExpr> shape = e.shapes().shapeOf(op.getOperand());
  SmallVector<AffineExpr> indices;
  if (shape.empty())
    return e.store(op.getResult(), {}, e.element(op.getOperand(), {}));
  forEachPoint(e, shape.drop_back(), indices, [&] {
    e.laneLoop(shape.back(), lanesFor(e, op.getResult(), shape.back()), [&](LoopDim dim) {
      indices.push_back(dim);
      e.store(op.getResult(), indices, e.element(op.getOperand(), indices));
      indices.pop_back();
    });
  });
}

static void emitScatter(KernelEmitter &e, ScatterOp op) {
  OpBuilder &b = e.builder();
  emitScatterCopy(e, op);
  ArrayRef<AffineExpr> batchSizes = e.shapes().shapeOf(op.getIndices()).drop_back();
  SmallVector<AffineExpr> batch;
  forEachPoint(e, batchSizes, batch, [&] {
    SmallVector<AffineExpr> place;
    Value inside = updatePlace(e, op, batch, place);
    auto branch = scf::IfOp::create(b, e.loc(), inside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    KernelEmitter::Scope scope(e);
    emitUpdate(e, op, batch, place);
  });
}

LogicalResult tfc::cpu::emitSpecial(KernelEmitter &emitter, Operation *op) {
  KernelEmitter::Scope scope(emitter);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<ScanOp>([&](ScanOp scan) { return emitScan(emitter, scan), success(); })
      .Case<ScatterOp>([&](ScatterOp scatter) { return emitScatter(emitter, scatter), success(); })
      .Case<SortOp>([&](SortOp sort) { return emitSort(emitter, sort), success(); })
      .Default([](Operation *other) {
        return other->emitOpError("has no code generator for the CPU [not-yet]");
      });
}
