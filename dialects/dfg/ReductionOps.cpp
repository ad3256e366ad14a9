//===- ReductionOps.cpp - Reductions over axes ----------------------------===//
//
// Implements reductions over axes and their gradients. Some of them, such as `mean` and
// `logsumexp`, decompose into others.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Formula.h"
#include "dialects/dfg/ScanOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

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

std::optional<SizeTensor> SumOp::evaluateSizes(SizeOperands operands, DictionaryAttr attributes) {
  Adaptor adaptor(ValueRange(), attributes);
  return reduceSizes(*operands[0], adaptor.getAxisAttr(), adaptor.getKeepDims(), DimExpr(0),
                     [](const DimExpr &a, const DimExpr &b) { return a + b; });
}

/// The number of elements in each mean, as a scalar of `dtype`.
static Value buildCount(OpBuilder &b, MeanOp op, Type dtype) {
  Shape shape = shapeOf(op.getX().getType());
  DimExpr count(1);
  for (int64_t axis : reducedAxes(op.getAxisAttr(), shape.size()))
    count = count * shape[axis];
  return sizeAs(b, op.getLoc(), count, dtype);
}

/// d(mean x) = g / count, broadcast.
SmallVector<Value> MeanOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term g(b, getLoc(), resultGrads[0]);
  Term share = g / g.with(buildCount(b, *this, g.getDtype()));
  return {spread(b, share, getX(), getAxisAttr())};
}

SmallVector<Value> MeanOp::decompose(OpBuilder &b) {
  Term x(b, getLoc(), getX());
  Type dtype = x.getDtype(), wide = dtype.isF64() ? dtype : Type(b.getF32Type());
  if (wide != dtype)
    x = call<CastOp>(x, wide);
  Term mean = call<SumOp>(x, getAxisAttr(), getKeepDimsAttr()) / x.with(buildCount(b, *this, wide));
  return {wide == dtype ? mean : call<CastOp>(mean, dtype)};
}

//===----------------------------------------------------------------------===//
// MaxOp, MinOp
//===----------------------------------------------------------------------===//

/// g / ties where x equals the extreme `y`, else 0.
template <typename Op> static Value buildExtremeGradient(OpBuilder &b, Op op, Value grad) {
  Term g(b, op.getLoc(), grad), x = g.with(op.getX());
  Term isExtreme = call<EqualOp>(x, spread(b, op.getY(), x, op.getAxisAttr()));
  Term hits = call<CastOp>(isExtreme, g.getDtype());
  Term ties = call<SumOp>(hits, op.getAxisAttr(), op.getKeepDimsAttr());
  return hits * g.with(spread(b, g / ties, x, op.getAxisAttr()));
}

/// d(max x) = g / ties where x equals the maximum, else 0.
SmallVector<Value> MaxOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {buildExtremeGradient(b, *this, resultGrads[0])};
}

std::optional<SizeTensor> MaxOp::evaluateSizes(SizeOperands operands, DictionaryAttr attributes) {
  Adaptor adaptor(ValueRange(), attributes);
  return reduceSizes(*operands[0], adaptor.getAxisAttr(), adaptor.getKeepDims(), std::nullopt,
                     [](const DimExpr &a, const DimExpr &b) { return DimExpr::max(a, b); });
}

/// d(min x) = g / ties where x equals the minimum, else 0.
SmallVector<Value> MinOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {buildExtremeGradient(b, *this, resultGrads[0])};
}

std::optional<SizeTensor> MinOp::evaluateSizes(SizeOperands operands, DictionaryAttr attributes) {
  Adaptor adaptor(ValueRange(), attributes);
  return reduceSizes(*operands[0], adaptor.getAxisAttr(), adaptor.getKeepDims(), std::nullopt,
                     [](const DimExpr &a, const DimExpr &b) { return DimExpr::min(a, b); });
}

//===----------------------------------------------------------------------===//
// AllOp, AnyOp
//===----------------------------------------------------------------------===//

std::optional<SizeTensor> AllOp::evaluateSizes(SizeOperands operands, DictionaryAttr attributes) {
  Adaptor adaptor(ValueRange(), attributes);
  return reduceSizes(*operands[0], adaptor.getAxisAttr(), adaptor.getKeepDims(), DimExpr(1),
                     [](const DimExpr &a, const DimExpr &b) { return DimExpr::min(a, b); });
}

std::optional<SizeTensor> AnyOp::evaluateSizes(SizeOperands operands, DictionaryAttr attributes) {
  Adaptor adaptor(ValueRange(), attributes);
  return reduceSizes(*operands[0], adaptor.getAxisAttr(), adaptor.getKeepDims(), DimExpr(0),
                     [](const DimExpr &a, const DimExpr &b) { return DimExpr::max(a, b); });
}

//===----------------------------------------------------------------------===//
// ProdOp
//===----------------------------------------------------------------------===//

/// d(prod x) = g * the product of the other elements, which needs no division: those before times
/// those after it, along the reduced axes moved to the front and flattened.
SmallVector<Value> ProdOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Shape shape = shapeOf(getX().getType()), moved, rest;
  SmallVector<int64_t> permutation = reducedAxes(getAxisAttr(), shape.size());
  size_t count = permutation.size();
  for (size_t i = 0; i < shape.size(); ++i)
    if (!llvm::is_contained(ArrayRef(permutation).take_front(count), int64_t(i)))
      permutation.push_back(i);
  for (int64_t axis : permutation)
    moved.push_back(shape[axis]);
  Shape flat = {elementCount(ArrayRef(moved).take_front(count))};
  flat.append(moved.begin() + count, moved.end());

  Term x(b, getLoc(), getX());
  Term rows = reshape(call<TransposeOp>(x, b.getDenseI64ArrayAttr(permutation)), flat);
  auto scan = [&](bool reverse) {
    return call<CumprodOp>(rows, b.getI64IntegerAttr(0), b.getBoolAttr(true),
                           b.getBoolAttr(reverse));
  };
  Term others = reshape(scan(false) * scan(true), moved);
  Term back =
      call<TransposeOp>(others, b.getDenseI64ArrayAttr(invertPermutationVector(permutation)));
  return {x.with(spread(b, resultGrads[0], getX(), getAxisAttr())) * back};
}

std::optional<SizeTensor> ProdOp::evaluateSizes(SizeOperands operands, DictionaryAttr attributes) {
  Adaptor adaptor(ValueRange(), attributes);
  return reduceSizes(*operands[0], adaptor.getAxisAttr(), adaptor.getKeepDims(), DimExpr(1),
                     [](const DimExpr &a, const DimExpr &b) { return a * b; });
}

//===----------------------------------------------------------------------===//
// LogsumexpOp
//===----------------------------------------------------------------------===//

/// d(logsumexp x) = g * exp(x - y), where y is the primal result.
SmallVector<Value> LogsumexpOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Term x(b, getLoc(), getX());
  Term y = x.with(spread(b, getY(), getX(), getAxisAttr()));
  return {x.with(spread(b, resultGrads[0], getX(), getAxisAttr())) * call<ExpOp>(x - y)};
}

SmallVector<Value> LogsumexpOp::decompose(OpBuilder &b) {
  Term x(b, getLoc(), getX());
  Term largest = call<MaxOp>(x, getAxisAttr(), b.getBoolAttr(true));
  // If the largest element is infinite, subtracting it would give NaN.
  Term shift = select(call<IsFiniteOp>(largest), largest, largest.number(0.0));
  Term total = call<SumOp>(call<ExpOp>(x - shift), getAxisAttr(), b.getBoolAttr(true));
  return {reshape(call<LogOp>(total) + shift, shapeOf(getType()))};
}

//===----------------------------------------------------------------------===//
// ArgmaxOp, ArgminOp
//===----------------------------------------------------------------------===//

/// Checks the dtype of positions, i32 by default.
static FailureOr<Type> indexType(std::optional<Location> location, StringRef op,
                                 MLIRContext *context, std::optional<Type> dtype) {
  Type element = dtype.value_or(IntegerType::get(context, 32));
  if (!element.isSignlessInteger(32) && !element.isSignlessInteger(64))
    return emitErrorAbout(location, op, "returns i32 or i64, but got dtype ", toText(element),
                          " [dtype]");
  return element;
}

LogicalResult tfc::dfg::inferArgReduction(std::optional<Location> location, StringRef op,
                                          Type operand, int64_t axis, std::optional<Type> dtype,
                                          bool keepDims, SmallVectorImpl<Type> &results) {
  Shape shape = shapeOf(operand);
  FailureOr<int64_t> normal = checkAxis(location, op, axis, shape.size(), operand);
  if (failed(normal) || failed(checkDtypes(location, op, Dtypes::Numeric, operand)))
    return failure();
  FailureOr<Type> element = indexType(location, op, operand.getContext(), dtype);
  if (failed(element))
    return failure();
  if (keepDims)
    shape[*normal] = DimExpr(1);
  else
    shape.erase(shape.begin() + *normal);
  results.push_back(tensorOf(shape, *element));
  return success();
}

/// The number of elements over axes.
static DimExpr countOver(ArrayRef<DimExpr> shape, ArrayRef<int64_t> axes) {
  Shape reduced;
  for (int64_t axis : axes)
    reduced.push_back(shape[axis]);
  return elementCount(reduced);
}

/// The positions of the elements of `x` over axes, in row-major order, with axes of size 1 for the
/// others.
static Term positionsOver(const Term &x, ArrayRef<int64_t> axes, Type dtype) {
  OpBuilder &b = x.getBuilder();
  Shape shape = x.getShape();
  std::optional<Term> position;
  for (int64_t axis : axes) {
    Value iota = IotaOp::create(b, x.getLoc(), DimsAttr::get(b.getContext(), {shape[axis]}),
                                TypeAttr::get(dtype));
    Shape column(shape.size() - axis, DimExpr(1));
    column[0] = shape[axis];
    Term along = reshape(x.with(iota), column);
    Term size = x.with(sizeAs(b, x.getLoc(), shape[axis], dtype));
    position = position ? *position * size + along : along;
  }
  return position ? *position : x.with(scalar(b, x.getLoc(), dtype, 0.0));
}

/// The smallest position over axes of the extreme element, or of a NaN if there is one; `extreme`
/// has these axes with size 1.
static Term firstPosition(const Term &x, const Term &extreme, ArrayRef<int64_t> axes, Type dtype,
                          BoolAttr keepDims) {
  OpBuilder &b = x.getBuilder();
  DimExpr count = countOver(x.getShape(), axes);
  Term isHit = call<EqualOp>(x, extreme);
  if (isa<FloatType>(x.getDtype()))
    isHit = call<LogicalOrOp>(isHit, call<IsNanOp>(x));
  Term position = positionsOver(x, axes, dtype);
  Term none = x.with(sizeAs(b, x.getLoc(), count, dtype));
  Term first = call<MinOp>(select(isHit, position, none), b.getDenseI64ArrayAttr(axes), keepDims);
  // The minimum over zero elements is the largest integer.
  bool mayBeEmpty = isNonNegative(count - 1) != true;
  return mayBeEmpty ? select(less(first, none), first, first.number(0.0)) : first;
}

template <typename ExtremeOp, typename Op> static Value findExtreme(OpBuilder &b, Op op) {
  Term x(b, op.getLoc(), op.getX());
  int64_t axis = *normalizeAxis(op.getAxis(), x.getShape().size());
  Term extreme = call<ExtremeOp>(x, b.getDenseI64ArrayAttr({axis}), b.getBoolAttr(true));
  return firstPosition(x, extreme, axis, elementTypeOf(op.getType()), op.getKeepDimsAttr());
}

SmallVector<Value> ArgmaxOp::decompose(OpBuilder &b) { return {findExtreme<MaxOp>(b, *this)}; }

SmallVector<Value> ArgminOp::decompose(OpBuilder &b) { return {findExtreme<MinOp>(b, *this)}; }

//===----------------------------------------------------------------------===//
// MaxWithIndexOp
//===----------------------------------------------------------------------===//

LogicalResult MaxWithIndexOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> location, Adaptor adaptor,
                                               SmallVectorImpl<Type> &results) {
  StringRef name = "max_with_index";
  FailureOr<Type> index = indexType(location, name, context, adaptor.getDtype());
  if (failed(index) || failed(inferReduction(location, name, Dtypes::Numeric,
                                             adaptor.getX().getType(), adaptor.getAxisAttr(),
                                             /*keepDims=*/false, results)))
    return failure();
  results.push_back(tensorOf(shapeOf(results.front()), *index));
  return success();
}

SmallVector<Value> MaxWithIndexOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  if (!resultGrads[0])
    return {Value()};
  Term x(b, getLoc(), getX());
  SmallVector<int64_t> axes = reducedAxes(getAxisAttr(), x.getShape().size());
  Shape column = keptShape(x.getShape(), axes);
  Term g = reshape(x.with(resultGrads[0]), column), index = reshape(x.with(getIndex()), column);
  Term isChosen = call<EqualOp>(positionsOver(x, axes, index.getDtype()), index);
  return {select(isChosen, g, g.number(0.0))};
}

SmallVector<Value> MaxWithIndexOp::decompose(OpBuilder &b) {
  Term x(b, getLoc(), getX());
  SmallVector<int64_t> axes = reducedAxes(getAxisAttr(), x.getShape().size());
  Term y = call<MaxOp>(x, b.getDenseI64ArrayAttr(axes), b.getBoolAttr(false));
  Term extreme = reshape(y, keptShape(x.getShape(), axes));
  return {y, firstPosition(x, extreme, axes, elementTypeOf(getIndex().getType()),
                           b.getBoolAttr(false))};
}

Numbers MaxWithIndexOp::getNumbers() {
  Shape shape = shapeOf(getX().getType());
  return {{countOver(shape, reducedAxes(getAxisAttr(), shape.size())),
           elementTypeOf(getIndex().getType())}};
}
