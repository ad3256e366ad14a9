// Emits scatters, and what operations of linalg_ext share. Operations of linalg_ext have
// dependences between their iterations, so they do not fit into the loops of nests.

#include "compiler/kernels/emit/SpecialEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc::kernels;
using namespace tfc::linalg_ext;

//===--- combining values -------------------------------------------------===//

Value tfc::kernels::combine(OpBuilder &b, Location loc, Operation *combiner, Value lhs, Value rhs) {
  Operation *copy = combiner->cloneWithoutRegions();
  copy->setOperands({lhs, rhs});
  copy->setLoc(loc);
  copy->getResult(0).setType(lhs.getType());
  b.insert(copy);
  return copy->getResult(0);
}

Value tfc::kernels::combineTree(OpBuilder &b, Location loc, Operation *combiner,
                                SmallVector<Value> vectors) {
  while (vectors.size() > 1) {
    SmallVector<Value> next;
    for (unsigned i = 0; i + 1 < vectors.size(); i += 2)
      next.push_back(combine(b, loc, combiner, vectors[i], vectors[i + 1]));
    if (vectors.size() % 2)
      next.push_back(vectors.back());
    vectors = next;
  }
  Value vector = vectors.front();
  auto type = dyn_cast<VectorType>(vector.getType());
  if (!type)
    return vector;
  // LLVM 22 combines halves of products of bytes to vpdpbusd, but adds up only one of its lanes.
  if (isa<arith::AddIOp>(combiner))
    return vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, vector);
  for (int64_t width = type.getNumElements(); width > 1; width /= 2) {
    SmallVector<int64_t> low = llvm::to_vector(llvm::seq<int64_t>(0, width / 2));
    SmallVector<int64_t> high = llvm::to_vector(llvm::seq<int64_t>(width / 2, width));
    Value lhs = vector::ShuffleOp::create(b, loc, vector, vector, low);
    Value rhs = vector::ShuffleOp::create(b, loc, vector, vector, high);
    vector = combine(b, loc, combiner, lhs, rhs);
  }
  return vector::ExtractOp::create(b, loc, vector, ArrayRef<int64_t>{0});
}

void tfc::kernels::transpose(OpBuilder &b, Location loc, SmallVectorImpl<Value> &rows) {
  int64_t size = rows.size();
  for (int64_t step = 1; step < size; step *= 2) {
    // Exchanges a quarter of each square of 2 * step elements with the one across its diagonal.
    SmallVector<int64_t> upper, lower;
    for (int64_t lane = 0; lane < size; ++lane) {
      bool isLeft = (lane & step) == 0;
      upper.push_back(isLeft ? lane : size + lane - step);
      lower.push_back(isLeft ? lane + step : size + lane);
    }
    for (int64_t row = 0; row < size; ++row) {
      if (row & step)
        continue;
      Value first = rows[row], second = rows[row + step];
      rows[row] = vector::ShuffleOp::create(b, loc, first, second, upper);
      rows[row + step] = vector::ShuffleOp::create(b, loc, first, second, lower);
    }
  }
}

//===--- points -----------------------------------------------------------===//

void tfc::kernels::forEachPoint(KernelEmitter &e, ArrayRef<AffineExpr> sizes,
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

void tfc::kernels::emitIf(KernelEmitter &e, Value condition, function_ref<void()> body) {
  OpBuilder &b = e.builder();
  auto branch = scf::IfOp::create(b, e.loc(), condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  KernelEmitter::Scope scope(e);
  body();
}

int64_t tfc::kernels::lanesFor(KernelEmitter &e, Value tensor, AffineExpr size) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  int64_t lanes = e.target().lanes(std::max(8u, element.getIntOrFloatBitWidth()));
  if (auto constant = dyn_cast<AffineConstantExpr>(size))
    lanes = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(std::max<int64_t>(constant.getValue(), 1)));
  return lanes;
}

SmallVector<AffineExpr> tfc::kernels::lineSizes(KernelShapes &shapes, Operation *op) {
  auto scan = dyn_cast<ScanOp>(op);
  auto sort = dyn_cast<SortOp>(op);
  SmallVector<AffineExpr> sizes(shapes.shapeOf(scan ? scan.getResult() : sort.getKeys()));
  sizes.erase(sizes.begin() + (scan ? scan.getDimension() : sort.getDimension()));
  return sizes;
}

Value tfc::kernels::updatePlace(KernelEmitter &e, ScatterOp op, ArrayRef<AffineExpr> batch,
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

ArrayRef<AffineExpr> tfc::kernels::rowSizes(KernelShapes &shapes, ScatterOp op) {
  int64_t depth = cast<RankedTensorType>(op.getIndices().getType()).getShape().back();
  return shapes.shapeOf(op.getOperand()).drop_front(depth);
}

/// The offset of an element of a scatter's result.
static AffineExpr offsetIn(KernelEmitter &e, const Buffer &memory, ArrayRef<AffineExpr> indices) {
  AffineExpr offset = e.constantExpr(0);
  for (auto [index, stride] : llvm::zip(indices, memory.strides))
    offset = offset + index * stride;
  return normalize(offset);
}

/// Combines one update row with the operand's row, vectorized along the last dimension, or an
/// element of it.
static void emitUpdate(KernelEmitter &e, ScatterOp op, ArrayRef<AffineExpr> batch,
                       ArrayRef<AffineExpr> place, std::optional<ArrayRef<AffineExpr>> element) {
  auto point = [&](ArrayRef<AffineExpr> inner) {
    SmallVector<AffineExpr> target(place), source(batch);
    target.append(inner.begin(), inner.end());
    source.append(inner.begin(), inner.end());
    const Buffer &memory = *e.buffer(op.getResult());
    AffineExpr offset = offsetIn(e, memory, target);
    Value update = e.element(op.getUpdates(), source);
    // The old element must be loaded here: an earlier update may have changed it.
    Value old = e.loadAt(memory, offset);
    e.storeAt(memory, offset, e.inlineRegion(op.getCombine(), {old, update}));
  };
  if (element)
    return point(*element);
  ArrayRef<AffineExpr> rest = rowSizes(e.shapes(), op);
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

bool tfc::kernels::copiesOperand(KernelEmitter &e, ScatterOp op) {
  const Buffer *from = e.buffer(op.getOperand()), *to = e.buffer(op.getResult());
  return !from || from->pointer != to->pointer;
}

void tfc::kernels::emitScatterCopy(KernelEmitter &e, ScatterOp op, ArrayRef<AffineExpr> indices) {
  e.store(op.getResult(), indices, e.element(op.getOperand(), indices));
}

/// Copies the operand along the lanes.
static void emitScatterCopies(KernelEmitter &e, ScatterOp op) {
  ArrayRef<AffineExpr> shape = e.shapes().shapeOf(op.getOperand());
  SmallVector<AffineExpr> indices;
  if (shape.empty())
    return emitScatterCopy(e, op, {});
  forEachPoint(e, shape.drop_back(), indices, [&] {
    e.laneLoop(shape.back(), lanesFor(e, op.getResult(), shape.back()), [&](LoopDim dim) {
      indices.push_back(dim);
      emitScatterCopy(e, op, indices);
      indices.pop_back();
    });
  });
}

ArrayRef<AffineExpr> tfc::kernels::updateSizes(KernelShapes &shapes, ScatterOp op) {
  return shapes.shapeOf(op.getIndices()).drop_back();
}

void tfc::kernels::emitScatterUpdate(KernelEmitter &e, ScatterOp op, ArrayRef<AffineExpr> update,
                                     std::optional<ArrayRef<AffineExpr>> inner) {
  SmallVector<AffineExpr> place;
  Value inside = updatePlace(e, op, update, place);
  emitIf(e, inside, [&] { emitUpdate(e, op, update, place, inner); });
}

void tfc::kernels::emitScatterUpdates(KernelEmitter &e, ScatterOp op,
                                      std::optional<ArrayRef<AffineExpr>> inner) {
  SmallVector<AffineExpr> batch;
  forEachPoint(e, updateSizes(e.shapes(), op), batch,
               [&] { emitScatterUpdate(e, op, batch, inner); });
}

/// Returns true if each update replaces an element, whatever it was.
static bool replacesElements(KernelEmitter &e, ScatterOp op) {
  return rowSizes(e.shapes(), op).empty() && op.getCombine().front().getArgument(0).use_empty();
}

/// Stores updates without branches, those that are outside in memory that nothing reads: a branch
/// is mispredicted where indices depend on data, such as a mask.
static void emitReplacements(KernelEmitter &e, ScatterOp op) {
  OpBuilder &b = e.builder();
  Location loc = e.loc();
  const Buffer memory = *e.buffer(op.getResult());
  Value unread = stackMemory(b, loc, b.getI64Type(), 1);
  SmallVector<AffineExpr> batch;
  forEachPoint(e, updateSizes(e.shapes(), op), batch, [&] {
    SmallVector<AffineExpr> place;
    Value inside = updatePlace(e, op, batch, place), zero = e.indexConstant(0);
    for (AffineExpr &index : place)
      index = e.addSymbol(arith::SelectOp::create(b, loc, inside, e.indexValue(index), zero));
    Buffer target = memory;
    target.pointer = arith::SelectOp::create(b, loc, inside, memory.pointer, unread);
    Value update = e.element(op.getUpdates(), batch);
    e.storeAt(target, offsetIn(e, memory, place),
              e.inlineRegion(op.getCombine(), {update, update}));
  });
}

static void emitScatter(KernelEmitter &e, ScatterOp op) {
  if (copiesOperand(e, op))
    emitScatterCopies(e, op);
  if (replacesElements(e, op))
    emitReplacements(e, op);
  else
    emitScatterUpdates(e, op, std::nullopt);
}

/// Sorts the lines one after the other.
static void emitSort(KernelEmitter &e, SortOp op) {
  SmallVector<AffineExpr> line;
  forEachPoint(e, lineSizes(e.shapes(), op), line, [&] { emitSortLine(e, op, line); });
}

LogicalResult tfc::kernels::emitSpecial(KernelEmitter &emitter, Operation *op) {
  KernelEmitter::Scope scope(emitter);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<ScanOp>([&](ScanOp scan) { return emitScan(emitter, scan), success(); })
      .Case<ScatterOp>([&](ScatterOp scatter) { return emitScatter(emitter, scatter), success(); })
      .Case<SortOp>([&](SortOp sort) { return emitSort(emitter, sort), success(); })
      .Default(
          [](Operation *other) { return other->emitOpError("has no code generator [not-yet]"); });
}
