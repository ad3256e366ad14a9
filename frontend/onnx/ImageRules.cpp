// Implements the rules that resize images.

#include "frontend/onnx/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using dfg::DimExpr;

namespace {
/// The new sizes, or the scales, of the axes to resize.
struct Target {
  std::optional<dfg::Shape> sizes;
  std::optional<SmallVector<double>> scales;
  /// The attribute that says what happens to the aspect ratio.
  std::string policy = "stretch";
};
} // namespace

static std::string textOf(NodeBuilder &node, StringRef attr, StringRef otherwise) {
  return node.node.has(attr) ? node.node.attr(attr).text : otherwise.str();
}

/// Returns the axes to resize: those given, or all.
static std::optional<SmallVector<int64_t>> axesOf(NodeBuilder &node, NodeValue x) {
  SmallVector<int64_t> axes;
  if (!node.node.has("axes")) {
    for (int64_t axis = 0; axis < rankOf(x); ++axis)
      axes.push_back(axis);
    return axes;
  }
  for (int64_t given : node.ints("axes")) {
    std::optional<int64_t> axis = node.axisOf(given, rankOf(x));
    if (!axis)
      return std::nullopt;
    axes.push_back(*axis);
  }
  return axes;
}

/// Drops axes that keep their size, which would only be copied.
static void dropKept(NodeValue x, SmallVectorImpl<int64_t> &axes, Target &target) {
  SmallVector<int64_t> kept;
  Target rest;
  if (target.sizes)
    rest.sizes.emplace();
  if (target.scales)
    rest.scales.emplace();
  for (auto [i, axis] : enumerate(axes)) {
    bool isKept =
        target.scales ? (*target.scales)[i] == 1.0 : (*target.sizes)[i] == shapeOf(x)[axis];
    if (isKept)
      continue;
    kept.push_back(axis);
    if (target.sizes)
      rest.sizes->push_back((*target.sizes)[i]);
    if (target.scales)
      rest.scales->push_back((*target.scales)[i]);
  }
  axes.assign(kept);
  target = rest;
}

static Outcome resize(NodeBuilder &node, NodeValue x, Target target, NodeValue roi) {
  std::optional<SmallVector<int64_t>> axes = x ? axesOf(node, x) : std::nullopt;
  if (!axes)
    return Outcome::Failed;
  size_t count = target.sizes ? target.sizes->size() : target.scales->size();
  if (count != axes->size())
    return node.fail("expected a new size or a scale for each of " + Twine(axes->size()) +
                     " axes, but got " + Twine(count) + " [graph-edge]");
  if (!roi && target.policy == "stretch")
    dropKept(x, *axes, target);
  if (axes->empty())
    return node.done({x});
  SmallVector<LibraryCall::Argument> arguments{
      {"along", dfg::Shape(axes->begin(), axes->end())},
      {"method", textOf(node, "mode", "nearest")},
      {"position", textOf(node, "coordinate_transformation_mode",
                          node.node.version < 11 ? "asymmetric" : "half_pixel")},
      {"nearest",
       textOf(node, "nearest_mode", node.node.version < 11 ? "floor" : "round_prefer_floor")},
      {"policy", target.policy},
  };
  if (target.sizes)
    arguments.push_back({"new_sizes", *target.sizes});
  if (target.scales)
    arguments.push_back({"scales", *target.scales});
  if (!roi)
    return node.done({node.library().compute("_resize", {x}, arguments)});
  return node.done({node.library().compute("_resize_region", {x, roi}, arguments)});
}

/// Returns the sizes that scales which depend on sizes lead to, as in an image that gets the size
/// of another one, where all of them are integers; std::nullopt with an error otherwise.
static std::optional<dfg::Shape> scaledSizes(NodeBuilder &node, NodeValue x,
                                             ArrayRef<Ratio> scales) {
  std::optional<SmallVector<int64_t>> axes = axesOf(node, x);
  dfg::Shape sizes;
  for (auto [axis, scale] : zip(axes.value_or(SmallVector<int64_t>()), scales)) {
    std::optional<DimExpr> size = (Ratio{shapeOf(x)[axis]} * scale).asInteger();
    if (!size) {
      node.error() << "expected a scale of axis " << axis << " that gives a whole size, but got '"
                   << scale.numerator.str() << "' / '" << scale.denominator.str()
                   << "' [dynamic-shape]";
      return std::nullopt;
    }
    sizes.push_back(*size);
  }
  // A wrong number of scales is reported as that of sizes.
  sizes.resize(scales.size(), DimExpr(1));
  return axes ? std::optional(std::move(sizes)) : std::nullopt;
}

/// Returns `size * scale` rounded down, computed in floats of 32 bits as models expect it.
static std::optional<DimExpr> scaledInFloats(NodeBuilder &node, const DimExpr &size, double scale) {
  Type f32 = Float32Type::get(node.context()), i64 = IntegerType::get(node.context(), 64);
  std::optional<Ratio> bound = Ratio::above(scale);
  if (std::optional<int64_t> known = size.constant())
    return DimExpr(int64_t(float(*known) * float(scale)));
  NodeValue product =
      node.op("mul", {node.cast(node.size(size, i64), f32), node.scalar(scale, f32)});
  std::string key = size.canonical() + " * " + std::to_string(scale);
  return bound ? node.foundSize(node.cast(node.op("floor", product), i64),
                                (Ratio{size} * *bound).limit(), key)
               : std::nullopt;
}

/// Adds the sizes to which scales lead if some depend on sizes, and only floats hold them.
static bool addRoundedSizes(NodeBuilder &node, NodeValue x, Target &target) {
  std::optional<SmallVector<int64_t>> axes = axesOf(node, x);
  if (!axes || axes->size() != target.scales->size())
    return axes.has_value();
  bool isRounded = false;
  dfg::Shape sizes;
  for (auto [axis, scale] : zip(*axes, *target.scales)) {
    const DimExpr size = shapeOf(x)[axis];
    std::optional<Ratio> exact = Ratio::exact(scale);
    isRounded |= !exact && !size.constant();
    std::optional<DimExpr> scaled =
        exact ? (Ratio{size} * *exact).floor() : scaledInFloats(node, size, scale);
    if (!scaled)
      return true;
    sizes.push_back(*scaled);
  }
  if (isRounded)
    target.sizes = sizes;
  return true;
}

/// Returns the scales of input `i`, as numbers or as the sizes that they lead to.
static std::optional<Target> scalesOf(NodeBuilder &node, unsigned i) {
  Target target;
  NodeValue x = node.in(0);
  std::optional<SmallVector<Ratio>> ratios;
  if (x && !node.knownReals(i) && (ratios = node.ratios(i)))
    target.sizes = scaledSizes(node, x, *ratios);
  else
    target.scales = node.reals(i);
  if (x && target.scales && !addRoundedSizes(node, x, target))
    return std::nullopt;
  return target.sizes || target.scales ? std::optional(std::move(target)) : std::nullopt;
}

/// Input 1 is the region for tf_crop_and_resize, input 2 the scales, and input 3 the sizes, of
/// which one is given.
static Outcome buildResize(NodeBuilder &node, const OpRule &) {
  std::optional<Target> target;
  const dfg::SizeTensor *sizes = node.hasInput(3) ? node.sizes(3) : nullptr;
  if (!node.hasInput(3) || (sizes && sizes->values.empty()))
    target = scalesOf(node, 2);
  else if (std::optional<dfg::Shape> given = node.dims(3))
    target = Target{given, std::nullopt, textOf(node, "keep_aspect_ratio_policy", "stretch")};
  if (!target)
    return Outcome::Failed;
  bool hasRegion = node.node.attr("coordinate_transformation_mode").text == "tf_crop_and_resize";
  NodeValue roi = hasRegion ? node.in(1) : NodeValue();
  if (hasRegion && !roi)
    return Outcome::Failed;
  return resize(node, node.in(0), *target, roi);
}

/// Resizes by the scales of input 1.
static Outcome buildScaled(NodeBuilder &node, const OpRule &) {
  std::optional<Target> target = scalesOf(node, 1);
  return target ? resize(node, node.in(0), *target, NodeValue()) : Outcome::Failed;
}

static Outcome buildOldUpsample(NodeBuilder &node, const OpRule &) {
  Target target;
  ArrayRef<double> scales = node.node.attr("scales").reals;
  target.scales = SmallVector<double>(scales);
  return resize(node, node.in(0), target, NodeValue());
}

static constexpr const char *kRoiAlign =
    "mode:string?, output_height:int>=1?, output_width:int>=1?, sampling_ratio:int?, "
    "spatial_scale:float?";

/// The first version, `argument`, has no coordinates of half pixels.
static Outcome buildRoiAlign(NodeBuilder &node, const OpRule &rule) {
  SmallVector<LibraryCall::Argument> arguments;
  if (!rule.argument.empty())
    arguments.push_back({"coordinate_transformation_mode", rule.argument.str()});
  return node.done({node.library().compute("_roi_align", node.allInputs(), arguments)});
}

static constexpr OpRule kRules[] = {
    {"Upsample", "1 -> 1; scales:floats, mode:string?", buildOldUpsample, "", 7},
    {"Upsample", "2 -> 1; mode:string?", buildScaled, "", 9},
    {"Resize", "2 -> 1; mode:string?", buildScaled, "", 10},
    {"Resize",
     "1-4 -> 1; mode:string?, coordinate_transformation_mode:string?, cubic_coeff_a:float?, "
     "exclude_outside:int?, extrapolation_value:float?, nearest_mode:string?, antialias:int?, "
     "axes:ints?, keep_aspect_ratio_policy:string?",
     buildResize, "", 11},
    {"RoiAlign", {"3 -> 1", kRoiAlign}, buildRoiAlign, "output_half_pixel"},
    {"RoiAlign",
     {"3 -> 1; coordinate_transformation_mode:string?", kRoiAlign},
     buildRoiAlign,
     "",
     16},
};

ArrayRef<OpRule> imageRules() { return kRules; }

} // namespace tfc::onnx
