//===- PositionOps.cpp - Tensors made from positions ----------------------===//
//
// Implements tensors whose elements depend on their positions, and masks such as `tril`. All except
// `iota` decompose into comparisons of positions.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Formula.h"
#include "dialects/dfg/Numbers.h"
#include "dialects/dfg/SizeLimits.h"

using namespace mlir;
using namespace tfc::dfg;

/// The positions along an axis as i64, shaped to broadcast along axis `axis` of a tensor of rank
/// `rank`.
static Term positions(OpBuilder &b, Location loc, const DimExpr &size, int64_t axis, int64_t rank) {
  Value iota =
      IotaOp::create(b, loc, DimsAttr::get(b.getContext(), {size}), TypeAttr::get(b.getI64Type()));
  Shape shape(rank - axis, DimExpr(1));
  shape[0] = size;
  return Term(b, loc, reshapeTo(b, iota, shape));
}

/// Fails unless `dims` is a single size that is not negative in every call.
static LogicalResult checkSize(std::optional<Location> location, StringRef op, DimsAttr dims) {
  if (dims.getSizes().size() == 1 && isNonNegative(dims.getExprs()[0]) != false)
    return success();
  if (dims.getSizes().size() != 1)
    return emitErrorAbout(location, op, "expects one size, but got ", dims.getSizes().size(),
                          " [size]");
  return emitErrorAbout(location, op, "expects one size that is not negative [size]");
}

static Type dtypeOr(std::optional<Type> dtype, Type otherwise) { return dtype.value_or(otherwise); }

//===----------------------------------------------------------------------===//
// IotaOp
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (failed(checkSize(location, "iota", adaptor.getSize())))
    return failure();
  Type type = tensorOf(adaptor.getSize().getExprs(),
                       dtypeOr(adaptor.getDtype(), IntegerType::get(context, 32)));
  if (failed(checkDtypes(location, "iota", Dtypes::Numeric, type)))
    return failure();
  results.push_back(type);
  return success();
}

Numbers IotaOp::getNumbers() {
  Type type = elementTypeOf(getType());
  if (isa<FloatType>(type))
    return {};
  return {{getSize().getExprs()[0] - 1, type}};
}

//===----------------------------------------------------------------------===//
// OneHotOp
//===----------------------------------------------------------------------===//

LogicalResult OneHotOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type indices = adaptor.getIndices().getType();
  if (failed(checkIndices(location, "one_hot", indices)) ||
      failed(checkSize(location, "one_hot", adaptor.getDepth())))
    return failure();
  Shape shape = shapeOf(indices);
  shape.push_back(adaptor.getDepth().getExprs()[0]);
  Type element = dtypeOr(adaptor.getDtype(), Float32Type::get(context));
  for (auto [name, value] :
       {std::pair("on_value", adaptor.getOnValue()), std::pair("off_value", adaptor.getOffValue())})
    if (failed(checkElement(location, "one_hot", name, value, element)))
      return failure();
  results.push_back(tensorOf(shape, element));
  return success();
}

SmallVector<Value> OneHotOp::decompose(OpBuilder &b) {
  Shape shape = shapeOf(getIndices().getType());
  Type dtype = elementTypeOf(getType());
  shape.push_back(DimExpr(1));
  DimExpr depth = getDepth().getExprs()[0];
  Term index(b, getLoc(), reshapeTo(b, getIndices(), shape));
  // Vectors hold twice as many positions of 32 bits.
  if (!index.getDtype().isSignlessInteger(32) || !positionType(b, depth).isInteger(32))
    index = call<CastOp>(index, b.getI64Type());
  auto size = DimsAttr::get(b.getContext(), {depth});
  Term position = index.with(IotaOp::create(b, getLoc(), size, TypeAttr::get(index.getDtype())));
  Term isHot = call<EqualOp>(index, position);
  Term on = index.with(scalar(b, getLoc(), dtype, getOnValue().convertToDouble()));
  return {
      select(isHot, on, index.with(scalar(b, getLoc(), dtype, getOffValue().convertToDouble())))};
}

//===----------------------------------------------------------------------===//
// EyeOp
//===----------------------------------------------------------------------===//

LogicalResult EyeOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                      Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (failed(checkSize(location, "eye", adaptor.getSize())))
    return failure();
  DimExpr size = adaptor.getSize().getExprs()[0];
  Type type = tensorOf({size, size}, dtypeOr(adaptor.getDtype(), Float32Type::get(context)));
  if (failed(checkDtypes(location, "eye", Dtypes::Numeric, type)))
    return failure();
  results.push_back(type);
  return success();
}

SmallVector<Value> EyeOp::decompose(OpBuilder &b) {
  DimExpr size = getSize().getExprs()[0];
  Term isDiagonal =
      call<EqualOp>(positions(b, getLoc(), size, 0, 2), positions(b, getLoc(), size, 1, 2));
  return {call<CastOp>(isDiagonal, elementTypeOf(getType()))};
}

//===----------------------------------------------------------------------===//
// TrilOp, TriuOp, CausalMaskOp
//===----------------------------------------------------------------------===//

LogicalResult tfc::dfg::inferTriangle(std::optional<Location> location, StringRef op, Dtypes dtypes,
                                      Type operand, SmallVectorImpl<Type> &results) {
  if (failed(checkDtypes(location, op, dtypes, operand)))
    return failure();
  if (shapeOf(operand).size() < 2)
    return emitErrorAbout(location, op, "expects a tensor of rank 2 or more, but got ",
                          toText(operand), " [rank]");
  results.push_back(operand);
  return success();
}

/// Where column - row is at most `diagonal`, for the last two axes of `like`.
static Term isBelow(OpBuilder &b, Location loc, Value like, int64_t diagonal) {
  // No matrix is larger, and sums with a position do not overflow.
  diagonal = std::clamp<int64_t>(diagonal, -kMaxTensorBytes, kMaxTensorBytes);
  Shape shape = shapeOf(like.getType());
  Term row = positions(b, loc, shape.end()[-2], 0, 2),
       column = positions(b, loc, shape.end()[-1], 1, 2);
  return call<LessEqualOp>(column, row + double(diagonal));
}

/// d(tril x) = tril(g).
SmallVector<Value> TrilOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {TrilOp::create(b, getLoc(), resultGrads[0], getDiagonalAttr())};
}

SmallVector<Value> TrilOp::decompose(OpBuilder &b) {
  Term x(b, getLoc(), getX());
  return {select(isBelow(b, getLoc(), getX(), getDiagonal()), x, x.number(0.0))};
}

/// d(triu x) = triu(g).
SmallVector<Value> TriuOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {TriuOp::create(b, getLoc(), resultGrads[0], getDiagonalAttr())};
}

SmallVector<Value> TriuOp::decompose(OpBuilder &b) {
  Term x(b, getLoc(), getX());
  int64_t first = std::max<int64_t>(getDiagonal(), -kMaxTensorBytes);
  return {select(isBelow(b, getLoc(), getX(), first - 1), x.number(0.0), x)};
}

/// d(causal_mask x) = tril(g).
SmallVector<Value> CausalMaskOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {TrilOp::create(b, getLoc(), resultGrads[0], b.getI64IntegerAttr(0))};
}

SmallVector<Value> CausalMaskOp::decompose(OpBuilder &b) {
  Term x(b, getLoc(), getX());
  double infinity = std::numeric_limits<double>::infinity();
  return {select(isBelow(b, getLoc(), getX(), 0), x, x.number(-infinity))};
}
