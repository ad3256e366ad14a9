// Implements the rules of elementwise operations, comparisons, logic and selections.

#include "frontend/importer/CommonRules.h"
#include "frontend/onnx/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using dfg::DimExpr;

static Outcome buildPassing(NodeBuilder &node, const OpRule &) {
  return node.done({node.anyIn(0)});
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

/// Returns the second operand. In the first versions, the attribute `axis` says at which axis of
/// the first operand its axes begin.
static NodeValue alignedOperand(NodeBuilder &node) {
  NodeValue x = node.in(0), y = node.in(1);
  if (!x || !y || !node.flag("broadcast") || !node.node.has("axis"))
    return y;
  std::optional<int64_t> axis = node.axisOf(node.node.number("axis"), rankOf(x));
  if (!axis)
    return {};
  dfg::Shape shape = shapeOf(y);
  if (*axis + int64_t(shape.size()) < rankOf(x))
    shape.resize(rankOf(x) - *axis, DimExpr(1));
  return node.reshape(y, shape);
}

/// `argument` names the dfg operation.
static Outcome buildBinary(NodeBuilder &node, const OpRule &rule) {
  return node.done({node.op(rule.argument, {node.in(0), alignedOperand(node)})});
}

/// Applies `function` to the elements of two tensors if they are sizes and it knows all results.
static std::optional<NodeValue> combineSizes(NodeValue x, NodeValue y, dfg::CombineSizes function) {
  Type type = x.getSizes() ? x.getSizes()->elementType : Type();
  // Narrow and unsigned types wrap.
  if (!type || !y.getSizes() || !(type.isSignlessInteger(32) || type.isSignlessInteger(64)))
    return std::nullopt;
  auto sizes = dfg::combineSizes({x.getSizes().get(), y.getSizes().get()}, function);
  return sizes ? std::optional(NodeValue(std::move(*sizes))) : std::nullopt;
}

/// Compares sizes. Those of tensors are not negative, whatever they are computed from: exporters
/// compare them with -1.
static Outcome buildEqual(NodeBuilder &node, const OpRule &rule) {
  NodeValue x = node.in(0), y = alignedOperand(node);
  if (!x || !y)
    return Outcome::Failed;
  auto compare = [&](const DimExpr &a, const DimExpr &b) -> std::optional<DimExpr> {
    auto [least, most] = (a - b).interval();
    bool differs = (least && *least > 0) || (most && *most < 0) ||
                   (node.isSize(a) && b.constant().value_or(0) < 0) ||
                   (node.isSize(b) && a.constant().value_or(0) < 0);
    return a == b ? std::optional(DimExpr(1)) : differs ? std::optional(DimExpr(0)) : std::nullopt;
  };
  std::optional<NodeValue> sizes = combineSizes(x, y, compare);
  if (!sizes)
    return node.done({node.op(rule.argument, {x, y})});
  dfg::SizeTensor flags = *sizes->getSizes();
  flags.elementType = IntegerType::get(node.context(), 1);
  return node.done({NodeValue(std::move(flags))});
}

/// Returns `x / y`, rounded toward 0. Where `x` is known not to be negative, that is rounded down;
/// a model that computes `(h - 1) / 4` may need this to be known.
static std::optional<DimExpr> divideSize(NodeBuilder &node, const DimExpr &x, const DimExpr &y) {
  DimExpr low = DimExpr::floorDiv(x, y);
  if (y.isConstant(0) || !node.isSize(y))
    return std::nullopt;
  if (node.isWithin(DimExpr(0), x) || low * y == x)
    return y.constant() || low * y == x ? std::optional(low) : std::nullopt;
  if (!y.constant())
    return std::nullopt;
  return DimExpr::floorDiv(DimExpr::max(x, 0), y) -
         DimExpr::floorDiv(DimExpr::max(DimExpr(0) - x, 0), y);
}

/// Integers are divided as in C.
static Outcome buildDiv(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0), y = alignedOperand(node);
  if (!x || !y)
    return Outcome::Failed;
  if (isFloat(x))
    return node.done({node.op("div", {x, y})});
  auto divide = [&](const DimExpr &a, const DimExpr &b) { return divideSize(node, a, b); };
  if (std::optional<NodeValue> sizes = combineSizes(x, y, divide))
    return node.done({*sizes});
  return node.done({node.library().compute("_div", {x, y})});
}

/// Returns `x % y`, also for a number whose magnitude is less than a size: images are rolled by
/// that many.
static std::optional<DimExpr> remainderOf(NodeBuilder &node, const DimExpr &x, const DimExpr &y) {
  if (std::optional<int64_t> divisor = y.constant())
    return *divisor > 0 ? std::optional(DimExpr::mod(x, y)) : std::nullopt;
  if (x.constant().value_or(0) < 0)
    return node.isWithin(DimExpr(0) - x, y) ? std::optional(x + y) : std::nullopt;
  bool isLess = node.isSize(x) && node.isWithin(x + DimExpr(1), y);
  return isLess ? std::optional(x) : std::nullopt;
}

/// The remainder has the sign of the divisor or, with `fmod`, that of the dividend.
static Outcome buildMod(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0), y = node.in(1);
  if (!x || !y)
    return Outcome::Failed;
  if (node.flag("fmod"))
    return node.done({node.library().compute("_fmod", {x, y})});
  auto divide = [&](const DimExpr &a, const DimExpr &b) { return remainderOf(node, a, b); };
  if (std::optional<NodeValue> sizes = combineSizes(x, y, divide))
    return node.done({*sizes});
  return node.done({node.op("mod", {x, y})});
}

/// The exponent may have another type than the base, which is that of the result.
static Outcome buildPow(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0), y = alignedOperand(node);
  if (!x || !y)
    return Outcome::Failed;
  if (isFloat(x))
    return node.done({node.op("pow", {x, node.cast(y, elementOf(x))})});
  if (!isFloat(y))
    return node.done({node.library().compute("_power", {x, node.cast(y, elementOf(x))})});
  Type wide = Float64Type::get(node.context());
  NodeValue power = node.op("pow", {node.cast(x, wide), node.cast(y, wide)});
  return node.done({node.cast(power, elementOf(x))});
}

/// Combines any number of inputs; `argument` names the dfg operation.
static NodeValue combine(NodeBuilder &node, StringRef op) {
  SmallVector<NodeValue> inputs = node.allInputs();
  NodeValue result = inputs.front();
  for (const NodeValue &next : ArrayRef(inputs).drop_front())
    result = node.op(op, {result, next});
  return result;
}

static Outcome buildVariadic(NodeBuilder &node, const OpRule &rule) {
  return node.done({combine(node, rule.argument)});
}

/// Returns the smaller size. Where a number limits a size, as that of the rows of a table, the
/// model may need the size to be within it.
static DimExpr smallerOf(NodeBuilder &node, const DimExpr &a, const DimExpr &b) {
  if (a.constant() ? node.isWithin(b, a) : node.isSize(a - b))
    return b;
  return (a.constant() ? node.isSize(b - a) : node.isWithin(a, b)) ? a : DimExpr::min(a, b);
}

static DimExpr largerOf(NodeBuilder &node, const DimExpr &a, const DimExpr &b) {
  if (a.constant() ? node.isWithin(a, b) : node.isSize(b - a))
    return b;
  return (b.constant() ? node.isWithin(b, a) : node.isSize(a - b)) ? a : DimExpr::max(a, b);
}

/// `argument` names the dfg operation.
static Outcome buildExtremum(NodeBuilder &node, const OpRule &rule) {
  bool isLeast = rule.argument == "minimum";
  auto pick = [&](const DimExpr &a, const DimExpr &b) -> std::optional<DimExpr> {
    return isLeast ? smallerOf(node, a, b) : largerOf(node, a, b);
  };
  SmallVector<NodeValue> inputs = node.allInputs();
  NodeValue result = inputs.front();
  for (const NodeValue &next : ArrayRef(inputs).drop_front()) {
    if (!result || !next)
      return Outcome::Failed;
    std::optional<NodeValue> sizes = combineSizes(result, next, pick);
    result = sizes ? *sizes : node.op(rule.argument, {result, next});
  }
  return node.done({result});
}

static Outcome buildMean(NodeBuilder &node, const OpRule &) {
  NodeValue sum = combine(node, "add");
  if (!sum)
    return Outcome::Failed;
  return node.done({node.op("div", {sum, node.scalar(double(node.numInputs()), elementOf(sum))})});
}

static Outcome buildBitShift(NodeBuilder &node, const OpRule &) {
  StringRef direction = node.node.attr("direction").text;
  if (direction != "LEFT" && direction != "RIGHT")
    return node.fail("expected the direction LEFT or RIGHT, but got '" + direction +
                     "' [graph-attribute]");
  return node.done(
      {node.op(direction == "LEFT" ? "shift_left" : "shift_right", {node.in(0), node.in(1)})});
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

static NodeValue limit(NodeBuilder &node, StringRef op, NodeValue x, const NodeValue &bound) {
  return x && bound ? node.op(op, {x, bound}) : NodeValue();
}

static Outcome buildClip(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  if (node.hasInput(1))
    x = limit(node, "maximum", x, node.in(1));
  if (node.hasInput(2))
    x = limit(node, "minimum", x, node.in(2));
  return node.done({x});
}

static Outcome buildOldClip(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  if (x && node.node.has("min"))
    x = limit(node, "maximum", x, node.scalar(node.node.real("min"), elementOf(x)));
  if (x && node.node.has("max"))
    x = limit(node, "minimum", x, node.scalar(node.node.real("max"), elementOf(x)));
  return node.done({x});
}

static Outcome buildIsInf(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0), found = node.op("is_inf", x);
  if (!found)
    return Outcome::Failed;
  NodeValue zero = node.scalar(0.0, elementOf(x));
  if (!node.node.number("detect_positive", 1))
    found = node.op("logical_and", {found, node.op("less", {x, zero})});
  if (!node.node.number("detect_negative", 1))
    found = node.op("logical_and", {found, node.op("greater", {x, zero})});
  return node.done({found});
}

/// In the first versions, a vector of slopes has one for each channel.
static Outcome buildPRelu(NodeBuilder &node, const OpRule &rule) {
  NodeValue x = node.in(0), slope = node.in(1);
  if (!x || !slope)
    return Outcome::Failed;
  if (rule.argument == "channels" && rankOf(slope) == 1 && rankOf(x) > 1 &&
      !shapeOf(slope).front().isConstant(1)) {
    dfg::Shape shape(rankOf(x) - 1, DimExpr(1));
    shape.front() = shapeOf(slope).front();
    slope = node.reshape(slope, shape);
  }
  return node.done({node.library().compute("_prelu", {x, slope})});
}

/// Attributes of the first versions, see `alignedOperand`.
static constexpr const char *kOldBroadcast = "axis:int?, broadcast:int?";

static constexpr OpRule kRules[] = {
    {"Identity", "1 -> 1", buildPassing, "", 1, Codes::Moved},
    // Arithmetic.
    {"Add", {"2 -> 1", kOldBroadcast}, buildBinary, "add"},
    {"Sub", {"2 -> 1", kOldBroadcast}, buildBinary, "sub"},
    {"Mul", {"2 -> 1", kOldBroadcast}, buildBinary, "mul"},
    {"Div", {"2 -> 1", kOldBroadcast}, buildDiv},
    {"Pow", {"2 -> 1", kOldBroadcast}, buildPow},
    {"Mod", "2 -> 1; fmod:int?", buildMod},
    {"Max", "1+ -> 1", buildExtremum, "maximum"},
    {"Min", "1+ -> 1", buildExtremum, "minimum"},
    {"Sum", "1+ -> 1", buildVariadic, "add"},
    {"Mean", "1+ -> 1", buildMean},
    {"Neg", "1 -> 1", buildOperation, "neg"},
    {"Abs", "1 -> 1", buildOperation, "abs"},
    {"Sign", "1 -> 1", buildOperation, "sign"},
    {"Sqrt", "1 -> 1", buildOperation, "sqrt"},
    {"Reciprocal", "1 -> 1", buildOperation, "reciprocal"},
    {"Floor", "1 -> 1", buildRounding, "floor"},
    {"Ceil", "1 -> 1", buildRounding, "ceil"},
    {"Round", "1 -> 1", buildRounding, "round"},
    // Functions.
    {"Exp", "1 -> 1", buildOperation, "exp"},
    {"Log", "1 -> 1", buildOperation, "log"},
    {"Sin", "1 -> 1", buildOperation, "sin"},
    {"Cos", "1 -> 1", buildOperation, "cos"},
    {"Tan", "1 -> 1", buildOperation, "tan"},
    {"Asin", "1 -> 1", buildOperation, "asin"},
    {"Acos", "1 -> 1", buildOperation, "acos"},
    {"Atan", "1 -> 1", buildOperation, "atan"},
    {"Sinh", "1 -> 1", buildOperation, "sinh"},
    {"Cosh", "1 -> 1", buildOperation, "cosh"},
    {"Tanh", "1 -> 1", buildOperation, "tanh"},
    {"Asinh", "1 -> 1", buildOperation, "asinh"},
    {"Acosh", "1 -> 1", buildOperation, "acosh"},
    {"Atanh", "1 -> 1", buildOperation, "atanh"},
    {"Erf", "1 -> 1", buildOperation, "erf"},
    {"Sigmoid", "1 -> 1", buildOperation, "sigmoid"},
    {"Softplus", "1 -> 1", buildOperation, "softplus"},
    {"Softsign", "1 -> 1", buildOperation, "softsign"},
    {"Relu", "1 -> 1", buildOperation, "relu"},
    {"PRelu", "2 -> 1", buildPRelu, "channels"},
    {"PRelu", "2 -> 1", buildPRelu, "", 7},
    {"Clip", "1 -> 1; min:float?, max:float?", buildOldClip},
    {"Clip", "1-3 -> 1", buildClip, "", 11},
    // Comparison and logic.
    {"Equal", {"2 -> 1", kOldBroadcast}, buildEqual, "equal"},
    {"Less", {"2 -> 1", kOldBroadcast}, buildBinary, "less"},
    {"LessOrEqual", "2 -> 1", buildBinary, "less_equal"},
    {"Greater", {"2 -> 1", kOldBroadcast}, buildBinary, "greater"},
    {"GreaterOrEqual", "2 -> 1", buildBinary, "greater_equal"},
    {"And", {"2 -> 1", kOldBroadcast}, buildBinary, "logical_and"},
    {"Or", {"2 -> 1", kOldBroadcast}, buildBinary, "logical_or"},
    {"Xor", {"2 -> 1", kOldBroadcast}, buildBinary, "logical_xor"},
    {"Not", "1 -> 1", buildOperation, "logical_not"},
    {"IsNaN", "1 -> 1", buildOperation, "is_nan"},
    {"IsInf", "1 -> 1; detect_negative:int?, detect_positive:int?", buildIsInf},
    {"Where", "3 -> 1", buildOperation, "select"},
    {"BitShift", "2 -> 1; direction:string", buildBitShift},
    {"BitwiseAnd", "2 -> 1", buildOperation, "bitwise_and"},
    {"BitwiseOr", "2 -> 1", buildOperation, "bitwise_or"},
    {"BitwiseXor", "2 -> 1", buildOperation, "bitwise_xor"},
    {"BitwiseNot", "1 -> 1", buildOperation, "bitwise_not"},
};

ArrayRef<OpRule> elementwiseRules() { return kRules; }

} // namespace tfc::onnx
