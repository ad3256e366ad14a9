//===- SoftmaxOps.cpp - Softmax and its losses ----------------------------===//
//
// Implements softmax and its losses. They are operations, although they decompose into others,
// because their gradients are shorter and more accurate than those of their parts.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Formula.h"

using namespace mlir;
using namespace tfc::dfg;

LogicalResult tfc::dfg::inferSoftmax(std::optional<Location> location, StringRef op, Type operand,
                                     int64_t axis, SmallVectorImpl<Type> &results) {
  if (failed(checkDtypes(location, op, Dtypes::Float, operand)) ||
      failed(checkAxis(location, op, axis, shapeOf(operand).size(), operand)))
    return failure();
  results.push_back(operand);
  return success();
}

/// x minus the largest element along `axis`, so that no exponential overflows.
static Term shifted(const Term &x, int64_t axis) {
  OpBuilder &b = x.getBuilder();
  return x - call<MaxOp>(x, b.getDenseI64ArrayAttr({axis}), b.getBoolAttr(true));
}

/// The sum over the last axis, which is removed.
static Term sumRows(const Term &x) {
  OpBuilder &b = x.getBuilder();
  return call<SumOp>(x, b.getDenseI64ArrayAttr({-1}), b.getBoolAttr(false));
}

/// A value per row, with a last axis of size 1.
static Term asColumn(const Term &x) {
  Shape shape = x.getShape();
  shape.push_back(DimExpr(1));
  return reshape(x, shape);
}

//===----------------------------------------------------------------------===//
// SoftmaxOp, LogSoftmaxOp
//===----------------------------------------------------------------------===//

/// d(softmax x) = (g - sum(g * y)) * y, where y is the primal result.
SmallVector<Value> SoftmaxOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), y = g.with(getY());
  return {(g - sumKept(g * y, getAxis())) * y};
}

SmallVector<Value> SoftmaxOp::decompose(OpBuilder &b) {
  Term e = call<ExpOp>(shifted(Term(b, getLoc(), getX()), getAxis()));
  return {e / sumKept(e, getAxis())};
}

/// d(log_softmax x) = g - exp(y) * sum(g), where y is the primal result.
SmallVector<Value> LogSoftmaxOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]), y = g.with(getY());
  return {g - call<ExpOp>(y) * sumKept(g, getAxis())};
}

SmallVector<Value> LogSoftmaxOp::decompose(OpBuilder &b) {
  Term z = shifted(Term(b, getLoc(), getX()), getAxis());
  return {z - call<LogOp>(sumKept(call<ExpOp>(z), getAxis()))};
}

//===----------------------------------------------------------------------===//
// SoftmaxCrossEntropyOp
//===----------------------------------------------------------------------===//

static LogicalResult checkLogits(std::optional<Location> location, StringRef op, Type logits) {
  if (failed(checkDtypes(location, op, Dtypes::Float, logits)))
    return failure();
  if (shapeOf(logits).empty())
    return emitErrorAbout(location, op, "expects logits with an axis of classes, but got ",
                          toText(logits), " [rank]");
  return success();
}

LogicalResult SoftmaxCrossEntropyOp::inferReturnTypes(MLIRContext *,
                                                      std::optional<Location> location,
                                                      Adaptor adaptor,
                                                      SmallVectorImpl<Type> &results) {
  Type logits = adaptor.getLogits().getType(), probabilities = adaptor.getProbabilities().getType();
  if (failed(checkLogits(location, "softmax_cross_entropy", logits)))
    return failure();
  if (logits != probabilities)
    return emitErrorAbout(
        location, "softmax_cross_entropy", "expects operands of one type, but got ", toText(logits),
        " and ", toText(probabilities),
        elementTypeOf(logits) == elementTypeOf(probabilities) ? " [unequal-dimensions]"
                                                              : " [dtype]");
  Shape shape = shapeOf(logits);
  results.push_back(tensorOf(ArrayRef(shape).drop_back(), elementTypeOf(logits)));
  return success();
}

/// With g per row: d/dlogits = g * (softmax(logits) * sum(p) - p), d/dp = -g * log_softmax(logits).
SmallVector<Value> SoftmaxCrossEntropyOp::buildOperandGradients(OpBuilder &b,
                                                                ValueRange resultGrads) {
  Term g = asColumn(Term(b, getLoc(), resultGrads[0]));
  Term logits = g.with(getLogits()), p = g.with(getProbabilities());
  IntegerAttr last = b.getI64IntegerAttr(-1);
  Term expected = call<SoftmaxOp>(logits, last) * sumKept(p, -1);
  return {g * (expected - p), -(g * call<LogSoftmaxOp>(logits, last))};
}

SmallVector<Value> SoftmaxCrossEntropyOp::decompose(OpBuilder &b) {
  Term p(b, getLoc(), getProbabilities()), zero = p.number(0.0);
  Term logY = call<LogSoftmaxOp>(p.with(getLogits()), b.getI64IntegerAttr(-1));
  return {-sumRows(select(call<EqualOp>(p, zero), zero, p * logY))};
}

//===----------------------------------------------------------------------===//
// SparseSoftmaxCrossEntropyOp
//===----------------------------------------------------------------------===//

LogicalResult SparseSoftmaxCrossEntropyOp::inferReturnTypes(MLIRContext *,
                                                            std::optional<Location> location,
                                                            Adaptor adaptor,
                                                            SmallVectorImpl<Type> &results) {
  StringRef name = "sparse_softmax_cross_entropy";
  Type logits = adaptor.getLogits().getType(), label = adaptor.getLabel().getType();
  if (failed(checkLogits(location, name, logits)) || failed(checkIndices(location, name, label)))
    return failure();
  Shape shape = shapeOf(logits);
  if (ArrayRef(shape).drop_back() != ArrayRef<DimExpr>(shapeOf(label)))
    return emitErrorAbout(location, name, "expects one label per row, but got ", toText(logits),
                          " and ", toText(label), " [unequal-dimensions]");
  results.push_back(tensorOf(shapeOf(label), elementTypeOf(logits)));
  return success();
}

/// With g per row: d/dlogits = g * (softmax(logits) - one_hot(label)).
SmallVector<Value> SparseSoftmaxCrossEntropyOp::buildOperandGradients(OpBuilder &b,
                                                                      ValueRange resultGrads) {
  Term g = asColumn(Term(b, getLoc(), resultGrads[0]));
  auto depth = DimsAttr::get(b.getContext(), {shapeOf(getLogits().getType()).back()});
  Term hot = call<OneHotOp>(g.with(getLabel()), depth, b.getF64FloatAttr(1.0),
                            b.getF64FloatAttr(0.0), TypeAttr::get(g.getDtype()));
  return {g * (call<SoftmaxOp>(g.with(getLogits()), b.getI64IntegerAttr(-1)) - hot), Value()};
}

/// log(sum(exp(z))) - z[label] with z = logits - max(logits); the label is picked by a masked sum,
/// which reads the row once more but needs no data-dependent address.
SmallVector<Value> SparseSoftmaxCrossEntropyOp::decompose(OpBuilder &b) {
  Term z = shifted(Term(b, getLoc(), getLogits()), -1);
  Term label = asColumn(z.with(getLabel()));
  auto classes = DimsAttr::get(b.getContext(), {z.getShape().back()});
  if (positionType(b, z.getShape().back()).isInteger(64))
    label = call<CastOp>(label, b.getI64Type());
  Term iota = z.with(IotaOp::create(b, getLoc(), classes, TypeAttr::get(label.getDtype())));
  Term picked = sumRows(select(call<EqualOp>(label, iota), z, z.number(0.0)));
  // The sum keeps its axis, as that of the gradient's softmax does, so that they are one.
  Term total = reshape(sumKept(call<ExpOp>(z), -1), picked.getShape());
  return {call<LogOp>(total) - picked};
}

std::optional<DataCheck> SparseSoftmaxCrossEntropyOp::buildCheck(OpBuilder &b) {
  Shape logits = shapeOf(getLogits().getType());
  IndexRange range = {getLabel(), int64_t(logits.size()) - 1, logits.back()};
  return buildIndexCheck(b, getLoc(), range, "label", getLogits().getType());
}
