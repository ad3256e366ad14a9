//===- ScanOps.cpp - Reductions that return every step --------------------===//
//
// Implements scans along an axis, whose gradients are scans in the other direction or updates at
// the positions of extreme elements.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/ScanOps.h"
#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Formula.h"
#include "dialects/dfg/TakeAlongAxis.h"

using namespace mlir;
using namespace tfc::dfg;

#define GET_OP_CLASSES
#include "dialects/dfg/ScanOps.cpp.inc"

LogicalResult tfc::dfg::inferScan(std::optional<Location> location, StringRef op, Dtypes dtypes,
                                  Type operand, int64_t axis, SmallVectorImpl<Type> &results) {
  if (failed(checkDtypes(location, op, dtypes, operand)) ||
      failed(checkAxis(location, op, axis, shapeOf(operand).size(), operand)))
    return failure();
  results.push_back(operand);
  return success();
}

/// d(cumsum x) = cumsum(g) in the other direction.
SmallVector<Value> CumsumOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {CumsumOp::create(b, getLoc(), resultGrads[0], getAxisAttr(), getExclusiveAttr(),
                           b.getBoolAttr(!getReverse()))};
}

/// The recurrence `y[i] = factor[i] * y[i - 1] + x[i]` along the axis of the scan `op`, from the
/// other end if `flip`.
template <typename Op>
static Term recur(Op op, const Term &factor, const Term &x, bool exclusive, bool flip) {
  OpBuilder &b = x.getBuilder();
  return call<LinearRecurrenceOp>(factor, x, op.getAxisAttr(), b.getBoolAttr(exclusive),
                                  b.getBoolAttr(op.getReverse() != flip));
}

/// The gradient of the state after element i of a scan with states s[i] = x[i] * s[i - 1] + ...,
/// given the gradients `g` of its results: the sum of those of later results, each scaled by the
/// factors in between.
template <typename Op> static Term stateGradient(Op op, const Term &x, const Term &g) {
  if (op.getExclusive())
    return recur(op, x, g, /*exclusive=*/true, /*flip=*/true);
  return g + recur(op, x, x * g, /*exclusive=*/true, /*flip=*/true);
}

/// d(cumprod x) = the product before each element * the gradient of the product up to it. There is
/// no division, so it also holds if elements are 0.
SmallVector<Value> CumprodOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX());
  Term before = getExclusive()
                    ? g.with(getY())
                    : call<CumprodOp>(x, getAxisAttr(), b.getBoolAttr(true), getReverseAttr());
  return {before * stateGradient(*this, x, g)};
}

LogicalResult LinearRecurrenceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                   Adaptor adaptor,
                                                   SmallVectorImpl<Type> &results) {
  constexpr StringLiteral name = "linear_recurrence";
  Type factor = adaptor.getFactor().getType(), x = adaptor.getX().getType();
  if (failed(inferScan(location, name, Dtypes::Numeric, factor, adaptor.getAxis(), results)))
    return failure();
  if (factor != x)
    return emitErrorAbout(location, name, "expects operands of one type, but got ", toText(factor),
                          " and ", toText(x), " [type-mismatch]");
  return success();
}

/// d(factor) = the state before each element * the gradient of the state after it, d(x) = the
/// latter.
SmallVector<Value> LinearRecurrenceOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), factor = g.with(getFactor()), x = g.with(getX());
  Term state = stateGradient(*this, factor, g);
  Term before =
      getExclusive() ? g.with(getY()) : recur(*this, factor, x, /*exclusive=*/true, /*flip=*/false);
  return {before * state, state};
}

//===----------------------------------------------------------------------===//
// CummaxOp, CumminOp
//===----------------------------------------------------------------------===//

/// g, added at the last position so far that holds the extreme element. Before the first such
/// element, and where the result is NaN, there is no such position.
template <typename Op> static Value buildExtremeGradient(OpBuilder &b, Op op, Value grad) {
  Term g(b, op.getLoc(), grad), x = g.with(op.getX());
  Shape shape = x.getShape(), column;
  int64_t axis = *normalizeAxis(op.getAxis(), shape.size());
  column.assign(shape.size() - axis, DimExpr(1));
  column[0] = shape[axis];
  Term iota = x.with(IotaOp::create(b, op.getLoc(), DimsAttr::get(b.getContext(), {shape[axis]}),
                                    TypeAttr::get(b.getI64Type())));
  Term size = x.with(sizeAs(b, op.getLoc(), shape[axis], b.getI64Type()));
  Term none = op.getReverse() ? size : iota.number(-1.0);

  Term extreme = call<Op>(x, op.getAxisAttr(), b.getBoolAttr(false), op.getReverseAttr());
  Term hits = select(call<EqualOp>(x, extreme), reshape(iota, column), none);
  Term last =
      op.getReverse()
          ? call<CumminOp>(hits, op.getAxisAttr(), op.getExclusiveAttr(), op.getReverseAttr())
          : call<CummaxOp>(hits, op.getAxisAttr(), op.getExclusiveAttr(), op.getReverseAttr());
  Term exists = call<LogicalAndOp>(call<GreaterEqualOp>(last, last.number(0.0)), less(last, size));
  return takeAlongAxisGradient(b, op.getLoc(), x, select(exists, last, last.number(0.0)), axis,
                               select(exists, g, g.number(0.0)));
}

SmallVector<Value> CummaxOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {buildExtremeGradient(b, *this, resultGrads[0])};
}

SmallVector<Value> CumminOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {buildExtremeGradient(b, *this, resultGrads[0])};
}

//===----------------------------------------------------------------------===//
// LogcumsumexpOp
//===----------------------------------------------------------------------===//

/// d(logcumsumexp x) = exp(x) * cumsum(g * exp(-y)) in the other direction, where y is the primal
/// result; the sums of positive and of negative terms are kept as logarithms, so that nothing
/// overflows.
SmallVector<Value> LogcumsumexpOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX()), y = g.with(getY());
  Term isReached = greater(y, -std::numeric_limits<double>::infinity());
  auto share = [&](const Term &part) {
    Term counts = call<LogicalAndOp>(greater(part, 0.0), isReached);
    Term size = call<LogOp>(select(counts, part, part.number(1.0)));
    Term none = size.number(-std::numeric_limits<double>::infinity());
    Term terms = select(counts, size - select(isReached, y, y.number(0.0)), none);
    Term sums = call<LogcumsumexpOp>(terms, getAxisAttr(), getExclusiveAttr(),
                                     b.getBoolAttr(!getReverse()));
    return call<ExpOp>(x + sums);
  };
  return {share(g) - share(-g)};
}
