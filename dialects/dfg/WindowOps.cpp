//===- WindowOps.cpp - Sliding windows ------------------------------------===//
//
// Implements `windows` and `place_windows`, which is its transpose. Convolutions and pooling use
// them to become products and reductions.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/WindowOps.h"
#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Formula.h"
#include "dialects/dfg/Numbers.h"
#include "dialects/dfg/SizeLimits.h"
#include "dialects/dfg/Windows.h"

using namespace mlir;
using namespace tfc::dfg;

#define GET_OP_CLASSES
#include "dialects/dfg/WindowOps.cpp.inc"

//===----------------------------------------------------------------------===//
// WindowsOp
//===----------------------------------------------------------------------===//

/// The windows of a call, or an error.
static FailureOr<Windows> readLayout(std::optional<Location> location, WindowsOp::Adaptor adaptor) {
  Type type = adaptor.getX().getType();
  Shape shape = shapeOf(type), taps = adaptor.getSize().getExprs();
  if (taps.empty() || shape.size() < taps.size() + 1)
    return emitErrorAbout(location, "windows", "expects sizes for axes after the first of ",
                          toText(type), ", but got ", taps.size(), " [rank]");
  WindowOptions options{"windows", adaptor.getStride(), adaptor.getDilation(), std::nullopt,
                        std::nullopt};
  FailureOr<Windows> windows =
      readWindows(location, options, ArrayRef(shape).slice(1, taps.size()), taps);
  if (failed(windows))
    return failure();
  if (adaptor.getCount()) {
    windows->count = adaptor.getCount()->getExprs();
    if (windows->count.size() != taps.size())
      return emitErrorAbout(location, "windows", "expects ", taps.size(),
                            " numbers in count, one for each in size, but got ",
                            windows->count.size(), " [window]");
    for (auto [axis, count] : llvm::enumerate(windows->count)) {
      DimExpr room = windows->room[axis] - (count - 1) * windows->stride[axis];
      // Without windows, none is out of range.
      if (isNonNegative(count - 1) != true)
        room = count.isConstant(0) ? DimExpr(0) : DimExpr::max(room, DimExpr(0) - count);
      windows->room[axis] = room;
    }
  }
  if (adaptor.getLow()) {
    windows->low = adaptor.getLow()->getExprs();
    if (windows->low.size() != taps.size())
      return emitErrorAbout(location, "windows", "expects ", taps.size(),
                            " numbers in low, one for each in size, but got ", windows->low.size(),
                            " [window]");
    if (!adaptor.getCount())
      return emitErrorAbout(location, "windows", "expects count where it has low [window]");
    windows->room.assign(taps.size(), DimExpr(0));
  }
  if (failed(checkWindows(location, "windows", *windows, type)))
    return failure();
  return windows;
}

static Windows windowsOf(WindowsOp op) { return *readLayout(std::nullopt, WindowsOp::Adaptor(op)); }

LogicalResult WindowsOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  FailureOr<Windows> windows = readLayout(location, adaptor);
  if (failed(windows))
    return failure();
  Type type = adaptor.getX().getType();
  if (failed(checkElement(location, "windows", "value", adaptor.getValue(), elementTypeOf(type))))
    return failure();
  Shape shape = shapeOf(type), result{shape[0]};
  result.append(windows->count);
  result = joined(result, windows->taps, ArrayRef(shape).drop_front(1 + windows->rank()));
  results.push_back(tensorOf(result, elementTypeOf(type)));
  return success();
}

/// d(windows x) = g at the positions of its elements, summed over all windows.
SmallVector<Value> WindowsOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Windows windows = windowsOf(*this);
  Term placed(b, getLoc(),
              PlaceWindowsOp::create(b, getLoc(), resultGrads[0],
                                     DimsAttr::get(b.getContext(), windows.sizes), getStrideAttr(),
                                     getDilationAttr(), getLowAttr(), b.getF64FloatAttr(0.0)));
  return {call<SumOp>(placed, b.getDenseI64ArrayAttr(tapAxes(windows)), b.getBoolAttr(false))};
}

std::optional<DataCheck> WindowsOp::buildCheck(OpBuilder &b) {
  return buildWindowsCheck(b, *this, windowsOf(*this), getX().getType());
}

Failure WindowsOp::getCheckStatus() { return Failure::InvalidArgument; }

//===----------------------------------------------------------------------===//
// PlaceWindowsOp
//===----------------------------------------------------------------------===//

/// The windows whose elements are placed, without padding.
static Windows windowsOf(PlaceWindowsOp::Adaptor op) {
  Shape shape = shapeOf(op.getX().getType());
  Windows windows;
  windows.sizes = op.getShape().getExprs();
  size_t rank = windows.rank();
  windows.stride =
      *readPerAxis(std::nullopt, "place_windows", "stride", op.getStride(), 1, 1, rank);
  windows.dilation =
      *readPerAxis(std::nullopt, "place_windows", "dilation", op.getDilation(), 1, 1, rank);
  windows.low = op.getLow() ? op.getLow()->getExprs() : SmallVector<DimExpr>(rank, DimExpr(0));
  windows.count.assign(shape.begin() + 1, shape.begin() + 1 + rank);
  windows.taps.assign(shape.begin() + 1 + rank, shape.begin() + 1 + 2 * rank);
  return windows;
}

LogicalResult PlaceWindowsOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                               Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  Shape shape = shapeOf(type), sizes = adaptor.getShape().getExprs();
  size_t rank = sizes.size();
  if (rank == 0 || shape.size() < 2 * rank + 1)
    return emitErrorAbout(location, "place_windows", "expects two axes after the first of ",
                          toText(type), " for each size in shape, but got ", rank, " [rank]");
  for (const DimExpr &size : sizes)
    if (isNonNegative(size) == false)
      return emitErrorAbout(location, "place_windows",
                            "expects sizes that are not negative, but got ", size.str(), " [size]");
  if (adaptor.getLow() && adaptor.getLow()->getSizes().size() != rank)
    return emitErrorAbout(location, "place_windows", "expects ", rank,
                          " numbers in low, one for each in shape, but got ",
                          adaptor.getLow()->getSizes().size(), " [window]");
  for (auto [name, numbers] :
       {std::pair("stride", adaptor.getStride()), std::pair("dilation", adaptor.getDilation())})
    if (failed(readPerAxis(location, "place_windows", name, numbers, 1, 1, rank)))
      return failure();
  if (failed(checkElement(location, "place_windows", "value", adaptor.getValue(),
                          elementTypeOf(type))))
    return failure();
  Windows windows = windowsOf(adaptor);
  for (size_t axis = 0; axis < rank; ++axis)
    if (isOverflow(windows.last(axis)))
      return emitErrorAbout(location, "place_windows", "has windows further apart than 64 bits ",
                            "can hold along axis ", axis + 1, " [too-large]");
  Shape result = joined(ArrayRef(shape).take_front(1), sizes, ArrayRef(shape).drop_front(1 + rank));
  results.push_back(tensorOf(result, elementTypeOf(type)));
  return success();
}

/// Counts along axis `axis` of `rank`.
static Term countAlong(OpBuilder &b, Location loc, const DimExpr &size, size_t axis, size_t rank) {
  Term iota(b, loc,
            IotaOp::create(b, loc, DimsAttr::get(b.getContext(), {size}),
                           TypeAttr::get(positionType(b, size))));
  Shape shape(rank, DimExpr(1));
  shape[axis] = size;
  return reshape(iota, shape);
}

/// d(place_windows x) = g at the positions of x: g has an axis for each tap, and each window of g
/// reads only the element of its own tap.
SmallVector<Value> PlaceWindowsOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Location loc = getLoc();
  Windows windows = windowsOf(Adaptor(*this));
  Shape sizes = windows.sizes;
  size_t rank = sizes.size();
  for (size_t i = 0; i < rank; ++i)
    windows.high.push_back((windows.count[i] - 1) * windows.stride[i] + windows.extent(i) -
                           windows.low[i] - sizes[i]);
  Term taken(b, loc, buildWindows(b, loc, resultGrads[0], windows, 0.0));
  size_t total = taken.getShape().size();
  for (size_t i = 0; i < rank; ++i) {
    Term tap = countAlong(b, loc, windows.taps[i], 1 + rank + i, total);
    Term own = countAlong(b, loc, windows.taps[i], 1 + 2 * rank + i, total);
    taken = select(call<EqualOp>(tap, own), taken, taken.number(0.0));
  }
  return {call<SumOp>(taken, b.getDenseI64ArrayAttr(tapAxes(windows)), b.getBoolAttr(false))};
}
