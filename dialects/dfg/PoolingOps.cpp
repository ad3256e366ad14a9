//===- PoolingOps.cpp - Reductions of windows -----------------------------===//
//
// Implements pooling, including partial windows and the positions of largest elements, and local
// response normalization. Windows.cpp has the geometry that convolutions share.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/PoolingOps.h"
#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Formula.h"
#include "dialects/dfg/Windows.h"

using namespace mlir;
using namespace tfc::dfg;

#define GET_OP_CLASSES
#include "dialects/dfg/PoolingOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Shared by pooling
//===----------------------------------------------------------------------===//

/// Adds a last, partial window, which starts before the padding at the end.
static void roundUp(Windows &windows) {
  for (size_t axis = 0; axis < windows.rank(); ++axis) {
    DimExpr stride = windows.stride[axis], first = windows.low[axis] + windows.sizes[axis];
    DimExpr steps = DimExpr::floorDiv(windows.room[axis] + stride - 1, stride);
    if (isNonNegative(first - windows.room[axis] - stride) != true)
      steps = DimExpr::min(steps, DimExpr::floorDiv(first - 1, stride));
    DimExpr beyond = steps * stride - windows.room[axis];
    windows.count[axis] = steps + 1;
    windows.high[axis] = windows.high[axis] + DimExpr::max(beyond, DimExpr(0));
  }
}

/// The windows of a pooling operation, or an error. Includes those that `ceil` adds only if
/// `reachesOver`.
template <typename Adaptor>
static FailureOr<Windows> readPooling(std::optional<Location> location, StringRef name,
                                      Dtypes dtypes, Adaptor op, bool reachesOver) {
  Type type = op.getX().getType();
  Shape shape = shapeOf(type);
  if (failed(checkDtypes(location, name, dtypes, type)))
    return failure();
  if (shape.size() < 3)
    return emitErrorAbout(location, name, "expects a tensor of rank 3 or more, but got ",
                          toText(type), " [rank]");
  ArrayRef<DimExpr> sizes = innerSizes(shape);
  FailureOr<SmallVector<int64_t>> size =
      readPerAxis(location, name, "size", op.getSize(), 1, 1, sizes.size());
  if (failed(size))
    return failure();
  WindowOptions options = WindowOptions::of(name, op);
  if (!options.stride)
    options.stride = ArrayRef<int64_t>(*size);
  Shape taps(size->begin(), size->end());
  FailureOr<Windows> windows = readWindows(location, options, sizes, taps);
  if (failed(windows) || failed(checkWindows(location, name, *windows, type)))
    return failure();
  // Padding "same" has a window for every element.
  if (reachesOver && options.padding != PaddingMode::Same)
    roundUp(*windows);
  return windows;
}

template <typename Adaptor>
static FailureOr<Windows> readPooling(std::optional<Location> location, StringRef name,
                                      Dtypes dtypes, Adaptor op) {
  return readPooling(location, name, dtypes, op, op.getCeil());
}

template <typename Op> static Windows windowsOf(Op op) {
  return *readPooling(std::nullopt, "", Dtypes::Any, typename Op::Adaptor(op));
}

/// Returns the type of a result, which has an element for each window and channel.
static Type pooledType(const Windows &windows, Type type, Type elementType) {
  Shape shape = shapeOf(type);
  return tensorOf(joined({shape.front()}, windows.count, {shape.back()}), elementType);
}

/// The lowest value of the type, the neutral element of the maximum.
static double lowestOf(Type elementType) {
  if (isa<FloatType>(elementType))
    return -std::numeric_limits<double>::infinity();
  if (elementType.isUnsignedInteger())
    return 0.0;
  return -std::ldexp(1.0, elementType.getIntOrFloatBitWidth() - 1);
}

/// Counts of `dtype` along axis `axis` of `rank`.
static Term countAlong(OpBuilder &b, Location loc, const DimExpr &size, Type dtype, size_t axis,
                       size_t rank) {
  Term iota(b, loc,
            IotaOp::create(b, loc, DimsAttr::get(b.getContext(), {size}), TypeAttr::get(dtype)));
  Shape shape(rank, DimExpr(1));
  shape[axis] = size;
  return reshape(iota, shape);
}

/// A size as a scalar of the dtype of `like`.
static Term sizeLike(const Term &like, const DimExpr &size) {
  return like.with(sizeAs(like.getBuilder(), like.getLoc(), size, like.getDtype()));
}

/// The position along `axis` of the element `tap` of the window `window`.
static Term placeOf(const Windows &windows, size_t axis, const Term &window, const Term &tap) {
  return window * sizeLike(window, windows.stride[axis]) +
         tap * sizeLike(tap, windows.dilation[axis]) - sizeLike(window, windows.low[axis]);
}

/// The position along `axis` of each element of each window, in the shape of windows of rank
/// `rank`.
static Term placesAlong(OpBuilder &b, Location loc, const Windows &windows, size_t axis, Type dtype,
                        size_t rank) {
  Term window = countAlong(b, loc, windows.count[axis], dtype, 1 + axis, rank);
  Term tap = countAlong(b, loc, windows.taps[axis], dtype, 1 + windows.rank() + axis, rank);
  return placeOf(windows, axis, window, tap);
}

/// Returns true if 32 bits can represent all positions along the padded axes.
static bool hasNearPlaces(const Windows &windows) {
  auto isNear = [](const DimExpr &size) { return size.constant().value_or(0) < (1 << 30); };
  return llvm::all_of(llvm::seq(windows.rank()), [&](size_t axis) {
    // Padding of unknown size is shorter than a window.
    return isNear(windows.extent(axis)) && isNear(windows.stride[axis]) &&
           isNear(windows.dilation[axis]) && isNear(windows.low[axis]) &&
           isNear(windows.high[axis]);
  });
}

static Term isWithin(const Term &place, const DimExpr &size) {
  return call<LogicalAndOp>(call<GreaterEqualOp>(place, place.number(0.0)),
                            less(place, sizeLike(place, size)));
}

/// The dtype in which f16 and bf16 are computed, else `dtype`.
static Type wideType(OpBuilder &b, Type dtype) {
  return dtype.isF64() ? dtype : Type(b.getF32Type());
}

static Term as(const Term &x, Type dtype) {
  return x.getDtype() == dtype ? x : call<CastOp>(x, TypeAttr::get(dtype));
}

//===----------------------------------------------------------------------===//
// MaxPoolOp, MaxPoolWithIndicesOp
//===----------------------------------------------------------------------===//

LogicalResult MaxPoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  FailureOr<Windows> windows = readPooling(location, "max_pool", Dtypes::Numeric, adaptor);
  if (failed(windows))
    return failure();
  Type type = adaptor.getX().getType();
  results.push_back(pooledType(*windows, type, elementTypeOf(type)));
  return success();
}

/// The largest elements of the windows of `x`.
static Term largest(const Term &taken, const Windows &windows) {
  OpBuilder &b = taken.getBuilder();
  return call<MaxOp>(taken, b.getDenseI64ArrayAttr(tapAxes(windows)), b.getBoolAttr(false));
}

static Term windowsOfElements(OpBuilder &b, Location loc, Value x, const Windows &windows) {
  return Term(b, loc, buildMaskedWindows(b, loc, x, windows, lowestOf(elementTypeOf(x.getType()))));
}

/// The gradient `g` of each window at the position `index`.
static Value buildUnpooled(const Term &g, const Term &index, const Windows &windows) {
  OpBuilder &b = g.getBuilder();
  Term placed = g.with(buildPlaced(b, g.getLoc(), g, windows, 0.0));
  Term target = g.with(buildPlaced(b, g.getLoc(), index, windows, -1.0));
  size_t rank = placed.getShape().size();
  Term own = index.number(0.0);
  for (size_t axis = 0; axis < windows.rank(); ++axis)
    own = own * sizeLike(index, windows.sizes[axis]) +
          countAlong(b, g.getLoc(), windows.sizes[axis], index.getDtype(), 1 + axis, rank);
  Term hit = select(call<EqualOp>(target, own), placed, g.number(0.0));
  return call<SumOp>(hit, b.getDenseI64ArrayAttr(tapAxes(windows)), b.getBoolAttr(false));
}

/// d(max_pool x) = g at the first largest element of each window.
SmallVector<Value> MaxPoolOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Windows windows = windowsOf(*this);
  Term g(b, getLoc(), resultGrads[0]);
  auto pooled = MaxPoolWithIndicesOp::create(
      b, getLoc(), getX(), getSizeAttr(), getStrideAttr(), getPaddingAttr(), getPadsAttr(),
      getDilationAttr(), getCeilAttr(),
      TypeAttr::get(positionType(b, elementCount(windows.sizes))));
  return {buildUnpooled(g, g.with(pooled.getIndex()), windows)};
}

SmallVector<Value> MaxPoolOp::decompose(OpBuilder &b) {
  Windows windows = windowsOf(*this);
  return {largest(windowsOfElements(b, getLoc(), getX(), windows), windows)};
}

std::optional<DataCheck> MaxPoolOp::buildCheck(OpBuilder &b) {
  return buildWindowsCheck(b, *this, windowsOf(*this), getX().getType());
}

Failure MaxPoolOp::getCheckStatus() { return Failure::InvalidArgument; }

LogicalResult MaxPoolWithIndicesOp::inferReturnTypes(MLIRContext *context,
                                                     std::optional<Location> location,
                                                     Adaptor adaptor,
                                                     SmallVectorImpl<Type> &results) {
  StringRef name = "max_pool_with_indices";
  FailureOr<Windows> windows = readPooling(location, name, Dtypes::Numeric, adaptor);
  if (failed(windows))
    return failure();
  Type type = adaptor.getX().getType();
  Type index = adaptor.getDtype().value_or(IntegerType::get(context, 32));
  if (!index.isSignlessInteger(32) && !index.isSignlessInteger(64))
    return emitErrorAbout(location, name, "returns i32 or i64, but got dtype ", toText(index),
                          " [dtype]");
  results.push_back(pooledType(*windows, type, elementTypeOf(type)));
  results.push_back(pooledType(*windows, type, index));
  return success();
}

/// d(max_pool_with_indices x) = g at the positions that it returns.
SmallVector<Value> MaxPoolWithIndicesOp::buildOperandGradients(OpBuilder &b,
                                                               ValueRange resultGrads) {
  if (!resultGrads[0])
    return {Value()};
  Term g(b, getLoc(), resultGrads[0]);
  return {buildUnpooled(g, g.with(getIndex()), windowsOf(*this))};
}

/// The position of the first element of each window, -1 in windows of only padding.
static Term firstInside(OpBuilder &b, Location loc, const Windows &windows, Type placeType,
                        Type dtype) {
  Term position(b, loc, scalar(b, loc, dtype, 0.0));
  std::optional<Term> isAny;
  for (size_t axis = 0; axis < windows.rank(); ++axis) {
    Term place = placesAlong(b, loc, windows, axis, placeType, 2 + 2 * windows.rank());
    Term size = sizeLike(place, windows.sizes[axis]);
    Term first = call<MinOp>(select(isWithin(place, windows.sizes[axis]), place, size),
                             b.getDenseI64ArrayAttr(tapAxes(windows)), b.getBoolAttr(false));
    position = position * sizeLike(position, windows.sizes[axis]) + as(first, dtype);
    Term isHere = less(first, size);
    isAny = isAny ? call<LogicalAndOp>(*isAny, isHere) : isHere;
  }
  return select(*isAny, position, position.number(-1.0));
}

/// The index is that of the first largest element of the window, or of its first NaN. Padding has
/// no position: it is the smallest number, which no element exceeds if it is the largest.
SmallVector<Value> MaxPoolWithIndicesOp::decompose(OpBuilder &b) {
  Windows windows = windowsOf(*this);
  Location loc = getLoc();
  Type dtype = elementTypeOf(getIndex().getType());
  Type placeType = hasNearPlaces(windows) ? dtype : Type(b.getI64Type());
  Term taken = windowsOfElements(b, loc, getX(), windows);
  auto largest = MaxWithIndexOp::create(b, loc, taken, b.getDenseI64ArrayAttr(tapAxes(windows)),
                                        TypeAttr::get(dtype));
  Term y = taken.with(largest.getY()), tap = taken.with(largest.getIndex());
  SmallVector<Term> taps;
  for (const DimExpr &count : llvm::reverse(ArrayRef(windows.taps).drop_front())) {
    Term outer = call<FloordivOp>(tap, sizeLike(tap, count));
    taps.push_back(tap - outer * sizeLike(tap, count));
    tap = outer;
  }
  taps.push_back(tap);
  Term position = tap.number(0.0);
  for (size_t axis = 0; axis < windows.rank(); ++axis) {
    Term window = countAlong(b, loc, windows.count[axis], placeType, 1 + axis, 2 + windows.rank());
    Term place = placeOf(windows, axis, window, as(taps.pop_back_val(), placeType));
    position = position * sizeLike(position, windows.sizes[axis]) + as(place, dtype);
  }
  if (windows.isPadded())
    position = select(call<EqualOp>(y, y.number(lowestOf(y.getDtype()))),
                      firstInside(b, loc, windows, placeType, dtype), position);
  return {y, position};
}

Numbers MaxPoolWithIndicesOp::getNumbers() {
  Shape shape = shapeOf(getX().getType());
  return {{elementCount(innerSizes(shape)), elementTypeOf(getIndex().getType())}};
}

std::optional<DataCheck> MaxPoolWithIndicesOp::buildCheck(OpBuilder &b) {
  return buildWindowsCheck(b, *this, windowsOf(*this), getX().getType());
}

Failure MaxPoolWithIndicesOp::getCheckStatus() { return Failure::InvalidArgument; }

//===----------------------------------------------------------------------===//
// AvgPoolOp
//===----------------------------------------------------------------------===//

LogicalResult AvgPoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  FailureOr<Windows> windows = readPooling(location, "avg_pool", Dtypes::Float, adaptor);
  if (failed(windows))
    return failure();
  Type type = adaptor.getX().getType();
  results.push_back(pooledType(*windows, type, elementTypeOf(type)));
  return success();
}

/// Returns how many elements each window averages, in the shape [1, windows.., 1] or as a scalar,
/// of `dtype`.
static Term buildCounts(OpBuilder &b, AvgPoolOp op, const Windows &windows, Type dtype) {
  Location loc = op.getLoc();
  bool countsPadding = op.getCountPadding();
  Windows whole = *readPooling(std::nullopt, "", Dtypes::Any, AvgPoolOp::Adaptor(op), false);
  if (countsPadding ? windows.high == whole.high : !windows.isPadded())
    return Term(b, loc, sizeAs(b, loc, elementCount(windows.taps), dtype));
  size_t rank = 2 + 2 * windows.rank();
  bool areNear = hasNearPlaces(windows);
  Term counts(b, loc, scalar(b, loc, dtype, 1.0));
  for (size_t axis = 0; axis < windows.rank(); ++axis) {
    Type type = areNear ? positionType(b, windows.padded(axis)) : Type(b.getI64Type());
    Term place = placesAlong(b, loc, windows, axis, type, rank);
    if (countsPadding)
      place = place + sizeLike(place, windows.low[axis]);
    DimExpr end = countsPadding ? whole.padded(axis) : windows.sizes[axis];
    Term isInside = call<CastOp>(isWithin(place, end), dtype);
    Term count = call<SumOp>(isInside, b.getDenseI64ArrayAttr({int64_t(1 + windows.rank() + axis)}),
                             b.getBoolAttr(true));
    Shape shape(2 + windows.rank(), DimExpr(1));
    shape[1 + axis] = windows.count[axis];
    counts = counts * reshape(count, shape);
  }
  return counts;
}

/// d(avg_pool x) = g / count at all elements of each window, summed over windows.
SmallVector<Value> AvgPoolOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Windows windows = windowsOf(*this);
  Term g(b, getLoc(), resultGrads[0]);
  Term share = g / buildCounts(b, *this, windows, g.getDtype());
  Term placed = g.with(buildPlaced(b, getLoc(), share, windows, 0.0));
  return {call<SumOp>(placed, b.getDenseI64ArrayAttr(tapAxes(windows)), b.getBoolAttr(false))};
}

SmallVector<Value> AvgPoolOp::decompose(OpBuilder &b) {
  Windows windows = windowsOf(*this);
  Type dtype = elementTypeOf(getType()), wide = wideType(b, dtype);
  Term x = as(Term(b, getLoc(), getX()), wide);
  Term taken = x.with(buildMaskedWindows(b, getLoc(), x, windows, 0.0));
  Term sum = call<SumOp>(taken, b.getDenseI64ArrayAttr(tapAxes(windows)), b.getBoolAttr(false));
  return {as(sum / buildCounts(b, *this, windows, wide), dtype)};
}

std::optional<DataCheck> AvgPoolOp::buildCheck(OpBuilder &b) {
  return buildWindowsCheck(b, *this, windowsOf(*this), getX().getType());
}

Failure AvgPoolOp::getCheckStatus() { return Failure::InvalidArgument; }

//===----------------------------------------------------------------------===//
// LocalResponseNormOp
//===----------------------------------------------------------------------===//

LogicalResult LocalResponseNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                    Adaptor adaptor,
                                                    SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  if (failed(checkDtypes(location, "local_response_norm", Dtypes::Float, type)))
    return failure();
  if (shapeOf(type).empty())
    return emitErrorAbout(location, "local_response_norm",
                          "expects a tensor with an axis of channels, but "
                          "got ",
                          toText(type), " [rank]");
  if (int64_t radius = adaptor.getRadius(); radius < 0)
    return emitErrorAbout(location, "local_response_norm",
                          "expects a radius of at least 0, but "
                          "got ",
                          radius, " [window]");
  results.push_back(type);
  return success();
}

/// Radii up to this one are used even if there may be fewer channels.
static constexpr int64_t kUsualRadius = 1 << 10;

/// For each channel of `x`, the sum of the channels at a distance of at most `within`. The axis of
/// a window's channels comes first, so that adjacent sums are in adjacent lanes.
static Term sumOfNeighbours(const Term &x, int64_t within) {
  OpBuilder &b = x.getBuilder();
  Shape shape = x.getShape();
  DimExpr channels = shape.back(), radius = within;
  if (within > kUsualRadius)
    radius = DimExpr::min(radius, DimExpr::max(channels - 1, 0));
  Windows windows;
  windows.sizes = windows.count = {channels};
  windows.taps = {radius * 2 + 1};
  windows.low = windows.high = {radius};
  windows.stride = windows.dilation = {1};
  Term rows = reshape(x, {elementCount(ArrayRef(shape).drop_back()), channels});
  Term taken = x.with(buildWindows(b, x.getLoc(), rows, windows, 0.0));
  Term turned = call<TransposeOp>(taken, b.getDenseI64ArrayAttr({2, 0, 1}));
  Term sum = call<SumOp>(turned, b.getDenseI64ArrayAttr({0}), b.getBoolAttr(false));
  return reshape(sum, shape);
}

/// The base of the power that divides.
static Term buildNorm(LocalResponseNormOp op, const Term &x) {
  Term squares = sumOfNeighbours(call<SquareOp>(x), op.getRadius());
  return squares * op.getAlpha().convertToDouble() + op.getBias().convertToDouble();
}

/// With d = bias + alpha sum(x ** 2): d(x d ** -beta) = g d ** -beta - 2 alpha beta x sum(g x d **
/// (-beta - 1)), because neighborhood is symmetric.
SmallVector<Value> LocalResponseNormOp::buildOperandGradients(OpBuilder &b,
                                                              ValueRange resultGrads) {
  Type dtype = elementTypeOf(getType()), wide = wideType(b, dtype);
  Term g = as(Term(b, getLoc(), resultGrads[0]), wide), x = as(g.with(getX()), wide);
  double alpha = getAlpha().convertToDouble(), beta = getBeta().convertToDouble();
  Term norm = buildNorm(*this, x);
  Term own = g * call<PowOp>(norm, norm.number(-beta));
  Term others = sumOfNeighbours(g * x * call<PowOp>(norm, norm.number(-beta - 1)), getRadius());
  return {as(own - x * others * (2 * alpha * beta), dtype)};
}

SmallVector<Value> LocalResponseNormOp::decompose(OpBuilder &b) {
  Type dtype = elementTypeOf(getType());
  Term x = as(Term(b, getLoc(), getX()), wideType(b, dtype)), norm = buildNorm(*this, x);
  return {as(x * call<PowOp>(norm, norm.number(-getBeta().convertToDouble())), dtype)};
}
