//===- ShapeOps.cpp - The same elements in another shape ------------------===//
//
// Implements constants, sizes as tensors, and changes of shape that keep every element.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Build.h"
#include "dialects/dfg/Errors.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace tfc::dfg;

//===----------------------------------------------------------------------===//
// ConstantOp
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (!isa_and_present<DenseElementsAttr, DenseResourceElementsAttr>(adaptor.getValueAttr()))
    return emitErrorAbout(location, "constant", "expects the value of each element");
  results.push_back(cast<ElementsAttr>(adaptor.getValue()).getShapedType());
  return success();
}

LogicalResult ConstantOp::verify() {
  if (hasData(getValue()))
    return success();
  return emitOpError("expects the data of ") << getType() << " in a resource";
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

std::optional<SizeTensor> ConstantOp::evaluateSizes(SizeOperands, DictionaryAttr attributes) {
  return readSizes(Adaptor(ValueRange(), attributes).getValue());
}

//===----------------------------------------------------------------------===//
// SizeOp
//===----------------------------------------------------------------------===//

LogicalResult SizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (adaptor.getValue().getSizes().size() != 1)
    return emitErrorAbout(location, "size", "expects one size [size]");
  if (!adaptor.getDtype().isSignlessInteger(32) && !adaptor.getDtype().isSignlessInteger(64))
    return emitErrorAbout(location, "size", "returns i32 or i64, but got dtype ",
                          toText(adaptor.getDtype()), " [dtype]");
  results.push_back(RankedTensorType::get({}, adaptor.getDtype()));
  return success();
}

OpFoldResult SizeOp::fold(FoldAdaptor) {
  std::optional<int64_t> value = getValue().getExprs()[0].constant();
  unsigned width = getDtype().getIntOrFloatBitWidth();
  if (!value || !llvm::isIntN(width, *value))
    return {};
  return DenseElementsAttr::get(cast<RankedTensorType>(getType()),
                                APInt(width, uint64_t(*value), /*isSigned=*/true));
}

Numbers SizeOp::getNumbers() { return {{getValue().getExprs()[0], getDtype()}}; }

std::optional<SizeTensor> SizeOp::evaluateSizes(SizeOperands, DictionaryAttr attributes) {
  Adaptor adaptor(ValueRange(), attributes);
  return makeSize(adaptor.getDtype(), adaptor.getValue().getExprs().front());
}

/// Fails with an error if a size is negative for all values of the named sizes.
static LogicalResult checkShape(std::optional<Location> location, StringRef op,
                                ArrayRef<DimExpr> shape) {
  for (const DimExpr &size : shape)
    if (isNonNegative(size) == false)
      return emitErrorAbout(location, op, "expects sizes that are not negative, but got ",
                            size.str(), " [size]");
  return success();
}

//===----------------------------------------------------------------------===//
// BroadcastOp
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  Shape target = adaptor.getShape().getExprs();
  std::optional<Shape> joined = broadcastShapes(shapeOf(type), target);
  if (failed(checkShape(location, "broadcast", target)))
    return failure();
  Type result = tensorOf(target, elementTypeOf(type));
  if (!joined || *joined != target)
    return emitErrorAbout(location, "broadcast", "cannot make ", toText(result), " from ",
                          toText(type), " [unequal-dimensions]");
  results.push_back(result);
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getX().getType() == getType() ? OpFoldResult(getX()) : OpFoldResult();
}

/// d(broadcast x) = g, summed over the broadcast axes.
SmallVector<Value> BroadcastOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {sumTo(b, resultGrads[0], shapeOf(getX().getType()))};
}

std::optional<SizeTensor> BroadcastOp::evaluateSizes(SizeOperands operands,
                                                     DictionaryAttr attributes) {
  const SizeTensor &x = *operands[0];
  auto shape = constantsOf(Adaptor(ValueRange(), attributes).getShape().getExprs());
  std::optional<int64_t> count = shape ? countSizes(*shape) : std::nullopt;
  if (!count || !x.isSingle() || x.getRank() > int64_t(shape->size()))
    return std::nullopt;
  return makeSizes(x.elementType, *shape, Shape(*count, x.values.front()));
}

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  DimExpr count = elementCount(shapeOf(type));
  Shape target = adaptor.getShape().getExprs();
  DimExpr others(1);
  int64_t open = -1;
  for (auto [i, size] : llvm::enumerate(target)) {
    if (!size.isConstant(-1))
      others = others * size;
    else if (std::exchange(open, int64_t(i)) != -1)
      return emitErrorAbout(location, "reshape", "expects at most one size of -1 [reshape]");
  }
  if (open != -1 && !others.isConstant(0)) {
    target[open] = DimExpr::floorDiv(count, others);
    others = others * target[open];
  }
  if (failed(checkShape(location, "reshape", target)))
    return failure();
  if (others != count)
    return emitDetailedError(
        location, {.unproven = {{count, others}}}, quotedName(location, "reshape"),
        " expects as many elements as before, but got ", toText(type), " and [",
        llvm::join(llvm::map_range(adaptor.getShape().getExprs(),
                                   [](const DimExpr &d) { return d.str(); }),
                   ", "),
        "] [unequal-dimensions]");
  results.push_back(tensorOf(target, elementTypeOf(type)));
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType())
    return getX();
  auto type = cast<RankedTensorType>(getType());
  if (auto value = dyn_cast_or_null<DenseElementsAttr>(adaptor.getX());
      value && type.hasStaticShape())
    return value.reshape(type);
  if (auto inner = getX().getDefiningOp<ReshapeOp>()) {
    setOperand(inner.getX());
    setShapeAttr(DimsAttr::get(getContext(), shapeOf(getType())));
    return getResult();
  }
  return {};
}

/// d(reshape x) = g in the shape of x.
SmallVector<Value> ReshapeOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {reshapeTo(b, resultGrads[0], shapeOf(getX().getType()))};
}

std::optional<SizeTensor> ReshapeOp::evaluateSizes(SizeOperands operands,
                                                   DictionaryAttr attributes) {
  auto shape = constantsOf(Adaptor(ValueRange(), attributes).getShape().getExprs());
  return shape ? reshapeSizes(*operands[0], *shape) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

/// The permutation with nonnegative axes; the reversal if none is given.
static SmallVector<int64_t> permutationOf(DenseI64ArrayAttr attr, int64_t rank) {
  SmallVector<int64_t> permutation;
  if (!attr)
    return llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank)));
  for (int64_t axis : attr.asArrayRef())
    permutation.push_back(axis < 0 ? axis + rank : axis);
  return permutation;
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  Shape shape = shapeOf(type);
  SmallVector<int64_t> permutation = permutationOf(adaptor.getPermutationAttr(), shape.size());
  if (!isPermutationVector(permutation) || permutation.size() != shape.size())
    return emitErrorAbout(location, "transpose", "expects each axis of ", toText(type),
                          " once in its permutation [axis]");
  Shape result;
  for (int64_t axis : permutation)
    result.push_back(shape[axis]);
  results.push_back(tensorOf(result, elementTypeOf(type)));
  return success();
}

SmallVector<int64_t> TransposeOp::getPermutationVector() {
  return permutationOf(getPermutationAttr(), cast<RankedTensorType>(getType()).getRank());
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  return llvm::is_sorted(getPermutationVector()) ? OpFoldResult(getX()) : OpFoldResult();
}

std::optional<SizeTensor> TransposeOp::evaluateSizes(SizeOperands operands,
                                                     DictionaryAttr attributes) {
  const SizeTensor &x = *operands[0];
  Adaptor adaptor(ValueRange(), attributes);
  SmallVector<int64_t> permutation = permutationOf(adaptor.getPermutationAttr(), x.getRank());
  bool isValid = isPermutationVector(permutation) && int64_t(permutation.size()) == x.getRank();
  return isValid ? transposeSizes(x, permutation) : std::nullopt;
}

/// d(transpose x) = g, transposed by the inverse permutation.
SmallVector<Value> TransposeOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  SmallVector<int64_t> inverse = invertPermutationVector(getPermutationVector());
  return {TransposeOp::create(b, getLoc(), resultGrads[0], b.getDenseI64ArrayAttr(inverse))};
}
