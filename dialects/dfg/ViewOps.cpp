//===- ViewOps.cpp - Parts of tensors -------------------------------------===//
//
// Implements slices, padding, tiling and other copies of elements between positions that do not
// depend on the elements. JoinOps.cpp has the operations on several tensors.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Formula.h"
#include "dialects/dfg/Numbers.h"
#include "dialects/dfg/SizeLimits.h"

using namespace mlir;
using namespace tfc::dfg;

/// One number per axis from an optional list, all 1 by default.
static SmallVector<int64_t> stepsOf(std::optional<ArrayRef<int64_t>> steps, int64_t rank) {
  return steps ? SmallVector<int64_t>(*steps) : SmallVector<int64_t>(rank, 1);
}

static DimsAttr dimsAttr(OpBuilder &b, ArrayRef<DimExpr> sizes) {
  return DimsAttr::get(b.getContext(), sizes);
}

/// Fails unless a list of the attribute `name` has an entry for each axis.
static LogicalResult checkCount(std::optional<Location> location, StringRef op, StringRef name,
                                size_t count, Type type) {
  size_t rank = shapeOf(type).size();
  if (count == rank)
    return success();
  return emitErrorAbout(location, op, "expects ", rank, " ", name, ", one for each axis of ",
                        toText(type), ", but got ", count, " [rank]");
}

static LogicalResult checkSteps(std::optional<Location> location, StringRef op,
                                std::optional<ArrayRef<int64_t>> steps, Type type) {
  if (!steps)
    return success();
  if (llvm::is_contained(*steps, 0))
    return emitErrorAbout(location, op, "expects steps other than 0 [slice]");
  return checkCount(location, op, "steps", steps->size(), type);
}

static bool isZero(const DimExpr &expr) { return expr.isConstant(0); }
static bool isOne(int64_t value) { return value == 1; }

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

/// The expressions that must be at least 0 for a slice to be inside an axis of
/// size `dim`.
static SmallVector<DimExpr, 3> sliceConditions(const DimExpr &start, const DimExpr &size,
                                               int64_t step, const DimExpr &dim) {
  if (isZero(size))
    return {};
  DimExpr last = start + (size - 1) * step;
  if (step < 0)
    return {size, last, dim - 1 - start};
  return {size, start, dim - 1 - last};
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  Shape shape = shapeOf(type), starts = adaptor.getStarts().getExprs(),
        sizes = adaptor.getSizes().getExprs();
  if (failed(checkCount(location, "slice", "starts", starts.size(), type)) ||
      failed(checkCount(location, "slice", "sizes", sizes.size(), type)) ||
      failed(checkSteps(location, "slice", adaptor.getSteps(), type)))
    return failure();
  SmallVector<int64_t> steps = stepsOf(adaptor.getSteps(), shape.size());
  for (size_t i = 0; i < shape.size(); ++i)
    for (const DimExpr &condition : sliceConditions(starts[i], sizes[i], steps[i], shape[i]))
      if (isNonNegative(condition) == false)
        return emitErrorAbout(location, "slice", "takes ", sizes[i].str(), " elements from ",
                              starts[i].str(), " by ", steps[i], ", which is outside of axis ", i,
                              " of ", toText(type), " [slice]");
  results.push_back(tensorOf(sizes, elementTypeOf(type)));
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  bool isWhole = getX().getType() == getType() && llvm::all_of(getStarts().getExprs(), isZero) &&
                 llvm::all_of(stepsOf(getSteps(), 0), isOne);
  return isWhole ? OpFoldResult(getX()) : OpFoldResult();
}

/// d(slice x) = g at the positions of the slice, 0 elsewhere.
SmallVector<Value> SliceOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {PlaceOp::create(b, getLoc(), resultGrads[0], getStartsAttr(),
                          dimsAttr(b, shapeOf(getX().getType())), getStepsAttr(),
                          b.getF64FloatAttr(0.0))};
}

std::optional<SizeTensor> SliceOp::evaluateSizes(SizeOperands operands, DictionaryAttr attributes) {
  Adaptor adaptor(ValueRange(), attributes);
  auto starts = constantsOf(adaptor.getStarts().getExprs());
  auto sizes = constantsOf(adaptor.getSizes().getExprs());
  if (!starts || !sizes)
    return std::nullopt;
  return sliceSizes(*operands[0], *starts, *sizes, stepsOf(adaptor.getSteps(), starts->size()));
}

/// The sizes that are at least 0 if the slice is inside of its operand.
static SmallVector<DimExpr> conditionsOf(SliceOp op) {
  Shape shape = shapeOf(op.getX().getType()), starts = op.getStarts().getExprs(),
        sizes = op.getSizes().getExprs();
  SmallVector<int64_t> steps = stepsOf(op.getSteps(), shape.size());
  SmallVector<DimExpr> conditions;
  for (size_t i = 0; i < shape.size(); ++i)
    llvm::append_range(conditions, sliceConditions(starts[i], sizes[i], steps[i], shape[i]));
  return conditions;
}

/// Returns true for the slices that `ensure` builds: they take whole axes under other sizes, and
/// their conditions compare the sizes.
static bool isEnsure(SliceOp op) {
  Shape shape = shapeOf(op.getX().getType());
  return llvm::all_of(llvm::seq(shape.size()), [&](size_t i) {
    return op.getStarts().getExprs()[i] + shape[i] == op.getSizes().getExprs()[i];
  });
}

Failure SliceOp::getCheckStatus() {
  return isEnsure(*this) ? Failure::FailedPrecondition : Failure::OutOfRange;
}

std::optional<DataCheck> SliceOp::buildCheck(OpBuilder &b) {
  std::string x = toText(getX().getType());
  SmallVector<DimExpr> conditions = conditionsOf(*this);
  std::optional<DataCheck> check =
      isEnsure(*this)
          ? buildSizeCheck(b, *this, conditions, "expects " + toText(getType()) + ", but got " + x)
          : buildSizeCheck(b, *this, conditions, "reaches outside of " + x);
  if (check && isEnsure(*this))
    check->subject = "'ensure'";
  return check;
}

//===----------------------------------------------------------------------===//
// PlaceOp
//===----------------------------------------------------------------------===//

LogicalResult PlaceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  if (failed(
          checkCount(location, "place", "starts", adaptor.getStarts().getSizes().size(), type)) ||
      failed(checkCount(location, "place", "sizes", adaptor.getShape().getSizes().size(), type)) ||
      failed(checkSteps(location, "place", adaptor.getSteps(), type)))
    return failure();
  for (const DimExpr &size : adaptor.getShape().getExprs())
    if (isNonNegative(size) == false)
      return emitErrorAbout(location, "place", "expects sizes that are not negative, but got ",
                            size.str(), " [size]");
  if (failed(checkElement(location, "place", "value", adaptor.getValue(), elementTypeOf(type))))
    return failure();
  Shape from = shapeOf(type), starts = adaptor.getStarts().getExprs();
  SmallVector<int64_t> steps = stepsOf(adaptor.getSteps(), from.size());
  for (size_t axis = 0; axis < from.size(); ++axis)
    if (isOverflow(starts[axis] + (from[axis] - 1) * steps[axis]))
      return emitErrorAbout(location, "place", "puts elements further apart than 64 bits can hold ",
                            "along axis ", axis, " [too-large]");
  results.push_back(tensorOf(adaptor.getShape().getExprs(), elementTypeOf(type)));
  return success();
}

OpFoldResult PlaceOp::fold(FoldAdaptor) {
  bool isWhole = getX().getType() == getType() && llvm::all_of(getStarts().getExprs(), isZero) &&
                 llvm::all_of(stepsOf(getSteps(), 0), isOne);
  return isWhole ? OpFoldResult(getX()) : OpFoldResult();
}

/// d(place x) = g at the positions of x, and 0 for elements of x that lie outside, for which g is
/// padded with zeros.
SmallVector<Value> PlaceOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Shape from = shapeOf(getX().getType()), shape = shapeOf(getType());
  SmallVector<DimExpr> starts(getStarts().getExprs()), origin(shape.size(), DimExpr(0));
  SmallVector<int64_t> steps = stepsOf(getSteps(), shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    if (isZero(from[i]))
      continue;
    DimExpr last = starts[i] + (from[i] - 1) * steps[i];
    DimExpr least = steps[i] < 0 ? last : starts[i], most = steps[i] < 0 ? starts[i] : last;
    DimExpr excess = most + 1 - shape[i];
    if (isNonNegative(DimExpr(0) - excess) != true)
      shape[i] = shape[i] + DimExpr::max(0, excess);
    if (isNonNegative(least) == true)
      continue;
    origin[i] = DimExpr::max(0, DimExpr(0) - least);
    shape[i] = shape[i] + origin[i];
    starts[i] = starts[i] + origin[i];
  }
  Value g = resultGrads[0];
  if (shape != shapeOf(getType()))
    g = PlaceOp::create(b, getLoc(), g, dimsAttr(b, origin), dimsAttr(b, shape),
                        DenseI64ArrayAttr(), b.getF64FloatAttr(0.0));
  return {SliceOp::create(b, getLoc(), g, dimsAttr(b, starts), dimsAttr(b, from), getStepsAttr())};
}

//===----------------------------------------------------------------------===//
// PadOp
//===----------------------------------------------------------------------===//

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  Shape shape = shapeOf(type), low = adaptor.getLow().getExprs(),
        high = adaptor.getHigh().getExprs();
  if (failed(checkCount(location, "pad", "sizes in low", low.size(), type)) ||
      failed(checkCount(location, "pad", "sizes in high", high.size(), type)))
    return failure();
  for (size_t i = 0; i < shape.size(); ++i) {
    for (const DimExpr &size : {low[i], high[i]})
      if (isNonNegative(size) == false)
        return emitErrorAbout(location, "pad", "expects sizes that are not negative, but got ",
                              size.str(), " for axis ", i, " of ", toText(type), " [pad]");
    shape[i] = low[i] + shape[i] + high[i];
  }
  if (failed(checkElement(location, "pad", "value", adaptor.getValue(), elementTypeOf(type))))
    return failure();
  results.push_back(tensorOf(shape, elementTypeOf(type)));
  return success();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  return getX().getType() == getType() ? OpFoldResult(getX()) : OpFoldResult();
}

/// d(pad x) = g without the padding.
SmallVector<Value> PadOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {SliceOp::create(b, getLoc(), resultGrads[0], getLowAttr(),
                          dimsAttr(b, shapeOf(getX().getType())), DenseI64ArrayAttr())};
}

std::optional<DataCheck> PadOp::buildCheck(OpBuilder &b) {
  SmallVector<DimExpr> amounts(getLow().getExprs());
  llvm::append_range(amounts, getHigh().getExprs());
  return buildSizeCheck(b, *this, amounts,
                        "got a negative number of elements to add to " + toText(getX().getType()));
}

SmallVector<Value> PadOp::decompose(OpBuilder &b) {
  return {PlaceOp::create(b, getLoc(), getX(), getLowAttr(), dimsAttr(b, shapeOf(getType())),
                          DenseI64ArrayAttr(), getValueAttr())};
}

//===----------------------------------------------------------------------===//
// ReverseOp
//===----------------------------------------------------------------------===//

LogicalResult ReverseOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  for (int64_t axis : adaptor.getAxis())
    if (failed(checkAxis(location, "reverse", axis, shapeOf(type).size(), type)))
      return failure();
  results.push_back(type);
  return success();
}

OpFoldResult ReverseOp::fold(FoldAdaptor) {
  if (getAxis().empty())
    return getX();
  auto inner = getX().getDefiningOp<ReverseOp>();
  return inner && inner.getAxis() == getAxis() ? OpFoldResult(inner.getX()) : OpFoldResult();
}

/// d(reverse x) = reverse(g).
SmallVector<Value> ReverseOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {ReverseOp::create(b, getLoc(), resultGrads[0], getAxisAttr())};
}

SmallVector<Value> ReverseOp::decompose(OpBuilder &b) {
  Shape shape = shapeOf(getType());
  Shape starts(shape.size(), DimExpr(0));
  SmallVector<int64_t> steps(shape.size(), 1);
  for (int64_t axis : getAxis()) {
    int64_t normal = *normalizeAxis(axis, shape.size());
    starts[normal] = shape[normal] - 1;
    steps[normal] = -1;
  }
  for (size_t i = 0; i < shape.size(); ++i)
    if (isZero(shape[i]))
      starts[i] = DimExpr(0);
  return {SliceOp::create(b, getLoc(), getX(), dimsAttr(b, starts), dimsAttr(b, shape),
                          b.getDenseI64ArrayAttr(steps))};
}

//===----------------------------------------------------------------------===//
// ExpandOp, SqueezeOp
//===----------------------------------------------------------------------===//

LogicalResult ExpandOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  Shape shape = shapeOf(type);
  FailureOr<int64_t> axis =
      checkAxis(location, "expand", adaptor.getAxis(), shape.size() + 1, type);
  if (failed(axis))
    return failure();
  shape.insert(shape.begin() + *axis, DimExpr(1));
  results.push_back(tensorOf(shape, elementTypeOf(type)));
  return success();
}

/// d(expand x) = g in the shape of x.
SmallVector<Value> ExpandOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {reshapeTo(b, resultGrads[0], shapeOf(getX().getType()))};
}

SmallVector<Value> ExpandOp::decompose(OpBuilder &b) {
  return {reshapeTo(b, getX(), shapeOf(getType()))};
}

std::optional<SizeTensor> ExpandOp::evaluateSizes(SizeOperands operands,
                                                  DictionaryAttr attributes) {
  SmallVector<int64_t> shape = operands[0]->shape;
  auto axis = normalizeAxis(Adaptor(ValueRange(), attributes).getAxis(), shape.size() + 1);
  if (!axis)
    return std::nullopt;
  shape.insert(shape.begin() + *axis, 1);
  return reshapeSizes(*operands[0], shape);
}

LogicalResult SqueezeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  Shape shape = shapeOf(type), kept;
  llvm::SmallDenseSet<int64_t> removed;
  for (int64_t a : adaptor.getAxis().value_or(ArrayRef<int64_t>())) {
    FailureOr<int64_t> axis = checkAxis(location, "squeeze", a, shape.size(), type);
    if (failed(axis))
      return failure();
    if (!shape[*axis].isConstant(1))
      return emitErrorAbout(location, "squeeze", "expects axis ", a, " of size 1, but got ",
                            toText(type), " [unequal-dimensions]");
    removed.insert(*axis);
  }
  for (auto [i, size] : llvm::enumerate(shape))
    if (adaptor.getAxis() ? !removed.contains(i) : !size.isConstant(1))
      kept.push_back(size);
  results.push_back(tensorOf(kept, elementTypeOf(type)));
  return success();
}

/// d(squeeze x) = g in the shape of x.
SmallVector<Value> SqueezeOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {reshapeTo(b, resultGrads[0], shapeOf(getX().getType()))};
}

SmallVector<Value> SqueezeOp::decompose(OpBuilder &b) {
  return {reshapeTo(b, getX(), shapeOf(getType()))};
}

std::optional<SizeTensor> SqueezeOp::evaluateSizes(SizeOperands operands,
                                                   DictionaryAttr attributes) {
  const SizeTensor &x = *operands[0];
  DenseI64ArrayAttr axes = Adaptor(ValueRange(), attributes).getAxisAttr();
  auto isRemoved = [&](int64_t place) {
    return llvm::any_of(axes.asArrayRef(),
                        [&](int64_t axis) { return normalizeAxis(axis, x.getRank()) == place; });
  };
  SmallVector<int64_t> kept;
  for (auto [axis, size] : llvm::enumerate(x.shape))
    if (axes ? !isRemoved(axis) : size != 1)
      kept.push_back(size);
  return reshapeSizes(x, kept);
}

//===----------------------------------------------------------------------===//
// TileOp
//===----------------------------------------------------------------------===//

LogicalResult TileOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  Shape shape = shapeOf(type), repeats = adaptor.getRepeats().getExprs();
  if (failed(checkCount(location, "tile", "repeats", repeats.size(), type)))
    return failure();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (isNonNegative(repeats[i]) == false)
      return emitErrorAbout(location, "tile", "expects repeats that are not negative, but got ",
                            repeats[i].str(), " [tile]");
    shape[i] = repeats[i] * shape[i];
  }
  results.push_back(tensorOf(shape, elementTypeOf(type)));
  return success();
}

OpFoldResult TileOp::fold(FoldAdaptor) {
  return getX().getType() == getType() ? OpFoldResult(getX()) : OpFoldResult();
}

/// The shape of a tiled tensor with each axis split into copies and elements.
static Shape tiledShape(ArrayRef<DimExpr> shape, ArrayRef<DimExpr> repeats) {
  Shape split;
  for (size_t i = 0; i < shape.size(); ++i)
    split.append({repeats[i], shape[i]});
  return split;
}

/// d(tile x) = g, summed over the copies.
SmallVector<Value> TileOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Shape shape = shapeOf(getX().getType());
  if (shape.empty())
    return {resultGrads[0]};
  Value copies = reshapeTo(b, resultGrads[0], tiledShape(shape, getRepeats().getExprs()));
  SmallVector<int64_t> axes;
  for (size_t i = 0; i < shape.size(); ++i)
    axes.push_back(2 * i);
  return {SumOp::create(b, getLoc(), copies, b.getDenseI64ArrayAttr(axes), b.getBoolAttr(false))};
}

SmallVector<Value> TileOp::decompose(OpBuilder &b) {
  Shape shape = shapeOf(getX().getType());
  Value ones = reshapeTo(b, getX(), tiledShape(shape, Shape(shape.size(), DimExpr(1))));
  Value copies = broadcastTo(b, ones, tiledShape(shape, getRepeats().getExprs()));
  return {reshapeTo(b, copies, shapeOf(getType()))};
}

std::optional<SizeTensor> TileOp::evaluateSizes(SizeOperands operands, DictionaryAttr attributes) {
  const SizeTensor &x = *operands[0];
  auto repeats = constantsOf(Adaptor(ValueRange(), attributes).getRepeats().getExprs());
  if (!repeats || int64_t(repeats->size()) != x.getRank() || !countSizes(*repeats))
    return std::nullopt;
  SmallVector<int64_t> shape;
  for (auto [size, copies] : zip_equal(x.shape, *repeats))
    shape.push_back(size * copies);
  std::optional<int64_t> count = countSizes(shape);
  Shape values;
  for (int64_t i = 0; i < count.value_or(0); ++i) {
    int64_t source = 0, rest = i, stride = 1;
    for (int64_t axis = x.getRank() - 1; axis >= 0; --axis) {
      source += rest % shape[axis] % x.shape[axis] * stride;
      rest /= shape[axis];
      stride *= x.shape[axis];
    }
    values.push_back(x.values[source]);
  }
  return count ? makeSizes(x.elementType, shape, values) : std::nullopt;
}
