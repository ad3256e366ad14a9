//===- SortOps.cpp - Sorting ----------------------------------------------===//
//
// Implements sorting and the selection of the largest elements. Only positions are sorted; elements
// are gathered by them, and gradients are placed by them.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/SortOps.h"
#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Formula.h"
#include "dialects/dfg/TakeAlongAxis.h"

using namespace mlir;
using namespace tfc::dfg;

#define GET_OP_CLASSES
#include "dialects/dfg/SortOps.cpp.inc"

/// The axis, normalized to be nonnegative.
template <typename Op> static int64_t axisOf(Op op) {
  return *normalizeAxis(op.getAxis(), shapeOf(op.getX().getType()).size());
}

//===----------------------------------------------------------------------===//
// SortOp
//===----------------------------------------------------------------------===//

LogicalResult SortOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  if (failed(checkDtypes(location, "sort", Dtypes::Numeric, type)) ||
      failed(checkAxis(location, "sort", adaptor.getAxis(), shapeOf(type).size(), type)))
    return failure();
  results.push_back(type);
  return success();
}

/// The original positions of the sorted elements.
static Value orderOf(OpBuilder &b, SortOp op) {
  Shape shape = shapeOf(op.getX().getType());
  DimExpr size = shape[*normalizeAxis(op.getAxis(), shape.size())];
  return ArgTopKOp::create(b, op.getLoc(), op.getX(), DimsAttr::get(b.getContext(), {size}),
                           op.getAxisAttr(), b.getBoolAttr(op.getDescending()));
}

/// d sort(x) = g, with each element at the original position.
SmallVector<Value> SortOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {
      takeAlongAxisGradient(b, getLoc(), getX(), orderOf(b, *this), axisOf(*this), resultGrads[0])};
}

SmallVector<Value> SortOp::decompose(OpBuilder &b) {
  return {takeAlongAxis(b, getLoc(), getX(), orderOf(b, *this), axisOf(*this))};
}

//===----------------------------------------------------------------------===//
// ArgTopKOp, TopKOp
//===----------------------------------------------------------------------===//

/// The shape of the results of `op`.
static FailureOr<Shape> inferTopK(std::optional<Location> location, StringRef op, Type type,
                                  int64_t axis, DimsAttr k) {
  Shape shape = shapeOf(type);
  FailureOr<int64_t> normal = checkAxis(location, op, axis, shape.size(), type);
  if (failed(normal) || failed(checkDtypes(location, op, Dtypes::Numeric, type)))
    return failure();
  if (k.getSizes().size() != 1)
    return emitErrorAbout(location, op, "expects one size for k [size]");
  DimExpr count = k.getExprs()[0];
  if (isNonNegative(count) == false || isNonNegative(shape[*normal] - count) == false)
    return emitErrorAbout(location, op, "expects k in [0, ", shape[*normal].str(), "] of ",
                          toText(type), ", but got ", count.str(), " [size]");
  shape[*normal] = count;
  return shape;
}

/// Builds the condition that k is between 0 and the size of the axis; nothing if that is known.
static std::optional<DataCheck> buildTopKCheck(OpBuilder &b, Operation *op, Value x, int64_t axis,
                                               const DimExpr &k) {
  return buildSizeCheck(b, op, {k, sizeOfAxis(x.getType(), axis) - k},
                        "got k = " + k.str() + ", which is out of range for " +
                            toText(x.getType()));
}

LogicalResult ArgTopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  FailureOr<Shape> shape =
      inferTopK(location, "arg_top_k", adaptor.getX().getType(), adaptor.getAxis(), adaptor.getK());
  if (failed(shape))
    return failure();
  results.push_back(tensorOf(*shape, IntegerType::get(context, 32)));
  return success();
}

std::optional<DataCheck> ArgTopKOp::buildCheck(OpBuilder &b) {
  return buildTopKCheck(b, *this, getX(), getAxis(), getK().getExprs()[0]);
}

Numbers ArgTopKOp::getNumbers() {
  return {{sizeOfAxis(getX().getType(), getAxis()), elementTypeOf(getType())}};
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  FailureOr<Shape> shape = inferTopK(location, "top_k", type, adaptor.getAxis(), adaptor.getK());
  if (failed(shape))
    return failure();
  results.push_back(tensorOf(*shape, elementTypeOf(type)));
  results.push_back(tensorOf(*shape, IntegerType::get(context, 32)));
  return success();
}

/// d top_k(x) = g, with each element at the original position.
SmallVector<Value> TopKOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {takeAlongAxisGradient(b, getLoc(), getX(), getPlaces(), axisOf(*this), resultGrads[0])};
}

SmallVector<Value> TopKOp::decompose(OpBuilder &b) {
  Value places =
      ArgTopKOp::create(b, getLoc(), getX(), getKAttr(), getAxisAttr(), getLargestAttr());
  return {takeAlongAxis(b, getLoc(), getX(), places, axisOf(*this)), places};
}

std::optional<DataCheck> TopKOp::buildCheck(OpBuilder &b) {
  return buildTopKCheck(b, *this, getX(), getAxis(), getK().getExprs()[0]);
}

Numbers TopKOp::getNumbers() {
  return {{sizeOfAxis(getX().getType(), getAxis()), elementTypeOf(getPlaces().getType())}};
}
