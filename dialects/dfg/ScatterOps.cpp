//===- ScatterOps.cpp - Rows combined at computed positions ---------------===//
//
// Implements `scatter_reduce`. It is apart from GatherOps.cpp because its gradients consider ties
// and the order of updates, which sums do not.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/ScatterOps.h"
#include "dialects/dfg/Formula.h"
#include "dialects/dfg/ScanOps.h"

using namespace mlir;
using namespace tfc::dfg;

#define GET_OP_CLASSES
#include "dialects/dfg/ScatterOps.cpp.inc"

LogicalResult ScatterReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &results) {
  return inferScatter(location, "scatter_reduce", Dtypes::Numeric, adaptor.getX().getType(),
                      adaptor.getIndices().getType(), adaptor.getUpdates().getType(), results);
}

static OutsideAttr skip(OpBuilder &b) { return OutsideAttr::get(b.getContext(), Outside::Skip); }

/// The rows of `x` at the indices; zeros for indices out of range.
static Term rowsAt(const Term &x, Value indices) {
  OpBuilder &b = x.getBuilder();
  return call<GatherOp>(x, indices, b.getI64IntegerAttr(0), skip(b));
}

static Term addRows(const Term &x, Value indices, const Term &rows) {
  return call<ScatterAddOp>(x, indices, rows, skip(x.getBuilder()));
}

static Term equal(const Term &x, const Term &y) { return call<EqualOp>(x, y); }

/// g / ties where the element is the extreme one, for x and for the updates.
static SmallVector<Value> extremeGradient(const Term &g, ScatterReduceOp op) {
  Term x = g.with(op.getX()), u = g.with(op.getUpdates()), y = g.with(op.getY());
  Term hits = call<CastOp>(equal(x, y), g.getDtype());
  Term updateHits = call<CastOp>(equal(u, rowsAt(y, op.getIndices())), g.getDtype());
  Term ties = addRows(hits, op.getIndices(), updateHits);
  // Nothing is equal to a NaN.
  Term share = g / select(greater(ties, 0.0), ties, ties.number(1.0));
  return {hits * share, Value(), updateHits * rowsAt(share, op.getIndices())};
}

/// For each of `updates`, the product of the updates of the same row that precede it in `order`,
/// which groups updates by row.
static Term productBefore(const Term &updates, const Term &indices, const Term &order) {
  OpBuilder &b = updates.getBuilder();
  Shape shape = updates.getShape();
  auto dims = [&](DimExpr size) { return DimsAttr::get(b.getContext(), {size}); };
  auto shifted = [&](const Term &x) {
    return call<PlaceOp>(x, dims(1), dims(shape[0]), DenseI64ArrayAttr(), b.getF64FloatAttr(-1.0));
  };
  Term row = rowsAt(indices, order);
  Term isFirst = call<NotEqualOp>(row, shifted(row));
  Term factor = rowsAt(updates, select(isFirst, order.number(-1.0), shifted(order)));
  Shape column(shape.size(), DimExpr(1));
  column[0] = shape[0];
  Value start = reshapeTo(b, call<CastOp>(isFirst, updates.getDtype()), column);
  Term product =
      call<LinearRecurrenceOp>(factor, broadcastTo(b, start, shape), b.getI64IntegerAttr(0),
                               b.getBoolAttr(false), b.getBoolAttr(false));
  auto type = cast<RankedTensorType>(Value(updates).getType());
  return addRows(order.with(filled(b, order.getLoc(), type, 0.0)), order, product);
}

/// g times the product of the other factors: the product of the earlier ones times that of the
/// later ones. There is no division, so it also holds if factors are 0, as do its own gradients.
static SmallVector<Value> productGradient(const Term &g, ScatterReduceOp op) {
  OpBuilder &b = g.getBuilder();
  Term x = g.with(op.getX()), u = g.with(op.getUpdates()), indices = g.with(op.getIndices());
  Shape given = u.getShape(), flat = {DimExpr(1)};
  for (const DimExpr &size : indices.getShape())
    flat[0] = flat[0] * size;
  llvm::append_range(flat, llvm::drop_begin(given, indices.getShape().size()));
  Term row = g.with(reshapeTo(b, indices, {flat[0]}));
  Term update = g.with(reshapeTo(b, u, flat));
  Term order = call<ArgsortOp>(row, b.getI64IntegerAttr(0));
  Term others = productBefore(update, row, order) *
                productBefore(update, row, call<ReverseOp>(order, b.getDenseI64ArrayAttr({0})));
  auto type = cast<RankedTensorType>(op.getX().getType());
  Term all = call<ScatterReduceOp>(g.with(filled(b, g.getLoc(), type, 1.0)), indices, u,
                                   op.getModeAttr(), skip(b));
  return {g * all, Value(), reshapeTo(b, rowsAt(g * x, row) * others, given)};
}

SmallVector<Value> ScatterReduceOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]);
  return getMode() == ScatterMode::Mul ? productGradient(g, *this) : extremeGradient(g, *this);
}

std::optional<DataCheck> ScatterReduceOp::buildCheck(OpBuilder &b) {
  if (getOutside() == Outside::Skip)
    return std::nullopt;
  IndexRange range = {getIndices(), 0, shapeOf(getX().getType())[0]};
  return buildIndexCheck(b, getLoc(), range, "index", getX().getType());
}
