//===- ConvolutionOps.cpp - Sums of products over windows -----------------===//
//
// Implements the convolutions, and `contract`, into which they decompose. The three convolutions
// are in one file because the gradients of each are the other two.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/ConvolutionOps.h"
#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Formula.h"
#include "dialects/dfg/Labels.h"
#include "dialects/dfg/Windows.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc::dfg;

#define GET_OP_CLASSES
#include "dialects/dfg/ConvolutionOps.cpp.inc"

//===----------------------------------------------------------------------===//
// ContractOp
//===----------------------------------------------------------------------===//

/// Fails unless both operands have the same numeric dtype.
static LogicalResult checkPair(std::optional<Location> location, StringRef op, Type lhs, Type rhs) {
  if (failed(checkDtypes(location, op, Dtypes::Numeric, lhs)))
    return failure();
  if (elementTypeOf(lhs) == elementTypeOf(rhs))
    return success();
  return emitErrorAbout(location, op, "expects operands of one dtype, but got ", toText(lhs),
                        " and ", toText(rhs), " [dtype]");
}

LogicalResult ContractOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type lhs = adaptor.getLhs().getType(), rhs = adaptor.getRhs().getType();
  Einsum einsum;
  if (failed(checkPair(location, "contract", lhs, rhs)) ||
      failed(readEinsum(location, "contract", adaptor.getLabels(), TypeRange({lhs, rhs}),
                        /*takesDiagonals=*/false, einsum)))
    return failure();
  Shape shape;
  for (const std::string &name : einsum.output)
    shape.push_back(einsum.sizes.lookup(name));
  results.push_back(tensorOf(shape, elementTypeOf(lhs)));
  return success();
}

/// d contract("a, b -> y", A, B) = contract("y, b -> a", g, B), contract("y, a -> b", g, A).
SmallVector<Value> ContractOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  LabelPattern pattern;
  (void)pattern.parse(getLabels());
  auto gradient = [&](unsigned of, Value other) -> Value {
    std::string labels = toText(pattern.output) + ", " + toText(pattern.inputs[1 - of]) + " -> " +
                         toText(pattern.inputs[of]);
    return ContractOp::create(b, getLoc(), resultGrads[0], other, b.getStringAttr(labels));
  };
  return {gradient(0, getRhs()), gradient(1, getLhs())};
}

//===----------------------------------------------------------------------===//
// Shapes of convolutions
//===----------------------------------------------------------------------===//

namespace {
/// The three tensors that a convolution relates; any of them may be the result: images [n, sizes..,
/// channels], kernel [taps.., channels / groups, features], outputs [n, windows.., features].
struct Convolution {
  Windows windows;
  DimExpr batch, channels, features;
  int64_t groups = 1;

  DimExpr channelsOfGroup() const { return DimExpr::floorDiv(channels, DimExpr(groups)); }
  DimExpr featuresOfGroup() const { return DimExpr::floorDiv(features, DimExpr(groups)); }
  Shape images() const { return joined({batch}, windows.sizes, {channels}); }
  Shape kernel() const { return joined(windows.taps, {channelsOfGroup()}, {features}); }
  Shape outputs() const { return joined({batch}, windows.count, {features}); }
};
} // namespace

/// Fails unless both operands have a batch, sizes and a last axis.
static LogicalResult checkRanks(std::optional<Location> location, StringRef op, Type lhs,
                                Type rhs) {
  size_t rank = shapeOf(lhs).size();
  if (rank >= 3 && rank == shapeOf(rhs).size())
    return checkPair(location, op, lhs, rhs);
  return emitErrorAbout(location, op, "expects two tensors of one rank, at least 3, but got ",
                        toText(lhs), " and ", toText(rhs), " [rank]");
}

static LogicalResult checkGroups(std::optional<Location> location, StringRef op, int64_t groups,
                                 ArrayRef<std::pair<StringRef, DimExpr>> counts) {
  if (groups < 1)
    return emitErrorAbout(location, op, "expects groups of at least 1, but got ", groups,
                          " [window]");
  for (auto &[name, count] : counts)
    if (DimExpr::floorDiv(count, DimExpr(groups)) * groups != count)
      return emitErrorAbout(location, op, "expects ", name, " that can be cut into ", groups,
                            " groups, but got ", count.str(), " [window]");
  return success();
}

/// Fails unless `type`, the type of the outputs, provably has one element for each window.
static LogicalResult checkCounts(std::optional<Location> location, StringRef op,
                                 const Windows &windows, Type type) {
  Shape outputs = shapeOf(type);
  for (size_t axis = 0; axis < windows.rank(); ++axis)
    if (windows.count[axis] != outputs[axis + 1])
      return emitErrorAbout(location, op, "expects ", windows.count[axis].str(),
                            " elements along axis ", axis + 1, ", one for each window, but got ",
                            toText(type), " [unequal-dimensions]");
  return success();
}

//===----------------------------------------------------------------------===//
// As a product
//===----------------------------------------------------------------------===//

/// Returns true if the product of a convolution has the axis `part`: taps if windows have several
/// elements; with groups, the channels or features of one group if there are several.
static bool hasAxis(const Convolution &c, char part) {
  if (part == 'k')
    return !c.windows.isIdentity();
  if (part == 'g' || c.groups == 1)
    return part != 'g' || c.groups > 1;
  return !(part == 'c' && c.channelsOfGroup().isConstant(1)) &&
         !(part == 'f' && c.featuresOfGroup().isConstant(1));
}

/// Returns the names of the axes of a convolution's tensors in the product, and their sizes.
static std::string labelsOf(const Convolution &c, StringRef which) {
  std::string text;
  for (char part : which) {
    size_t count = part == 'o' || part == 'k' ? c.windows.rank() : 1;
    for (size_t axis = 0; axis < count && hasAxis(c, part); ++axis)
      text += (text.empty() ? "" : " ") + std::string(1, part) +
              (part == 'o' || part == 'k' ? std::to_string(axis) : "");
  }
  return text;
}

static Shape axesOf(const Convolution &c, StringRef which) {
  Shape shape;
  for (char part : which) {
    if (!hasAxis(c, part))
      continue;
    if (part == 'k')
      shape.append(c.windows.taps);
    else
      shape.push_back(part == 'g'   ? DimExpr(c.groups)
                      : part == 'c' ? c.channelsOfGroup()
                                    : c.featuresOfGroup());
  }
  return shape;
}

/// The kernel as an operand of the product.
static Value kernelOf(OpBuilder &b, Value kernel, const Convolution &c) {
  return reshapeTo(b, kernel, axesOf(c, "kcgf"));
}

/// `x` with the last axis, channels or features, split into groups.
static Value splitGroups(OpBuilder &b, Value x, const Convolution &c, StringRef last) {
  Shape shape = shapeOf(x.getType());
  return reshapeTo(b, x, joined(ArrayRef(shape).drop_back(), axesOf(c, last), {}));
}

/// The windows of `x` as an operand of the product.
static Value windowsOf(OpBuilder &b, Location loc, Value x, const Convolution &c, StringRef last) {
  // A depthwise convolution is not a matrix product, so its padding need not be materialized.
  bool isDepthwise = hasAxis(c, 'g') && !hasAxis(c, 'c') && !hasAxis(c, 'f');
  if (isDepthwise && !c.windows.isIdentity())
    return buildMaskedWindows(b, loc, x, c.windows, 0.0);
  Value padded = splitGroups(b, buildPadded(b, loc, x, c.windows, 0.0), c, last);
  if (c.windows.isIdentity())
    return padded;
  Windows inside = c.windows;
  for (size_t axis = 0; axis < inside.rank(); ++axis) {
    inside.sizes[axis] = inside.padded(axis);
    inside.low[axis] = inside.high[axis] = DimExpr(0);
  }
  return buildWindows(b, loc, padded, inside, 0.0);
}

static Value contractPair(OpBuilder &b, Location loc, Value lhs, Value rhs, const Convolution &c,
                          StringRef lhsLabels, StringRef rhsLabels, StringRef resultLabels) {
  std::string labels =
      labelsOf(c, lhsLabels) + ", " + labelsOf(c, rhsLabels) + " -> " + labelsOf(c, resultLabels);
  return ContractOp::create(b, loc, lhs, rhs, b.getStringAttr(labels));
}

//===----------------------------------------------------------------------===//
// ConvolutionOp
//===----------------------------------------------------------------------===//

static FailureOr<Convolution> readConvolution(std::optional<Location> location,
                                              ConvolutionOp::Adaptor op) {
  StringRef name = "convolution";
  Type x = op.getX().getType(), kernel = op.getKernel().getType();
  if (failed(checkRanks(location, name, x, kernel)))
    return failure();
  Shape images = shapeOf(x), weights = shapeOf(kernel);
  FailureOr<Windows> windows = readWindows(location, WindowOptions::of(name, op),
                                           innerSizes(images), ArrayRef(weights).drop_back(2));
  if (failed(windows) || failed(checkWindows(location, name, *windows, x)))
    return failure();
  Convolution c{*windows, images.front(), images.back(), weights.back(), int64_t(op.getGroups())};
  if (failed(checkGroups(location, name, c.groups,
                         {{"channels", c.channels}, {"features", c.features}})))
    return failure();
  if (weights.end()[-2] * c.groups != c.channels)
    return emitDetailedError(location, {.isForAllSizes = true}, quotedName(location, "convolution"),
                             " expects a kernel for ", c.channels.str(), " channels in ", c.groups,
                             c.groups == 1 ? " group" : " groups", ", but got ", toText(kernel),
                             " for ", toText(x), " [inner-dimensions]");
  return c;
}

LogicalResult ConvolutionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                              Adaptor adaptor, SmallVectorImpl<Type> &results) {
  FailureOr<Convolution> c = readConvolution(location, adaptor);
  if (failed(c))
    return failure();
  results.push_back(tensorOf(c->outputs(), elementTypeOf(adaptor.getX().getType())));
  return success();
}

/// d convolution(x, w) = convolution_transpose(g, w), convolution_weights(x, g).
SmallVector<Value> ConvolutionOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Convolution c = *readConvolution(std::nullopt, Adaptor(*this));
  Value g = resultGrads[0];
  auto dims = [&](ArrayRef<DimExpr> sizes) { return DimsAttr::get(b.getContext(), sizes); };
  Value dx = ConvolutionTransposeOp::create(b, getLoc(), g, getKernel(), dims(c.windows.sizes),
                                            DenseI64ArrayAttr(), getStrideAttr(), getPaddingAttr(),
                                            getPadsAttr(), getDilationAttr(), getGroupsAttr());
  Value dw = ConvolutionWeightsOp::create(b, getLoc(), getX(), g, dims(c.windows.taps),
                                          getStrideAttr(), getPaddingAttr(), getPadsAttr(),
                                          getDilationAttr(), getGroupsAttr());
  return {dx, dw};
}

SmallVector<Value> ConvolutionOp::decompose(OpBuilder &b) {
  Convolution c = *readConvolution(std::nullopt, Adaptor(*this));
  Value x = windowsOf(b, getLoc(), getX(), c, "gc");
  Value kernel = kernelOf(b, getKernel(), c);
  Value y = contractPair(b, getLoc(), x, kernel, c, "nokgc", "kcgf", "nogf");
  return {reshapeTo(b, y, c.outputs())};
}

std::optional<DataCheck> ConvolutionOp::buildCheck(OpBuilder &b) {
  return buildWindowsCheck(b, *this, readConvolution(std::nullopt, Adaptor(*this))->windows,
                           getX().getType());
}

Failure ConvolutionOp::getCheckStatus() { return Failure::InvalidArgument; }

//===----------------------------------------------------------------------===//
// ConvolutionTransposeOp
//===----------------------------------------------------------------------===//

/// The sizes whose windows match the operand, if the operation does not specify them.
static FailureOr<Shape> sizesFor(std::optional<Location> location,
                                 ConvolutionTransposeOp::Adaptor op, ArrayRef<DimExpr> counts,
                                 ArrayRef<DimExpr> taps) {
  StringRef name = "convolution_transpose";
  FailureOr<SmallVector<int64_t>> more = readPerAxis(
      location, name, "output_padding", orAbsent(op.getOutputPadding()), 0, 0, counts.size());
  if (failed(more))
    return failure();
  // The padding of a convolution does not depend on sizes unless it is "same".
  FailureOr<Windows> windows = readWindows(location, WindowOptions::of(name, op), counts, taps);
  if (failed(windows))
    return failure();
  Shape sizes;
  for (size_t axis = 0; axis < counts.size(); ++axis) {
    DimExpr stride = windows->stride[axis];
    DimExpr room = (counts[axis] - 1) * stride + windows->extent(axis) - windows->low[axis] -
                   windows->high[axis];
    bool isSame = op.getPadding() == PaddingMode::Same;
    sizes.push_back((isSame ? counts[axis] * stride : room) + (*more)[axis]);
    if (isNonNegative(sizes.back()) == false)
      return emitErrorAbout(location, name, "expects sizes that are not negative, but got ",
                            sizes.back().str(), " for axis ", axis + 1, " [size]");
  }
  return sizes;
}

static FailureOr<Convolution> readTranspose(std::optional<Location> location,
                                            ConvolutionTransposeOp::Adaptor op) {
  StringRef name = "convolution_transpose";
  Type x = op.getX().getType(), kernel = op.getKernel().getType();
  if (failed(checkRanks(location, name, x, kernel)))
    return failure();
  Shape outputs = shapeOf(x), weights = shapeOf(kernel);
  ArrayRef<DimExpr> counts = innerSizes(outputs), taps = ArrayRef(weights).drop_back(2);
  if (op.getSizes() && op.getOutputPadding())
    return emitErrorAbout(location, name, "expects either sizes or output_padding [attribute]");
  FailureOr<Shape> sizes = op.getSizes() ? FailureOr<Shape>(op.getSizes()->getExprs())
                                         : sizesFor(location, op, counts, taps);
  if (failed(sizes))
    return failure();
  if (sizes->size() != counts.size())
    return emitErrorAbout(location, name, "expects ", counts.size(),
                          " sizes, one for each axis of windows of ", toText(x), ", but got ",
                          sizes->size(), " [rank]");
  FailureOr<Windows> windows = readWindows(location, WindowOptions::of(name, op), *sizes, taps);
  if (failed(windows) || failed(checkCounts(location, name, *windows, x)))
    return failure();
  Convolution c{*windows, outputs.front(), weights.end()[-2] * int64_t(op.getGroups()),
                weights.back(), int64_t(op.getGroups())};
  if (failed(checkGroups(location, name, c.groups, {{"features", c.features}})))
    return failure();
  if (c.features != outputs.back())
    return emitDetailedError(location, {.isForAllSizes = true},
                             quotedName(location, "convolution_transpose"),
                             " expects a kernel for ", outputs.back().str(), " features, but got ",
                             toText(kernel), " for ", toText(x), " [inner-dimensions]");
  return c;
}

LogicalResult ConvolutionTransposeOp::inferReturnTypes(MLIRContext *,
                                                       std::optional<Location> location,
                                                       Adaptor adaptor,
                                                       SmallVectorImpl<Type> &results) {
  FailureOr<Convolution> c = readTranspose(location, adaptor);
  if (failed(c))
    return failure();
  results.push_back(tensorOf(c->images(), elementTypeOf(adaptor.getX().getType())));
  return success();
}

/// d convolution_transpose(x, w) = convolution(g, w), convolution_weights(g, x). If the operand has
/// no elements, both are 0, and a window need not fit.
SmallVector<Value> ConvolutionTransposeOp::buildOperandGradients(OpBuilder &b,
                                                                 ValueRange resultGrads) {
  Convolution c = *readTranspose(std::nullopt, Adaptor(*this));
  Value g = resultGrads[0];
  if (llvm::any_of(c.windows.count, [](const DimExpr &count) { return count.isConstant(0); }))
    return {filled(b, getLoc(), cast<RankedTensorType>(getX().getType()), 0.0),
            filled(b, getLoc(), cast<RankedTensorType>(getKernel().getType()), 0.0)};
  Value dx = ConvolutionOp::create(b, getLoc(), g, getKernel(), getStrideAttr(), getPaddingAttr(),
                                   getPadsAttr(), getDilationAttr(), getGroupsAttr());
  Value dw = ConvolutionWeightsOp::create(
      b, getLoc(), g, getX(), DimsAttr::get(b.getContext(), c.windows.taps), getStrideAttr(),
      getPaddingAttr(), getPadsAttr(), getDilationAttr(), getGroupsAttr());
  return {dx, dw};
}

namespace {
/// The elements of an axis whose positions have the same remainder modulo the stride. They use
/// every stride-th tap: element q combines tap first + stride * j with output q + shift - step * j.
struct Phase {
  int64_t first, taps, shift, step;

  /// The distance from the first to the last output that an element uses.
  int64_t reach() const { return (taps - 1) * step; }
};
} // namespace

static Phase phaseOf(const Windows &windows, size_t axis, int64_t remainder) {
  int64_t stride = windows.stride[axis], low = *windows.low[axis].constant();
  int64_t first = (remainder + low) % stride;
  int64_t left = *windows.taps[axis].constant() - first;
  return {first, std::max<int64_t>(0, (left + stride - 1) / stride),
          (remainder + low - first) / stride, windows.dilation[axis]};
}

/// A stride of s has s phases, most of which are empty if s is large.
static constexpr int64_t kMostPhases = 64;

/// Returns true if a transposed convolution can be split into phases.
static bool hasPhases(const Windows &windows) {
  return !windows.isIdentity() && llvm::all_of(llvm::seq(windows.rank()), [&](size_t axis) {
    return windows.stride[axis] <= kMostPhases &&
           (windows.stride[axis] == 1 || windows.dilation[axis] == 1) &&
           windows.taps[axis].constant() && windows.low[axis].constant();
  });
}

/// The number of elements from which on it is profitable to pack the kernel in the order in which
/// the product reads it, as phases do.
static constexpr int64_t kManyElements = 2048;

/// Returns true if there are several phases, or one with many elements.
static bool wantsPhases(const Convolution &c) {
  uint64_t elements = c.batch.constant().value_or(kManyElements);
  for (const DimExpr &size : c.windows.sizes)
    elements =
        llvm::SaturatingMultiply<uint64_t>(elements, size.constant().value_or(kManyElements));
  return elements >= kManyElements ||
         llvm::any_of(c.windows.stride, [](int64_t stride) { return stride > 1; });
}

static DimsAttr dimsOf(OpBuilder &b, ArrayRef<DimExpr> sizes) {
  return DimsAttr::get(b.getContext(), sizes);
}

/// The number of elements of an axis in each phase, or one less.
static DimExpr phaseSize(const Windows &windows, size_t axis) {
  int64_t stride = windows.stride[axis];
  return DimExpr::floorDiv(windows.sizes[axis] + stride - 1, DimExpr(stride));
}

/// Returns the taps of phases in reverse order, as operands of the product, with the channels last,
/// so that the product's rows are contiguous.
static Value tapsOf(OpBuilder &b, Location loc, Value kernel, const Convolution &part,
                    const Windows &windows, ArrayRef<Phase> phases) {
  Shape shape = shapeOf(kernel.getType()), starts(shape.size(), DimExpr(0));
  SmallVector<int64_t> steps(shape.size(), 1);
  for (auto [i, phase] : llvm::enumerate(phases)) {
    shape[i] = phase.taps;
    starts[i] = phase.first + windows.stride[i] * (phase.taps - 1);
    steps[i] = -windows.stride[i];
  }
  Value taps = SliceOp::create(b, loc, kernel, dimsOf(b, starts), dimsOf(b, shape),
                               b.getDenseI64ArrayAttr(steps));
  taps = kernelOf(b, taps, part);
  if (!hasAxis(part, 'c'))
    return taps;
  int64_t rank = shapeOf(taps.getType()).size(), channels = axesOf(part, "k").size();
  auto order = llvm::to_vector(llvm::seq(rank));
  std::rotate(order.begin() + channels, order.begin() + channels + 1, order.end());
  return TransposeOp::create(b, loc, taps, b.getDenseI64ArrayAttr(order));
}

/// One phase for each axis of a transposed convolution, with its elements at their positions and
/// zeros elsewhere: a convolution of `x`, which is padded by `before` elements at the start of each
/// axis.
static Value buildPhase(OpBuilder &b, Location loc, Value x, Value kernel, const Convolution &c,
                        ArrayRef<int64_t> remainders, ArrayRef<int64_t> before) {
  Convolution part = c;
  Windows &windows = part.windows;
  Shape shape = shapeOf(x.getType()), first(shape.size(), DimExpr(0)), starts = first;
  SmallVector<int64_t> steps(shape.size(), 1);
  SmallVector<Phase> phases;
  for (size_t i = 0; i < windows.rank(); ++i) {
    Phase phase = phaseOf(c.windows, i, remainders[i]);
    if (phase.taps == 0)
      return Value();
    windows.count[i] = phaseSize(c.windows, i);
    windows.taps[i] = phase.taps;
    windows.sizes[i] = shape[1 + i] = windows.count[i] + phase.reach();
    windows.low[i] = windows.high[i] = DimExpr(0);
    windows.stride[i] = 1;
    first[1 + i] = before[i] + phase.shift - phase.reach();
    starts[1 + i] = remainders[i];
    steps[1 + i] = c.windows.stride[i];
    phases.push_back(phase);
  }
  Value own = SliceOp::create(b, loc, x, dimsOf(b, first), dimsOf(b, shape), DenseI64ArrayAttr());
  Value taps = tapsOf(b, loc, kernel, part, c.windows, phases);
  Value y =
      contractPair(b, loc, windowsOf(b, loc, own, part, "gf"), taps, part, "nokgf", "kgfc", "nogc");
  y = reshapeTo(b, y, joined({c.batch}, windows.count, {c.channels}));
  return PlaceOp::create(b, loc, y, dimsOf(b, starts), dimsOf(b, c.images()),
                         b.getDenseI64ArrayAttr(steps), b.getF64FloatAttr(0.0));
}

/// Returns the sum of all phases. This avoids products with the zeros that the stride inserts
/// between the outputs, and windows and taps run in the same direction.
static Value buildPhases(OpBuilder &b, Location loc, Value x, Value kernel, const Convolution &c) {
  const Windows &windows = c.windows;
  Shape shape = shapeOf(x.getType()), starts(shape.size(), DimExpr(0));
  SmallVector<int64_t> before(windows.rank(), 0), remainders(windows.rank(), 0);
  for (size_t i = 0; i < windows.rank(); ++i) {
    int64_t after = 0;
    for (int64_t remainder = 0; remainder < windows.stride[i]; ++remainder) {
      Phase phase = phaseOf(windows, i, remainder);
      before[i] = std::max(before[i], phase.reach() - phase.shift);
      after = std::max(after, phase.shift);
    }
    starts[1 + i] = before[i];
    shape[1 + i] = phaseSize(windows, i) + before[i] + after;
  }
  Value padded = PlaceOp::create(b, loc, x, dimsOf(b, starts), dimsOf(b, shape),
                                 DenseI64ArrayAttr(), b.getF64FloatAttr(0.0));
  Value sum;
  for (bool isDone = false; !isDone;) {
    if (Value phase = buildPhase(b, loc, padded, kernel, c, remainders, before))
      sum = sum ? AddOp::create(b, loc, sum, phase).getResult() : phase;
    isDone = true;
    for (size_t i = windows.rank(); i-- > 0 && isDone;) {
      remainders[i] = (remainders[i] + 1) % windows.stride[i];
      isDone = remainders[i] == 0;
    }
  }
  return sum;
}

/// A convolution of the outputs, `stride` apart, with the kernel reversed, since output o meets tap
/// k at o * stride + k * dilation - low.
SmallVector<Value> ConvolutionTransposeOp::decompose(OpBuilder &b) {
  Convolution c = *readTranspose(std::nullopt, Adaptor(*this));
  if (hasPhases(c.windows) && wantsPhases(c))
    return {buildPhases(b, getLoc(), getX(), getKernel(), c)};
  const Windows &windows = c.windows;
  Location loc = getLoc();
  Shape spread = shapeOf(getX().getType()), starts(spread.size(), DimExpr(0));
  SmallVector<int64_t> steps(spread.size(), 1);
  Convolution reversed = c;
  for (size_t axis = 0; axis < windows.rank(); ++axis) {
    DimExpr reach = windows.extent(axis) - 1;
    starts[axis + 1] = reach - windows.low[axis];
    steps[axis + 1] = windows.stride[axis];
    spread[axis + 1] = windows.sizes[axis] + reach;
    reversed.windows.sizes[axis] = spread[axis + 1];
    reversed.windows.low[axis] = reversed.windows.high[axis] = DimExpr(0);
    reversed.windows.stride[axis] = 1;
    reversed.windows.count[axis] = windows.sizes[axis];
  }
  auto dims = [&](ArrayRef<DimExpr> sizes) { return DimsAttr::get(b.getContext(), sizes); };
  Value x = PlaceOp::create(b, loc, getX(), dims(starts), dims(spread),
                            b.getDenseI64ArrayAttr(steps), b.getF64FloatAttr(0.0));
  x = windowsOf(b, loc, x, reversed, "gf");
  if (!reversed.windows.isIdentity())
    x = ReverseOp::create(b, loc, x, b.getDenseI64ArrayAttr(tapAxes(windows)));
  Value kernel = kernelOf(b, getKernel(), reversed);
  Value y = contractPair(b, loc, x, kernel, reversed, "nokgf", "kcgf", "nogc");
  return {reshapeTo(b, y, c.images())};
}

//===----------------------------------------------------------------------===//
// ConvolutionWeightsOp
//===----------------------------------------------------------------------===//

static FailureOr<Convolution> readWeights(std::optional<Location> location,
                                          ConvolutionWeightsOp::Adaptor op) {
  StringRef name = "convolution_weights";
  Type x = op.getX().getType(), grad = op.getGrad().getType();
  if (failed(checkRanks(location, name, x, grad)))
    return failure();
  Shape images = shapeOf(x), outputs = shapeOf(grad), taps = op.getSize().getExprs();
  if (taps.size() + 2 != images.size())
    return emitErrorAbout(location, name, "expects ", images.size() - 2,
                          " numbers in size, one for each axis of windows of ", toText(x),
                          ", but got ", taps.size(), " [rank]");
  FailureOr<Windows> windows =
      readWindows(location, WindowOptions::of(name, op), innerSizes(images), taps);
  if (failed(windows) || failed(checkWindows(location, name, *windows, x)) ||
      failed(checkCounts(location, name, *windows, grad)))
    return failure();
  Convolution c{*windows, images.front(), images.back(), outputs.back(), int64_t(op.getGroups())};
  if (failed(checkGroups(location, name, c.groups,
                         {{"channels", c.channels}, {"features", c.features}})))
    return failure();
  if (images.front() != outputs.front())
    return emitErrorAbout(location, name, "expects as many outputs as images, but got ", toText(x),
                          " and ", toText(grad), " [unequal-dimensions]");
  return c;
}

LogicalResult ConvolutionWeightsOp::inferReturnTypes(MLIRContext *,
                                                     std::optional<Location> location,
                                                     Adaptor adaptor,
                                                     SmallVectorImpl<Type> &results) {
  FailureOr<Convolution> c = readWeights(location, adaptor);
  if (failed(c))
    return failure();
  results.push_back(tensorOf(c->kernel(), elementTypeOf(adaptor.getX().getType())));
  return success();
}

/// d convolution_weights(x, y) = convolution_transpose(y, g), convolution(x, g).
SmallVector<Value> ConvolutionWeightsOp::buildOperandGradients(OpBuilder &b,
                                                               ValueRange resultGrads) {
  Convolution c = *readWeights(std::nullopt, Adaptor(*this));
  Value g = resultGrads[0];
  Value dx = ConvolutionTransposeOp::create(b, getLoc(), getGrad(), g,
                                            DimsAttr::get(b.getContext(), c.windows.sizes),
                                            DenseI64ArrayAttr(), getStrideAttr(), getPaddingAttr(),
                                            getPadsAttr(), getDilationAttr(), getGroupsAttr());
  Value dy = ConvolutionOp::create(b, getLoc(), getX(), g, getStrideAttr(), getPaddingAttr(),
                                   getPadsAttr(), getDilationAttr(), getGroupsAttr());
  return {dx, dy};
}

SmallVector<Value> ConvolutionWeightsOp::decompose(OpBuilder &b) {
  Convolution c = *readWeights(std::nullopt, Adaptor(*this));
  Value x = windowsOf(b, getLoc(), getX(), c, "gc");
  Value grad = splitGroups(b, getGrad(), c, "gf");
  Value y = contractPair(b, getLoc(), x, grad, c, "nokgc", "nogf", "kcgf");
  return {reshapeTo(b, y, c.kernel())};
}

std::optional<DataCheck> ConvolutionWeightsOp::buildCheck(OpBuilder &b) {
  return buildWindowsCheck(b, *this, readWeights(std::nullopt, Adaptor(*this))->windows,
                           getX().getType());
}

Failure ConvolutionWeightsOp::getCheckStatus() { return Failure::InvalidArgument; }
