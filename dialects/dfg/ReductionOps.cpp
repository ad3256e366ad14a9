//===- ReductionOps.cpp - Fewer elements out than in ----------------------===//

#include "dialects/dfg/Build.h"

using namespace mlir;
using namespace tfc::dfg;

/// A value of the reduction's result type, broadcast back to the operand's shape.
static Value spread(OpBuilder &b, Value reduced, Value operand, DenseI64ArrayAttr axis) {
  Shape shape = shapeOf(operand.getType());
  Value kept = reshapeTo(b, reduced, keptShape(shape, reducedAxes(axis, shape.size())));
  return broadcastTo(b, kept, shape);
}

//===----------------------------------------------------------------------===//
// SumOp, MeanOp
//===----------------------------------------------------------------------===//

/// d(sum x) = g, broadcast.
SmallVector<Value> SumOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {spread(b, resultGrads[0], getX(), getAxisAttr())};
}

/// d(mean x) = g / count, broadcast.
SmallVector<Value> MeanOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Shape shape = shapeOf(getX().getType());
  DimExpr count(1);
  for (int64_t axis : reducedAxes(getAxisAttr(), shape.size()))
    count = count * shape[axis];
  Value size = sizeAs(b, getLoc(), count, elementTypeOf(getX().getType()));
  Value share = DivOp::create(b, getLoc(), resultGrads[0], size);
  return {spread(b, share, getX(), getAxisAttr())};
}

//===----------------------------------------------------------------------===//
// MaxOp
//===----------------------------------------------------------------------===//

/// d(max x) = g / ties where x equals the maximum, else 0.
SmallVector<Value> MaxOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Location loc = getLoc();
  Type element = elementTypeOf(getX().getType());
  Value isMax = EqualOp::create(b, loc, getX(), spread(b, getY(), getX(), getAxisAttr()));
  Value hits = CastOp::create(b, loc, isMax, element);
  Value ties = SumOp::create(b, loc, hits, getAxisAttr(), getKeepDimsAttr());
  Value share = DivOp::create(b, loc, resultGrads[0], ties);
  return {MulOp::create(b, loc, hits, spread(b, share, getX(), getAxisAttr()))};
}
