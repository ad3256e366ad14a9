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

/// d(cumprod x) = cumsum(g * y) in the other direction / x, where y is the primal result. The first
/// 0 of a line divides nothing: it is taken for 1 instead, in the products of what follows it. The
/// elements behind it reach no product that is not 0.
SmallVector<Value> CumprodOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX()), y = g.with(getY());
  auto slopes = [&](const Term &products) {
    return call<CumsumOp>(g * products, getAxisAttr(), getExclusiveAttr(),
                          b.getBoolAttr(!getReverse()));
  };
  Term isZero = call<EqualOp>(x, x.number(0.0));
  Term zerosBefore = call<CumsumOp>(call<CastOp>(isZero, b.getI32Type()), getAxisAttr(),
                                    b.getBoolAttr(true), getReverseAttr());
  Term isFirst = call<LogicalAndOp>(isZero, call<EqualOp>(zerosBefore, zerosBefore.number(0.0)));
  Term without = call<CumprodOp>(select(isFirst, x.number(1.0), x), getAxisAttr(),
                                 getExclusiveAttr(), getReverseAttr());
  Term elsewhere = slopes(y) / select(isZero, x.number(1.0), x);
  return {select(isFirst, slopes(without), elsewhere)};
}
