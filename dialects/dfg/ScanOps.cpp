//===- ScanOps.cpp - Reductions that keep every step ----------------------===//

#include "dialects/dfg/Formula.h"

using namespace mlir;
using namespace tfc::dfg;

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

/// d(cumprod x) = cumsum(g * y) in the other direction / x, where y is the primal result.
SmallVector<Value> CumprodOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), x = g.with(getX()), y = g.with(getY());
  Term sums = call<CumsumOp>(g * y, getAxisAttr(), getExclusiveAttr(), b.getBoolAttr(!getReverse()));
  return {sums / x};
}
