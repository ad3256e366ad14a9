//===- ScanOps.cpp - Reductions that keep every step ----------------------===//

#include "dialects/dfg/ScanOps.h"
#include "dialects/dfg/Formula.h"

using namespace mlir;
using namespace tfc::dfg;

#define GET_OP_CLASSES
#include "dialects/dfg/ScanOps.cpp.inc"

LogicalResult tfc::dfg::inferScan(std::optional<Location> location, StringRef op, Type operand,
                                  int64_t axis, SmallVectorImpl<Type> &results) {
  if (failed(checkDtypes(location, op, Dtypes::Numeric, operand)) ||
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

/// What reaches the state behind element i of a scan whose states are s[i] = x[i] * s[i - 1] + ...,
/// given the gradients `g` of its results: those of the later results, each scaled by the factors
/// on the way.
template <typename Op> static Term stateGradient(Op op, const Term &x, const Term &g) {
  if (op.getExclusive())
    return recur(op, x, g, /*exclusive=*/true, /*flip=*/true);
  return g + recur(op, x, x * g, /*exclusive=*/true, /*flip=*/true);
}

/// d(cumprod x) = the product before each element * what reaches the product with it. Without a
/// division, so that it holds where elements are 0.
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
  if (failed(inferScan(location, name, factor, adaptor.getAxis(), results)))
    return failure();
  if (factor != x)
    return emitOptionalError(location, "'", name, "' expects operands of one type, but got ",
                             toText(factor), " and ", toText(x), " [type-mismatch]");
  return success();
}

/// d(factor) = the state before each element * what reaches the state behind it, d(x) = the latter.
SmallVector<Value> LinearRecurrenceOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), factor = g.with(getFactor()), x = g.with(getX());
  Term state = stateGradient(*this, factor, g);
  Term before =
      getExclusive() ? g.with(getY()) : recur(*this, factor, x, /*exclusive=*/true, /*flip=*/false);
  return {before * state, state};
}
