// Implements the rules of convolutions, pooling and normalizations of images, and their gradients,
// which TensorFlow has as operations.

#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;
using dfg::Shape;

//===----------------------------------------------------------------------===//
// Data formats
//===----------------------------------------------------------------------===//

/// Returns images with the channels last, as dfg has them.
static NodeValue imagesOf(NodeBuilder &node, NodeValue x) {
  return node.hasChannelsFirst() ? node.channelsLast(x) : x;
}

/// Returns images in the data format of the node.
static NodeValue inFormat(NodeBuilder &node, NodeValue images) {
  return node.hasChannelsFirst() ? node.channelsFirst(images) : images;
}

/// Returns what the node has for each axis of images, in its data format, with the channels last.
template <typename Element>
static SmallVector<Element> forImages(NodeBuilder &node, ArrayRef<Element> numbers) {
  SmallVector<Element> moved(numbers);
  if (node.hasChannelsFirst() && moved.size() >= 2)
    std::rotate(moved.begin() + 1, moved.begin() + 2, moved.end());
  return moved;
}

static bool hasKnownFormat(NodeBuilder &node) {
  StringRef format = node.node.attr("data_format").text;
  if (is_contained({"", "NHWC", "NDHWC", "NCHW", "NCDHW"}, format))
    return true;
  node.fail("expected a data format with the channels first or last, but got {} [unsupported-node]",
            format);
  return false;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Returns the numbers of an attribute for the spatial axes. Emits an error and returns
/// std::nullopt if windows move along the axes of batch or channels.
static std::optional<SmallVector<int64_t>> innerNumbers(NodeBuilder &node, StringRef name,
                                                        int64_t outer) {
  auto numbers = forImages(node, ArrayRef<int64_t>(node.node.attr(name).numbers));
  if (numbers.size() >= 3 && numbers.front() == outer && numbers.back() == outer)
    return SmallVector<int64_t>(ArrayRef(numbers).drop_front().drop_back());
  node.fail("expected '{}' for spatial axes only [unsupported-node]", name);
  return std::nullopt;
}

/// Returns the options of an operation on windows, or std::nullopt after an error.
static std::optional<SmallVector<NamedAttribute>> windowOptions(NodeBuilder &node) {
  if (!hasKnownFormat(node))
    return std::nullopt;
  StringRef padding = node.node.attr("padding").text;
  auto stride = innerNumbers(node, "strides", 1);
  if (!stride)
    return std::nullopt;
  SmallVector<NamedAttribute> options{node.attrs.integers("stride", *stride)};
  if (!node.node.attr("dilations").numbers.empty()) {
    auto dilation = innerNumbers(node, "dilations", 1);
    if (!dilation)
      return std::nullopt;
    options.push_back(node.attrs.integers("dilation", *dilation));
  }
  if (padding != "EXPLICIT") {
    options.push_back(node.attrs.word<dfg::PaddingModeAttr>(
        "padding", padding == "SAME" ? dfg::PaddingMode::Same : dfg::PaddingMode::Valid));
    return options;
  }
  ArrayRef<int64_t> pads(node.node.attr("explicit_paddings").numbers);
  if (pads.size() != 2 * (stride->size() + 2)) {
    node.fail("expected 'explicit_paddings' for each axis [unsupported-node]");
    return std::nullopt;
  }
  pads = node.hasChannelsFirst() ? pads.drop_front(4) : pads.drop_front(2).drop_back(2);
  options.push_back(node.attrs.integers("pads", pads));
  return options;
}

/// Returns the last size of a shape, if it is known.
static std::optional<int64_t> lastSize(ArrayRef<DimExpr> shape) {
  return shape.empty() ? std::nullopt : shape.back().constant();
}

/// Adds the number of groups: how often `kernelChannels` divides `channels`.
static bool addGroups(NodeBuilder &node, std::optional<int64_t> channels,
                      std::optional<int64_t> kernelChannels,
                      SmallVectorImpl<NamedAttribute> &options) {
  if (!channels || !kernelChannels || *kernelChannels == 0 || *channels % *kernelChannels != 0) {
    node.fail("expected the channels to be a multiple of the kernel's [unsupported-node]");
    return false;
  }
  options.push_back(node.attrs.integer("groups", *channels / *kernelChannels));
  return true;
}

static std::optional<int64_t> channelsOf(ArrayRef<DimExpr> kernelShape) {
  return kernelShape.size() < 3 ? std::nullopt : kernelShape.end()[-2].constant();
}

/// Returns the shape of a depthwise kernel, [.., channels, multiplier], as a kernel with one group
/// per channel.
static Shape depthwiseShape(ArrayRef<DimExpr> shape) {
  Shape kernel(shape);
  if (kernel.size() >= 3) {
    kernel.back() = kernel.end()[-2] * kernel.back();
    kernel.end()[-2] = DimExpr(1);
  }
  return kernel;
}

static bool isDepthwise(const OpRule &rule) { return rule.argument == "depthwise"; }

static Outcome buildConvolution(NodeBuilder &node, const OpRule &rule) {
  auto options = windowOptions(node);
  NodeValue x = imagesOf(node, node.in(0)), kernel = node.in(1);
  if (!x || !kernel || !options)
    return Outcome::Failed;
  if (isDepthwise(rule))
    kernel = node.reshape(kernel, depthwiseShape(dfg::shapeOf(kernel.getType())));
  if (!addGroups(node, lastSize(dfg::shapeOf(x.getType())),
                 channelsOf(dfg::shapeOf(kernel.getType())), *options))
    return Outcome::Failed;
  return node.done({inFormat(node, node.op("convolution", {x, kernel}, *options))});
}

/// Input 0 has the sizes of the images.
static Outcome buildInputGradient(NodeBuilder &node, const OpRule &rule) {
  std::optional<Shape> shape = node.dims(0);
  auto options = windowOptions(node);
  NodeValue kernel = node.in(1), grad = imagesOf(node, node.in(2));
  if (!shape || !kernel || !grad || !options)
    return Outcome::Failed;
  shape = forImages<DimExpr>(node, *shape);
  if (isDepthwise(rule))
    kernel = node.reshape(kernel, depthwiseShape(dfg::shapeOf(kernel.getType())));
  if (!addGroups(node, lastSize(*shape), channelsOf(dfg::shapeOf(kernel.getType())), *options))
    return Outcome::Failed;
  if (shape->size() < 2)
    return node.fail("expected the sizes of images with batch and channels [graph-edge]");
  options->push_back(node.attrs.sizes("sizes", ArrayRef(*shape).drop_front().drop_back()));
  return node.done({inFormat(node, node.op("convolution_transpose", {grad, kernel}, *options))});
}

/// Input 1 has the sizes of the kernel.
static Outcome buildKernelGradient(NodeBuilder &node, const OpRule &rule) {
  std::optional<Shape> given = node.dims(1);
  auto options = windowOptions(node);
  NodeValue x = imagesOf(node, node.in(0)), grad = imagesOf(node, node.in(2));
  if (!given || !x || !grad || !options)
    return Outcome::Failed;
  Shape shape = isDepthwise(rule) ? depthwiseShape(*given) : *given;
  if (!addGroups(node, lastSize(dfg::shapeOf(x.getType())), channelsOf(shape), *options))
    return Outcome::Failed;
  options->push_back(node.attrs.sizes("size", ArrayRef(shape).drop_back(2)));
  NodeValue slope = node.op("convolution_weights", {x, grad}, *options);
  return node.done({slope && isDepthwise(rule) ? node.reshape(slope, *given) : slope});
}

/// Returns the options of pooling.
static std::optional<SmallVector<NamedAttribute>> poolingOptions(NodeBuilder &node) {
  auto options = windowOptions(node);
  auto size = innerNumbers(node, "ksize", 1);
  if (!options || !size)
    return std::nullopt;
  options->push_back(node.attrs.integers("size", *size));
  return options;
}

/// `argument` names the dfg operation.
static Outcome buildPooling(NodeBuilder &node, const OpRule &rule) {
  auto options = poolingOptions(node);
  if (!options)
    return Outcome::Failed;
  NodeValue images = imagesOf(node, node.in(0));
  return node.done({inFormat(node, node.op(rule.argument, images, *options))});
}

/// Builds the gradient with respect to the operand of `forward`, given that of its result.
static NodeValue buildGradient(NodeBuilder &node, Operation *forward, const NodeValue &given) {
  Value grad = node.valueOf(given);
  if (!forward || !grad)
    return {};
  if (forward->getResult(0).getType() != grad.getType()) {
    node.fail("expected a gradient {}, but got {} [operand]",
              dfg::toText(forward->getResult(0).getType()), dfg::toText(grad.getType()));
    return {};
  }
  return node.record([&] {
    OpBuilder b(node.context());
    b.setInsertionPointToEnd(node.builder().currentBlock());
    return cast<dfg::DifferentiableOpInterface>(forward).buildOperandGradients(b, grad).front();
  });
}

/// Builds the gradient of a pooling of the images `x`, which have the channels last; `argument`
/// names the dfg operation.
static Outcome buildPoolingGradient(NodeBuilder &node, const OpRule &rule, NodeValue x,
                                    NodeValue grad) {
  auto options = poolingOptions(node);
  if (!options)
    return Outcome::Failed;
  Operation *forward = node.make(rule.argument, x, *options);
  return node.done({inFormat(node, buildGradient(node, forward, imagesOf(node, grad)))});
}

static Outcome buildMaxPoolGradient(NodeBuilder &node, const OpRule &rule) {
  return buildPoolingGradient(node, rule, imagesOf(node, node.in(0)), node.in(2));
}

/// The averaged values do not matter, only their sizes do.
static Outcome buildAvgPoolGradient(NodeBuilder &node, const OpRule &rule) {
  std::optional<Shape> shape = node.dims(0);
  NodeValue grad = node.in(1);
  if (!shape || !grad)
    return Outcome::Failed;
  NodeValue x =
      node.filled(0.0, forImages<DimExpr>(node, *shape), dfg::elementTypeOf(grad.getType()));
  return buildPoolingGradient(node, rule, x, grad);
}

static Operation *makeLocalResponseNorm(NodeBuilder &node, NodeValue x) {
  auto real = [&](StringRef name, double otherwise) {
    return node.attrs.real(name, node.node.has(name) ? node.node.attr(name).real : otherwise);
  };
  NamedAttribute options[] = {node.attrs.integer("radius", node.node.number("depth_radius", 5)),
                              real("bias", 1.0), real("alpha", 1.0), real("beta", 0.5)};
  return node.make("local_response_norm", x, options);
}

static Outcome buildLocalResponseNorm(NodeBuilder &node, const OpRule &) {
  Operation *norm = makeLocalResponseNorm(node, node.in(0));
  return node.done({norm ? norm->getResult(0) : NodeValue()});
}

static Outcome buildLocalResponseNormGradient(NodeBuilder &node, const OpRule &) {
  return node.done({buildGradient(node, makeLocalResponseNorm(node, node.in(1)), node.in(0))});
}

static constexpr const char *kWindowAttrs =
    "strides:ints, padding:string, data_format:string?, dilations:ints?, explicit_paddings:ints?";
static constexpr const char *kPoolingAttrs =
    "ksize:ints, strides:ints, padding:string, data_format:string?, explicit_paddings:ints?";
static constexpr const char *kNormAttrs =
    "depth_radius:int?, bias:float?, alpha:float?, beta:float?";

static constexpr OpRule kRules[] = {
    {"Conv2D", {"2 -> 1", kWindowAttrs}, buildConvolution},
    {"Conv2DBackpropFilter", {"3 -> 1", kWindowAttrs}, buildKernelGradient},
    {"Conv2DBackpropInput", {"3 -> 1", kWindowAttrs}, buildInputGradient},
    {"Conv3D", {"2 -> 1", kWindowAttrs}, buildConvolution},
    {"Conv3DBackpropFilterV2", {"3 -> 1", kWindowAttrs}, buildKernelGradient},
    {"Conv3DBackpropInputV2", {"3 -> 1", kWindowAttrs}, buildInputGradient},
    {"DepthwiseConv2dNative", {"2 -> 1", kWindowAttrs}, buildConvolution, "depthwise"},
    {"DepthwiseConv2dNativeBackpropFilter",
     {"3 -> 1", kWindowAttrs},
     buildKernelGradient,
     "depthwise"},
    {"DepthwiseConv2dNativeBackpropInput",
     {"3 -> 1", kWindowAttrs},
     buildInputGradient,
     "depthwise"},
    {"AvgPool", {"1 -> 1", kPoolingAttrs}, buildPooling, "avg_pool"},
    {"AvgPool3D", {"1 -> 1", kPoolingAttrs}, buildPooling, "avg_pool"},
    {"AvgPoolGrad", {"2 -> 1", kPoolingAttrs}, buildAvgPoolGradient, "avg_pool"},
    {"AvgPool3DGrad", {"2 -> 1", kPoolingAttrs}, buildAvgPoolGradient, "avg_pool"},
    {"MaxPool", {"1 -> 1", kPoolingAttrs}, buildPooling, "max_pool"},
    {"MaxPool3D", {"1 -> 1", kPoolingAttrs}, buildPooling, "max_pool"},
    {"MaxPoolGrad", {"3 -> 1", kPoolingAttrs}, buildMaxPoolGradient, "max_pool"},
    {"MaxPool3DGrad", {"3 -> 1", kPoolingAttrs}, buildMaxPoolGradient, "max_pool"},
    {"LRN", {"1 -> 1", kNormAttrs}, buildLocalResponseNorm},
    {"LRNGrad", {"3 -> 1", kNormAttrs}, buildLocalResponseNormGradient},
};

ArrayRef<OpRule> windowRules() { return kRules; }

} // namespace tfc::tensorflow
