//===- ScatterOps.cpp - Rows combined at computed places ------------------===//

#include "dialects/dfg/ScatterOps.h"
#include "dialects/dfg/Formula.h"

using namespace mlir;
using namespace tfc::dfg;

#define GET_OP_CLASSES
#include "dialects/dfg/ScatterOps.cpp.inc"

LogicalResult ScatterReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  if (failed(checkDtypes(location, "scatter_reduce", Dtypes::Numeric, type)))
    return failure();
  StringRef mode = adaptor.getMode();
  if (mode != "max" && mode != "min" && mode != "mul")
    return emitOptionalError(location,
                             "'scatter_reduce' expects 'max', 'min' or 'mul' for mode, but got '",
                             mode, "' [attribute]");
  return inferScatter(location, "scatter_reduce", type, adaptor.getIndices().getType(),
                      adaptor.getUpdates().getType(), adaptor.getOutside(), results);
}

/// The rows of `x` at the indices, zeros for those outside.
static Term rowsAt(const Term &x, Value indices) {
  OpBuilder &b = x.getBuilder();
  return call<GatherOp>(x, indices, b.getI64IntegerAttr(0), b.getStringAttr("skip"));
}

static Term addRows(const Term &x, Value indices, const Term &rows) {
  return call<ScatterAddOp>(x, indices, rows, x.getBuilder().getStringAttr("skip"));
}

static Term equal(const Term &x, const Term &y) { return call<EqualOp>(x, y); }

/// g / ties where the element is the extreme one, for x and for the updates.
static SmallVector<Value> extremeGradient(const Term &g, ScatterReduceOp op) {
  Term x = g.with(op.getX()), u = g.with(op.getUpdates()), y = g.with(op.getY());
  Term hits = call<CastOp>(equal(x, y), g.getDtype());
  Term updateHits = call<CastOp>(equal(u, rowsAt(y, op.getIndices())), g.getDtype());
  Term ties = addRows(hits, op.getIndices(), updateHits);
  // Where NaN won nothing is equal to it.
  Term share = g / select(greater(ties, 0.0), ties, ties.number(1.0));
  return {hits * share, Value(), updateHits * rowsAt(share, op.getIndices())};
}

/// g times the product of the other factors: the product of those that are not 0, if no other is 0,
/// divided by the factor itself.
static SmallVector<Value> productGradient(const Term &g, ScatterReduceOp op) {
  OpBuilder &b = g.getBuilder();
  Term x = g.with(op.getX()), u = g.with(op.getUpdates());
  Term isZero = equal(x, x.number(0.0)), isZeroUpdate = equal(u, u.number(0.0));
  Term factor = select(isZero, x.number(1.0), x), factors = select(isZeroUpdate, u.number(1.0), u);
  Term zeros = addRows(call<CastOp>(isZero, g.getDtype()), op.getIndices(),
                       call<CastOp>(isZeroUpdate, g.getDtype()));
  Term product = call<ScatterReduceOp>(factor, op.getIndices(), factors, op.getModeAttr(),
                                       b.getStringAttr("skip"));
  auto others = [&](const Term &slope, const Term &zeros, const Term &isZero, const Term &factor) {
    Term allowed = select(isZero, zeros.number(1.0), zeros.number(0.0));
    return select(equal(zeros, allowed), slope / factor, slope.number(0.0));
  };
  Term slope = g * product;
  return {others(slope, zeros, isZero, factor), Value(),
          others(rowsAt(slope, op.getIndices()), rowsAt(zeros, op.getIndices()), isZeroUpdate,
                 factors)};
}

SmallVector<Value> ScatterReduceOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]);
  return getMode() == "mul" ? productGradient(g, *this) : extremeGradient(g, *this);
}

Value ScatterReduceOp::buildCheck(OpBuilder &b) {
  if (getOutside() == "skip")
    return {};
  Term index(b, getLoc(), getIndices());
  Value size = sizeAs(b, getLoc(), shapeOf(getX().getType())[0], index.getDtype());
  Term isLow = call<GreaterEqualOp>(index, index.number(0.0)),
       isHigh = less(index, index.with(size));
  return call<AllOp>(call<LogicalAndOp>(isLow, isHigh), DenseI64ArrayAttr(), b.getBoolAttr(false));
}

StringAttr ScatterReduceOp::getCheckMessage() {
  return StringAttr::get(getContext(),
                         "'scatter_reduce' got an index outside of " + toText(getX().getType()));
}
