//===- Build.cpp - Small expressions for gradients and passes -------------===//
//
// Builds constants, broadcasts and the sums that undo them, for gradients, decompositions and
// passes. It creates only `dfg` operations.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Build.h"

using namespace mlir;

namespace tfc::dfg {

static DenseElementsAttr splat(Type elementType, double value) {
  auto type = RankedTensorType::get({}, elementType);
  if (auto floatType = dyn_cast<FloatType>(elementType)) {
    APFloat number(value);
    bool losesInfo;
    number.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return DenseElementsAttr::get(type, number);
  }
  APInt number(elementType.getIntOrFloatBitWidth(), uint64_t(int64_t(value)), /*isSigned=*/true,
               /*implicitTrunc=*/true);
  return DenseElementsAttr::get(type, number);
}

Value scalar(OpBuilder &b, Location loc, Type elementType, double value) {
  return ConstantOp::create(b, loc, splat(elementType, value));
}

Value scalarLike(OpBuilder &b, Value like, double value) {
  return scalar(b, like.getLoc(), elementTypeOf(like.getType()), value);
}

Value filled(OpBuilder &b, Location loc, RankedTensorType type, double value) {
  return broadcastTo(b, scalar(b, loc, type.getElementType(), value), shapeOf(type));
}

Value sizeAs(OpBuilder &b, Location loc, const DimExpr &expr, Type elementType) {
  Type type = elementType.isSignlessInteger(32) ? elementType : b.getI64Type();
  Value size = SizeOp::create(b, loc, DimsAttr::get(b.getContext(), {expr}), type);
  return type == elementType ? size : CastOp::create(b, loc, size, elementType).getY();
}

Value reshapeTo(OpBuilder &b, Value value, ArrayRef<DimExpr> shape) {
  if (ArrayRef<DimExpr>(shapeOf(value.getType())) == shape)
    return value;
  return ReshapeOp::create(b, value.getLoc(), value, DimsAttr::get(b.getContext(), shape));
}

Value broadcastTo(OpBuilder &b, Value value, ArrayRef<DimExpr> shape) {
  if (ArrayRef<DimExpr>(shapeOf(value.getType())) == shape)
    return value;
  return BroadcastOp::create(b, value.getLoc(), value, DimsAttr::get(b.getContext(), shape));
}

Value sumTo(OpBuilder &b, Value value, ArrayRef<DimExpr> shape) {
  Shape from = shapeOf(value.getType());
  if (ArrayRef<DimExpr>(from) == shape)
    return value;
  SmallVector<int64_t> axes;
  int64_t missing = from.size() - shape.size();
  for (int64_t i = 0; i < int64_t(from.size()); ++i)
    if (i < missing || from[i] != shape[i - missing])
      axes.push_back(i);
  Value sum =
      SumOp::create(b, value.getLoc(), value, b.getDenseI64ArrayAttr(axes), b.getBoolAttr(false));
  return reshapeTo(b, sum, shape);
}

SmallVector<DimExpr> keptShape(ArrayRef<DimExpr> shape, ArrayRef<int64_t> axes) {
  SmallVector<DimExpr> kept(shape);
  for (int64_t axis : axes)
    kept[axis] = DimExpr(1);
  return kept;
}

Type positionType(OpBuilder &b, const DimExpr &size) {
  std::optional<int64_t> count = size.constant();
  return count && *count <= INT32_MAX ? b.getI32Type() : b.getI64Type();
}

} // namespace tfc::dfg
