// Implements the rules of convolutions and pooling. ONNX has the channels first and dfg has them
// last, so images are transposed before and after; most of the transpositions cancel each other
// later.

#include "frontend/onnx/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using dfg::DimExpr;
using dfg::Shape;

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

/// Returns a kernel [outer, inner, taps..] as [taps.., inner, outer].
static NodeValue tapsFirst(NodeBuilder &node, NodeValue kernel) {
  SmallVector<int64_t> places;
  for (int64_t axis = 2; axis < rankOf(kernel); ++axis)
    places.push_back(axis);
  places.append({1, 0});
  return node.transpose(kernel, places);
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {
/// The windows of a node along each axis between batch and channels.
struct Windows {
  SmallVector<int64_t> size, stride, dilation;
  SmallVector<int64_t> pads; // before and after each axis
  /// Elements to add to the images before that, where their number depends on the sizes.
  Shape low, high;
};
} // namespace

/// Returns an attribute with a number for each axis, by default `otherwise`; std::nullopt after an
/// error.
static std::optional<SmallVector<int64_t>> perAxis(NodeBuilder &node, StringRef attr, size_t count,
                                                   int64_t otherwise, int64_t least) {
  if (node.ints(attr).empty())
    return SmallVector<int64_t>(count, otherwise);
  SmallVector<int64_t> numbers(node.ints(attr));
  if (numbers.size() == count &&
      all_of(numbers, [&](int64_t number) { return number >= least && number < INT32_MAX; }))
    return numbers;
  node.error() << "expected '" << attr << "' to be " << count << " numbers of at least " << least
               << " [graph-attribute]";
  return std::nullopt;
}

/// Sets the padding such that there are `ceil(size / stride)` windows. The windows meet, or a size
/// of 0 would need negative padding.
static void padDynamicSize(const DimExpr &size, unsigned axis, int64_t span, bool isLower,
                           Windows &windows) {
  DimExpr stride = windows.stride[axis];
  DimExpr count = DimExpr::floorDiv(size + stride - DimExpr(1), stride);
  DimExpr total = count * stride - stride + DimExpr(span) - size;
  DimExpr less = DimExpr::floorDiv(total, 2);
  windows.low[axis] = isLower ? total - less : less;
  windows.high[axis] = isLower ? less : total - less;
}

/// Sets the padding such that there are `ceil(size / stride)` windows. An odd element is before the
/// others for SAME_LOWER.
static bool padSame(NodeBuilder &node, ArrayRef<DimExpr> sizes, bool isLower, Windows &windows) {
  for (auto [axis, given] : enumerate(sizes)) {
    std::optional<int64_t> size = given.constant();
    int64_t stride = windows.stride[axis];
    int64_t span = (windows.size[axis] - 1) * windows.dilation[axis] + 1;
    // With a stride of 1 the padding does not depend on the size.
    if (!size && stride != 1 && span >= stride) {
      padDynamicSize(given, axis, span, isLower, windows);
      continue;
    }
    if (!size && stride != 1) {
      node.error() << "expected a known size along axis " << axis + 2 << " for 'auto_pad', but got "
                   << given.str() << " [dynamic-shape]";
      return false;
    }
    int64_t rest = size ? (llvm::divideCeil(*size, stride) - 1) * stride - *size : -1;
    int64_t total = std::max<int64_t>(rest + span, 0), less = total / 2;
    windows.pads[2 * axis] = isLower ? total - less : less;
    windows.pads[2 * axis + 1] = isLower ? less : total - less;
  }
  return true;
}

/// Orders "all starts, all ends" by axis.
static bool padExplicitly(NodeBuilder &node, size_t count, Windows &windows) {
  std::optional<SmallVector<int64_t>> pads = perAxis(node, "pads", 2 * count, 0, 0);
  for (size_t axis = 0; pads && axis < count; ++axis) {
    windows.pads[2 * axis] = (*pads)[axis];
    windows.pads[2 * axis + 1] = (*pads)[count + axis];
  }
  return pads.has_value();
}

/// Returns the windows of this size on images of these sizes, without their padding.
static std::optional<Windows> findWindows(NodeBuilder &node, ArrayRef<int64_t> size) {
  std::optional<SmallVector<int64_t>> stride = perAxis(node, "strides", size.size(), 1, 1);
  std::optional<SmallVector<int64_t>> dilation = perAxis(node, "dilations", size.size(), 1, 1);
  if (!stride || !dilation)
    return std::nullopt;
  return Windows{SmallVector<int64_t>(size),
                 *stride,
                 *dilation,
                 SmallVector<int64_t>(2 * size.size(), 0),
                 Shape(size.size(), DimExpr(0)),
                 Shape(size.size(), DimExpr(0))};
}

static bool setPadding(NodeBuilder &node, ArrayRef<DimExpr> sizes, Windows &windows) {
  StringRef mode = node.node.attr("auto_pad").text;
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER")
    return padSame(node, sizes, mode == "SAME_LOWER", windows);
  if (mode.empty() || mode == "NOTSET")
    return padExplicitly(node, sizes.size(), windows);
  if (mode != "VALID")
    node.error() << "there is no 'auto_pad' of '" << mode << "' [graph-attribute]";
  return mode == "VALID";
}

static bool dependsOnSizes(const Windows &windows) {
  auto isNotZero = [](const DimExpr &size) { return !size.isConstant(0); };
  return any_of(windows.low, isNotZero) || any_of(windows.high, isNotZero);
}

/// Adds the elements whose number depends on the sizes to images with the channels last.
static NodeValue padImages(NodeBuilder &node, NodeValue images, const Windows &windows,
                           double value) {
  if (!images || !dependsOnSizes(windows))
    return images;
  Shape low(rankOf(images), DimExpr(0)), high = low;
  llvm::copy(windows.low, low.begin() + 1);
  llvm::copy(windows.high, high.begin() + 1);
  return node.op("pad", images,
                 {node.attrs.sizes("low", low), node.attrs.sizes("high", high),
                  node.attrs.real("value", value)});
}

static SmallVector<NamedAttribute> optionsOf(NodeBuilder &node, const Windows &windows) {
  return {node.attrs.integers("stride", windows.stride),
          node.attrs.integers("dilation", windows.dilation),
          node.attrs.integers("pads", windows.pads)};
}

/// Returns the sizes of the taps of a kernel, which must be numbers.
static std::optional<SmallVector<int64_t>> tapsOf(NodeBuilder &node, NodeValue kernel) {
  SmallVector<int64_t> taps;
  Shape shape = shapeOf(kernel);
  for (const DimExpr &size : ArrayRef(shape).drop_front(2)) {
    if (!size.constant()) {
      node.error() << "expected a kernel of known size, but got " << dfg::toText(kernel.getType())
                   << " [dynamic-shape]";
      return std::nullopt;
    }
    taps.push_back(*size.constant());
  }
  return taps;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
/// The images and the kernel of a convolution, with the channels first.
struct Convolution {
  NodeValue x, kernel;
  Windows windows;
};
} // namespace

/// Returns the convolution, without its padding, or std::nullopt after an error.
static std::optional<Convolution> findConvolution(NodeBuilder &node, NodeValue x,
                                                  NodeValue kernel) {
  if (!x || !kernel)
    return std::nullopt;
  if (rankOf(x) != rankOf(kernel) || rankOf(x) < 3) {
    node.error() << "expected images and a kernel with the same number of axes, but got "
                 << dfg::toText(x.getType()) << " and " << dfg::toText(kernel.getType())
                 << " [operand]";
    return std::nullopt;
  }
  std::optional<SmallVector<int64_t>> taps = tapsOf(node, kernel);
  std::optional<Windows> windows = taps ? findWindows(node, *taps) : std::nullopt;
  if (!windows)
    return std::nullopt;
  return Convolution{x, kernel, *windows};
}

/// Adds a number for each channel, if there is a bias, to images with the channels last, and
/// returns them with the channels first.
static Outcome finish(NodeBuilder &node, NodeValue y, NodeValue bias) {
  if (y && bias)
    y = node.op("add", {y, bias});
  return node.done({node.channelsFirst(y)});
}

/// Returns the convolution with the channels last, or null after an error.
static NodeValue convolve(NodeBuilder &node, NodeValue x, NodeValue kernel) {
  std::optional<Convolution> found = findConvolution(node, x, kernel);
  if (!found)
    return {};
  Shape sizes(ArrayRef(shapeOf(x)).drop_front(2));
  if (!setPadding(node, sizes, found->windows))
    return {};
  SmallVector<NamedAttribute> options = optionsOf(node, found->windows);
  options.push_back(node.attrs.integer("groups", node.node.number("group", 1)));
  NodeValue images = padImages(node, node.channelsLast(x), found->windows, 0);
  return node.op("convolution", {images, tapsFirst(node, kernel)}, options);
}

static Outcome buildConv(NodeBuilder &node, const OpRule &) {
  NodeValue bias = node.hasInput(2) ? node.in(2) : NodeValue();
  return finish(node, convolve(node, node.in(0), node.in(1)), bias);
}

/// Adds input 3, if there is one, and applies the function that an attribute names.
static Outcome buildFusedConv(NodeBuilder &node, const OpRule &rule) {
  if (buildConv(node, rule) != Outcome::Done)
    return Outcome::Failed;
  NodeValue y = node.getResults().front();
  if (node.hasInput(3))
    y = node.op("add", {y, node.in(3)});
  return node.done({node.library().compute("_fused", {y})});
}

/// Returns an input as i32, minus its zero point; there may be one zero point for each kernel.
static NodeValue centered(NodeBuilder &node, unsigned input, unsigned zeroPoint) {
  Type type = IntegerType::get(node.context(), 32);
  NodeValue x = node.cast(node.in(input), type);
  if (!x || !node.hasInput(zeroPoint))
    return x;
  NodeValue zero = node.cast(node.in(zeroPoint), type);
  if (zero && rankOf(zero) == 1) {
    Shape shape(rankOf(x), DimExpr(1));
    shape.front() = shapeOf(zero).front();
    zero = node.reshape(zero, shape);
  }
  return zero ? node.op("sub", {x, zero}) : zero;
}

static Outcome buildConvInteger(NodeBuilder &node, const OpRule &) {
  return finish(node, convolve(node, centered(node, 0, 2), centered(node, 1, 3)), NodeValue());
}

/// The inputs are x, its scale and zero point, the same of the kernel, the scale and zero point of
/// the result, and a bias in units of both scales.
static Outcome buildQLinearConv(NodeBuilder &node, const OpRule &) {
  NodeValue y = convolve(node, centered(node, 0, 2), centered(node, 3, 5));
  if (y && node.hasInput(8))
    y = node.op("add", {y, node.in(8)});
  NodeValue unit = node.op("mul", {node.in(1), node.in(4)});
  NodeValue factor = node.op("div", {unit, node.in(6)});
  if (!y || !factor)
    return Outcome::Failed;
  return finish(node, node.library().compute("_requantized", {y, factor, node.in(7)}), NodeValue());
}

/// Distributes padding so that the result has these sizes, or those of `auto_pad`. Returns the
/// sizes, which are empty where they follow from explicit padding; std::nullopt after an error.
static std::optional<Shape> transposedSizes(NodeBuilder &node, ArrayRef<DimExpr> sizes,
                                            ArrayRef<int64_t> added, Windows &windows) {
  ArrayRef<int64_t> given = node.ints("output_shape");
  StringRef mode = node.node.attr("auto_pad").text;
  bool isSame = mode.starts_with("SAME");
  Shape results;
  if (given.empty() && !isSame) {
    if (!setPadding(node, sizes, windows))
      return std::nullopt;
    return results;
  }
  if (!given.empty())
    given = given.take_back(sizes.size()); // some exporters add batch and channels
  if (!given.empty() && given.size() != sizes.size()) {
    node.error() << "expected 'output_shape' to be " << sizes.size() << " sizes [graph-attribute]";
    return std::nullopt;
  }
  for (auto [axis, size] : enumerate(sizes)) {
    int64_t stride = windows.stride[axis], span = (windows.size[axis] - 1) * windows.dilation[axis];
    DimExpr result = given.empty() ? size * DimExpr(stride) : DimExpr(given[axis]);
    DimExpr excess = (size - DimExpr(1)) * DimExpr(stride) + DimExpr(added[axis] + span + 1);
    std::optional<int64_t> total = (excess - result).constant();
    if (!total) {
      node.error() << "expected a known size along axis " << axis + 2 << ", but got " << size.str()
                   << " [dynamic-shape]";
      return std::nullopt;
    }
    int64_t all = std::max<int64_t>(*total, 0), less = all / 2;
    windows.pads[2 * axis] = mode == "SAME_UPPER" ? less : all - less;
    windows.pads[2 * axis + 1] = all - windows.pads[2 * axis];
    results.push_back(result);
  }
  return results;
}

static Outcome buildConvTranspose(NodeBuilder &node, const OpRule &) {
  std::optional<Convolution> found = findConvolution(node, node.in(0), node.in(1));
  if (!found)
    return Outcome::Failed;
  size_t count = found->windows.size.size();
  Shape spatial(ArrayRef(shapeOf(found->x)).drop_front(2));
  auto added = perAxis(node, "output_padding", count, 0, 0);
  auto results = added ? transposedSizes(node, spatial, *added, found->windows) : std::nullopt;
  if (!results)
    return Outcome::Failed;
  SmallVector<NamedAttribute> options = optionsOf(node, found->windows);
  options.push_back(node.attrs.integer("groups", node.node.number("group", 1)));
  if (!results->empty())
    options.push_back(node.attrs.sizes("sizes", *results));
  else
    options.push_back(node.attrs.integers("output_padding", *added));
  NodeValue y = node.op("convolution_transpose",
                        {node.channelsLast(found->x), tapsFirst(node, found->kernel)}, options);
  return finish(node, y, node.hasInput(2) ? node.in(2) : NodeValue());
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// Returns the windows of `kernel_shape`, padded, or std::nullopt after an error. Their padding
/// depends on sizes only if `mayPad` is set.
static std::optional<Windows> poolingWindows(NodeBuilder &node, NodeValue x, bool mayPad = false) {
  if (!x)
    return std::nullopt;
  ArrayRef<int64_t> size = node.ints("kernel_shape");
  if (int64_t(size.size()) + 2 != rankOf(x) || size.empty()) {
    node.error() << "expected 'kernel_shape' to be " << std::max<int64_t>(rankOf(x) - 2, 1)
                 << " numbers for " << dfg::toText(x.getType()) << " [graph-attribute]";
    return std::nullopt;
  }
  auto checked = perAxis(node, "kernel_shape", size.size(), 1, 1);
  auto windows = checked ? findWindows(node, *checked) : std::nullopt;
  Shape spatial(ArrayRef(shapeOf(x)).drop_front(2));
  if (!windows || !setPadding(node, spatial, *windows))
    return std::nullopt;
  bool isPadded = mayPad || !dependsOnSizes(*windows);
  if (!isPadded)
    node.error() << "expected known sizes for 'auto_pad' [dynamic-shape]";
  return isPadded ? windows : std::nullopt;
}

static SmallVector<NamedAttribute> poolingOptions(NodeBuilder &node, const Windows &windows) {
  SmallVector<NamedAttribute> options = optionsOf(node, windows);
  options.push_back(node.attrs.integers("size", windows.size));
  options.push_back(node.attrs.flag("ceil", node.flag("ceil_mode")));
  return options;
}

/// Returns positions in whole tensors, [n, sizes.., channels], from those in each image and channel
/// of `x: [n, channels, sizes..]`.
static NodeValue wholePositions(NodeBuilder &node, NodeValue index, NodeValue x) {
  Shape shape = shapeOf(x), sizes(ArrayRef(shape).drop_front(2));
  Type type = IntegerType::get(node.context(), 64);
  NodeValue found = node.cast(index, type);
  if (node.flag("storage_order"))
    found = node.library().compute("_column_major", {found}, {{"sizes", sizes}});
  Shape planes(rankOf(x), DimExpr(1));
  planes.front() = shape[0];
  planes.back() = shape[1];
  NodeValue counted = node.reshape(node.iota(shape[0] * shape[1], type), planes);
  NodeValue first = node.op("mul", {counted, node.size(dfg::elementCount(sizes), type)});
  return node.op("add", {found, first});
}

static Outcome buildMaxPool(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  bool hasPositions = node.node.outputs.size() > 1 && !node.node.outputs[1].empty();
  std::optional<Windows> windows = poolingWindows(node, x, x && isFloat(x) && !hasPositions);
  if (!windows)
    return Outcome::Failed;
  SmallVector<NamedAttribute> options = poolingOptions(node, *windows);
  NodeValue images = padImages(node, node.channelsLast(x), *windows, -INFINITY);
  if (!hasPositions)
    return node.done({node.channelsFirst(node.op("max_pool", images, options))});
  Operation *made = node.make("max_pool_with_indices", images, options);
  if (!made)
    return Outcome::Failed;
  NodeValue positions = wholePositions(node, made->getResult(1), x);
  return node.done({node.channelsFirst(made->getResult(0)), node.channelsFirst(positions)});
}

static Outcome buildAveragePool(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  std::optional<Windows> windows = poolingWindows(node, x);
  if (!windows)
    return Outcome::Failed;
  SmallVector<NamedAttribute> options = poolingOptions(node, *windows);
  options.push_back(node.attrs.flag("count_padding", node.flag("count_include_pad")));
  return node.done({node.channelsFirst(node.op("avg_pool", node.channelsLast(x), options))});
}

/// The norm of the elements of each window: the sum is the mean times the number of elements.
static Outcome buildLpPool(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  std::optional<Windows> windows = poolingWindows(node, x);
  if (!windows)
    return Outcome::Failed;
  SmallVector<NamedAttribute> options = poolingOptions(node, *windows);
  options.push_back(node.attrs.flag("count_padding", true));
  double p = node.node.number("p", 2), count = 1;
  for (int64_t size : windows->size)
    count *= double(size);
  auto scalar = [&](double value) { return node.scalar(value, elementOf(x)); };
  NodeValue powers = node.op("pow", {node.op("abs", node.channelsLast(x)), scalar(p)});
  NodeValue sums = node.op("mul", {node.op("avg_pool", powers, options), scalar(count)});
  return node.done({node.channelsFirst(node.op("pow", {sums, scalar(1 / p)}))});
}

/// `argument` names the reduction over all axes but the first two.
static Outcome buildGlobalPool(NodeBuilder &node, const OpRule &rule) {
  NodeValue x = node.inOfRank(0, 3);
  if (!x)
    return Outcome::Failed;
  SmallVector<int64_t> axes;
  for (int64_t axis = 2; axis < rankOf(x); ++axis)
    axes.push_back(axis);
  SmallVector<NamedAttribute> options{node.attrs.integers("axis", axes),
                                      node.attrs.flag("keep_dims", true)};
  if (rule.argument != "norm")
    return node.done({node.op(rule.argument, x, options)});
  double p = node.node.number("p", 2);
  NodeValue powers = node.op("pow", {node.op("abs", x), node.scalar(p, elementOf(x))});
  NodeValue sums = node.op("sum", powers, options);
  return node.done({node.op("pow", {sums, node.scalar(1 / p, elementOf(x))})});
}

static Outcome buildLocalResponseNorm(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.inOfRank(0, 3);
  int64_t size = node.node.number("size");
  if (!x)
    return Outcome::Failed;
  if (size % 2 == 0)
    return node.fail("expected an odd 'size', but got " + Twine(size) + " [unsupported-node]");
  NamedAttribute options[] = {
      node.attrs.integer("radius", size / 2), node.attrs.real("bias", node.node.real("bias", 1)),
      node.attrs.real("alpha", node.node.real("alpha", 1e-4) / double(size)),
      node.attrs.real("beta", node.node.real("beta", 0.75))};
  return node.done(
      {node.channelsFirst(node.op("local_response_norm", node.channelsLast(x), options))});
}

static constexpr const char *kConvolution =
    "auto_pad:string?, dilations:ints?, group:int>=1?, kernel_shape:ints?, pads:ints?, "
    "strides:ints?";
static constexpr const char *kTransposed = "auto_pad:string?, dilations:ints?, group:int>=1?, "
                                           "kernel_shape:ints?, pads:ints?, strides:ints?, "
                                           "output_padding:ints?, output_shape:ints?";
static constexpr const char *kPooling =
    "auto_pad:string?, dilations:ints?, kernel_shape:ints, pads:ints?, strides:ints?, "
    "ceil_mode:int?";

static constexpr OpRule kRules[] = {
    {"Conv", {"2-3 -> 1", kConvolution}, buildConv},
    {"com.microsoft.FusedConv",
     {"2-4 -> 1; activation:string?, activation_params:floats?", kConvolution},
     buildFusedConv},
    {"ConvInteger", {"2-4 -> 1", kConvolution}, buildConvInteger},
    {"QLinearConv", {"8-9 -> 1", kConvolution}, buildQLinearConv},
    {"ConvTranspose", {"2-3 -> 1", kTransposed}, buildConvTranspose},
    {"MaxPool", {"1 -> 1-2; storage_order:int?", kPooling}, buildMaxPool},
    {"AveragePool", {"1 -> 1; count_include_pad:int?", kPooling}, buildAveragePool},
    {"LpPool", {"1 -> 1; p:int>=1?", kPooling}, buildLpPool},
    {"GlobalAveragePool", "1 -> 1", buildGlobalPool, "mean"},
    {"GlobalMaxPool", "1 -> 1", buildGlobalPool, "max"},
    {"GlobalLpPool", "1 -> 1; p:int>=1?", buildGlobalPool, "norm"},
    {"LRN", "1 -> 1; size:int>=1, alpha:float?, beta:float?, bias:float?", buildLocalResponseNorm,
     "", 1, Codes::Refused, "an even `size`"},
};

ArrayRef<OpRule> windowRules() { return kRules; }

} // namespace tfc::onnx
