//===- Windows.cpp - Positions of windows on padded axes ------------------===//
//
// Computes the positions of windows from the options of the author. Convolutions, pooling and
// `windows` accept the same options, so only this file interprets them.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Windows.h"
#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Formula.h"
#include "dialects/dfg/SizeLimits.h"

using namespace mlir;

namespace tfc::dfg {

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<int64_t>> readPerAxis(std::optional<Location> location, StringRef op,
                                            StringRef name,
                                            std::optional<ArrayRef<int64_t>> numbers,
                                            int64_t otherwise, int64_t least, size_t rank) {
  if (!numbers)
    return SmallVector<int64_t>(rank, otherwise);
  for (int64_t number : *numbers)
    if (number < least)
      return emitErrorAbout(location, op, "expects ", name, " of at least ", least, ", but got ",
                            number, " [window]");
  if (numbers->size() == 1)
    return SmallVector<int64_t>(rank, numbers->front());
  if (numbers->size() == rank)
    return SmallVector<int64_t>(*numbers);
  return emitErrorAbout(location, op, "expects one ", name, " or ", rank,
                        ", one for each axis of its windows, but got ", numbers->size(),
                        " [window]");
}

/// Reads explicit padding.
static LogicalResult readPads(std::optional<Location> location, const WindowOptions &options,
                              Windows &windows) {
  size_t rank = windows.rank();
  ArrayRef<int64_t> pads = *options.pads;
  for (int64_t pad : pads)
    if (pad < 0)
      return emitErrorAbout(location, options.op, "expects pads of at least 0, but got ", pad,
                            " [window]");
  if (pads.size() != 1 && pads.size() != rank && pads.size() != 2 * rank)
    return emitErrorAbout(location, options.op, "expects one number in pads, ", rank, ", or ",
                          2 * rank, ", before and after each axis, but got ", pads.size(),
                          " [window]");
  for (size_t axis = 0; axis < rank; ++axis) {
    bool isPair = pads.size() == 2 * rank;
    windows.low.push_back(isPair ? pads[2 * axis] : pads[pads.size() == 1 ? 0 : axis]);
    windows.high.push_back(isPair ? DimExpr(pads[2 * axis + 1]) : windows.low.back());
  }
  return success();
}

/// Pads so that there is one window for each `stride` elements; an odd element of padding is added
/// at the end.
static void padSame(Windows &windows) {
  for (size_t axis = 0; axis < windows.rank(); ++axis) {
    const DimExpr &size = windows.sizes[axis];
    DimExpr stride = windows.stride[axis];
    DimExpr count = DimExpr::floorDiv(size + stride - 1, stride);
    DimExpr missing = (count - 1) * stride + windows.extent(axis) - size;
    DimExpr total = isNonNegative(missing) == true ? missing : DimExpr::max(missing, DimExpr(0));
    windows.low.push_back(DimExpr::floorDiv(total, DimExpr(2)));
    windows.high.push_back(total - windows.low.back());
    windows.count.push_back(count);
    windows.room.push_back(DimExpr(0));
  }
}

/// Pads only before an axis, so that a window ends at an element and reaches back from it.
static void padCausal(Windows &windows) {
  for (size_t axis = 0; axis < windows.rank(); ++axis)
    windows.low.push_back(windows.extent(axis) - 1);
  windows.high.assign(windows.rank(), DimExpr(0));
}

static LogicalResult readPadding(std::optional<Location> location, const WindowOptions &options,
                                 Windows &windows) {
  PaddingMode padding = options.padding.value_or(PaddingMode::Valid);
  if (padding != PaddingMode::Valid && options.pads)
    return emitErrorAbout(location, options.op, "expects either padding or pads [attribute]");
  if (options.pads)
    return readPads(location, options, windows);
  switch (padding) {
  case PaddingMode::Same:
    padSame(windows);
    break;
  case PaddingMode::Causal:
    padCausal(windows);
    break;
  case PaddingMode::Valid:
    windows.low.assign(windows.rank(), DimExpr(0));
    windows.high.assign(windows.rank(), DimExpr(0));
    break;
  }
  return success();
}

/// Replaces strides that exceed every axis, and so imply a single window, by shorter ones with
/// which positions do not overflow. Padding may make an axis longer than any tensor.
static LogicalResult limitStrides(std::optional<Location> location, const WindowOptions &options,
                                  Windows &windows) {
  bool isPadded = options.pads || options.padding == PaddingMode::Causal;
  for (int64_t &stride : windows.stride) {
    if (stride > kMaxTensorBytes && isPadded)
      return emitErrorAbout(location, options.op,
                            "expects a stride of at most 2^56 where it has pads, but got ", stride,
                            " [too-large]");
    stride = std::min(stride, kMaxTensorBytes);
  }
  return success();
}

FailureOr<Windows> readWindows(std::optional<Location> location, const WindowOptions &options,
                               ArrayRef<DimExpr> sizes, ArrayRef<DimExpr> taps) {
  Windows windows;
  windows.sizes.assign(sizes.begin(), sizes.end());
  windows.taps.assign(taps.begin(), taps.end());
  size_t rank = sizes.size();
  FailureOr<SmallVector<int64_t>> stride =
      readPerAxis(location, options.op, "stride", options.stride, 1, 1, rank);
  FailureOr<SmallVector<int64_t>> dilation =
      readPerAxis(location, options.op, "dilation", options.dilation, 1, 1, rank);
  if (failed(stride) || failed(dilation))
    return failure();
  windows.stride = *stride;
  windows.dilation = *dilation;
  if (failed(limitStrides(location, options, windows)))
    return failure();
  for (const DimExpr &size : taps)
    if (isNonNegative(size - 1) == false)
      return emitErrorAbout(location, options.op,
                            "expects windows of at least one element, but got ", size.str(),
                            " [window]");
  if (failed(readPadding(location, options, windows)))
    return failure();
  if (!windows.count.empty())
    return windows;
  for (size_t axis = 0; axis < rank; ++axis) {
    windows.room.push_back(windows.padded(axis) - windows.extent(axis));
    DimExpr steps = DimExpr::floorDiv(windows.room[axis], DimExpr(windows.stride[axis]));
    windows.count.push_back(steps + 1);
  }
  return windows;
}

LogicalResult checkWindows(std::optional<Location> location, StringRef op, const Windows &windows,
                           Type type) {
  for (size_t axis = 0; axis < windows.rank(); ++axis) {
    if (isOverflow(windows.padded(axis)))
      return emitErrorAbout(location, op, "pads axis ", axis + 1, " of ", toText(type),
                            " to more elements than 64 bits can count [too-large]");
    if (isOverflow(windows.room[axis]))
      return emitErrorAbout(location, op, "has windows that reach over more elements ",
                            "than 64 bits can count along axis ", axis + 1, " [too-large]");
  }
  for (size_t axis = 0; axis < windows.rank(); ++axis)
    if (isNonNegative(windows.room[axis]) == false)
      return emitErrorAbout(location, op, "has windows that reach over ",
                            (windows.padded(axis) - windows.room[axis]).str(),
                            " elements, but axis ", axis + 1, " of ", toText(type), " has ",
                            windows.padded(axis).str(), " with its padding [window]");
  for (size_t axis = 0; axis < windows.rank(); ++axis)
    if (isOverflow(windows.last(axis)))
      return emitErrorAbout(location, op, "has windows further apart than 64 bits can hold ",
                            "along axis ", axis + 1, " [too-large]");
  return success();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

bool Windows::isPadded() const {
  auto isZero = [](const DimExpr &size) { return size.isConstant(0); };
  return !llvm::all_of(low, isZero) || !llvm::all_of(high, isZero);
}

bool Windows::isIdentity() const {
  return llvm::all_of(taps, [](const DimExpr &size) { return size.isConstant(1); }) &&
         llvm::all_of(stride, [](int64_t step) { return step == 1; });
}

SmallVector<DimExpr> Windows::conditions() const {
  SmallVector<DimExpr> conditions;
  for (size_t axis = 0; axis < rank(); ++axis)
    for (const DimExpr &condition : {taps[axis] - 1, count[axis], room[axis]})
      if (isNonNegative(condition) != true)
        conditions.push_back(condition);
  return conditions;
}

ArrayRef<DimExpr> innerSizes(ArrayRef<DimExpr> shape) { return shape.drop_front().drop_back(); }

Shape joined(ArrayRef<DimExpr> first, ArrayRef<DimExpr> middle, ArrayRef<DimExpr> last) {
  Shape shape(first);
  shape.append(middle.begin(), middle.end());
  shape.append(last.begin(), last.end());
  return shape;
}

static DimsAttr dimsOf(OpBuilder &b, ArrayRef<DimExpr> sizes) {
  return DimsAttr::get(b.getContext(), sizes);
}

Value buildPadded(OpBuilder &b, Location loc, Value x, const Windows &windows, double value) {
  if (!windows.isPadded())
    return x;
  Shape shape = shapeOf(x.getType()), starts(shape.size(), DimExpr(0));
  for (size_t axis = 0; axis < windows.rank(); ++axis) {
    shape[axis + 1] = windows.padded(axis);
    starts[axis + 1] = windows.low[axis];
  }
  return PlaceOp::create(b, loc, x, dimsOf(b, starts), dimsOf(b, shape), DenseI64ArrayAttr(),
                         b.getF64FloatAttr(value));
}

Value buildWindows(OpBuilder &b, Location loc, Value x, const Windows &windows, double value) {
  return WindowsOp::create(b, loc, buildPadded(b, loc, x, windows, value), dimsOf(b, windows.taps),
                           b.getDenseI64ArrayAttr(windows.stride),
                           b.getDenseI64ArrayAttr(windows.dilation), dimsOf(b, windows.count),
                           DimsAttr(), b.getF64FloatAttr(0.0));
}

Value buildMaskedWindows(OpBuilder &b, Location loc, Value x, const Windows &windows,
                         double value) {
  if (!windows.isPadded())
    return buildWindows(b, loc, x, windows, value);
  return WindowsOp::create(b, loc, x, dimsOf(b, windows.taps),
                           b.getDenseI64ArrayAttr(windows.stride),
                           b.getDenseI64ArrayAttr(windows.dilation), dimsOf(b, windows.count),
                           dimsOf(b, windows.low), b.getF64FloatAttr(value));
}

SmallVector<int64_t> tapAxes(const Windows &windows) {
  return llvm::to_vector(llvm::seq<int64_t>(1 + windows.rank(), 1 + 2 * windows.rank()));
}

Value buildPlaced(OpBuilder &b, Location loc, Value x, const Windows &windows, double value) {
  Shape shape = shapeOf(x.getType());
  ArrayRef<DimExpr> outer = ArrayRef(shape).take_front(1 + windows.rank());
  ArrayRef<DimExpr> inner = ArrayRef(shape).drop_front(1 + windows.rank());
  Value column = reshapeTo(b, x, joined(outer, Shape(windows.rank(), DimExpr(1)), inner));
  Value spread = broadcastTo(b, column, joined(outer, windows.taps, inner));
  return PlaceWindowsOp::create(
      b, loc, spread, dimsOf(b, windows.sizes), b.getDenseI64ArrayAttr(windows.stride),
      b.getDenseI64ArrayAttr(windows.dilation), dimsOf(b, windows.low), b.getF64FloatAttr(value));
}

std::optional<DataCheck> buildWindowsCheck(OpBuilder &b, Operation *op, const Windows &windows,
                                           Type type) {
  return buildSizeCheck(b, op, windows.conditions(),
                        "has windows that reach outside of " + toText(type));
}

} // namespace tfc::dfg
