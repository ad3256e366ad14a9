// Implements the rules of elementwise operations, their gradients, comparisons and selections. Most
// of them name the dfg operation and have no code.

#include "frontend/importer/CommonRules.h"
#include "frontend/tensorflow/Flows.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// Sizes may be computed in floats.
static Outcome buildCast(NodeBuilder &node, const OpRule &) {
  constexpr int64_t kMostSizes = 64;
  NodeValue x = node.in(0);
  Type type = node.dtype("DstT");
  auto shape = x && type ? dfg::constantsOf(dfg::shapeOf(x.getType())) : std::nullopt;
  auto count = shape ? dfg::countSizes(*shape) : std::nullopt;
  bool isWide = type && type.isSignlessInteger(64);
  if (count && *count <= kMostSizes && x.getValue() && (isWide || type.isSignlessInteger(32)) &&
      isa<FloatType>(dfg::elementTypeOf(x.getType())))
    if (auto values = truncateReals(x.getValue(), isWide, node.entry.knownValues))
      if (auto sizes = dfg::makeSizes(type, *shape, *values)) {
        node.followInput(0);
        return node.done({NodeValue(std::move(*sizes))});
      }
  return node.done({node.cast(x, type)});
}

static Outcome buildAddN(NodeBuilder &node, const OpRule &) {
  NodeValue sum = node.data(0);
  for (unsigned i = 1; i < node.numInputs(); ++i) {
    NodeValue next = node.data(i);
    bool isList = sum && isa<dfg::ListType>(sum.getType());
    if (sum && next && isList != isa<dfg::ListType>(next.getType()))
      return node.fail("expected only tensors or only TensorArrays [graph-edge]");
    sum = isList ? FlowBuilder(node).addLists(sum, next, i) : node.op("add", {sum, next});
  }
  return node.done({sum});
}

/// The condition may be a vector that selects rows.
static Outcome buildSelect(NodeBuilder &node, const OpRule &) {
  NodeValue condition = node.in(0), onTrue = node.in(1), onFalse = node.in(2);
  if (!condition || !onTrue || !onFalse)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(condition.getType());
  size_t rank = dfg::shapeOf(onTrue.getType()).size();
  if (shape.size() == 1 && rank > 1) {
    shape.resize(rank, dfg::DimExpr(1));
    condition = node.reshape(condition, shape);
  }
  return node.done({node.op("select", {condition, onTrue, onFalse})});
}

/// TensorFlow moves amounts outside of a number's bits to the nearest one inside.
static Outcome buildShift(NodeBuilder &node, const OpRule &rule) {
  NodeValue x = node.in(0);
  if (!x)
    return Outcome::Failed;
  int64_t bits = dfg::elementTypeOf(x.getType()).getIntOrFloatBitWidth();
  NodeValue amount = node.library().compute("_shift_amount", {node.in(1)},
                                            {{"bits", dfg::Shape{dfg::DimExpr(bits)}}});
  return node.done({node.op(rule.argument, {x, amount})});
}

/// Small powers of integers that are known become products.
static Outcome buildPow(NodeBuilder &node, const OpRule &) {
  NodeValue base = node.in(0);
  if (!base)
    return Outcome::Failed;
  if (isa<FloatType>(dfg::elementTypeOf(base.getType())))
    return node.done({node.op("pow", {base, node.in(1)})});
  std::optional<int64_t> exponent;
  auto known = node.knownRatios(1);
  if (auto number = known && known->size() == 1 ? known->front().asInteger() : std::nullopt)
    exponent = number->constant();
  NodeValue given = node.in(1);
  constexpr int64_t kMostFactors = 64;
  if (!given || !exponent || *exponent < 0 || *exponent > kMostFactors)
    return node.done({node.library().compute("_integer_power", {base, given})});
  // The exponent may have more axes than the base, of one element each.
  dfg::Shape shape = dfg::shapeOf(base.getType());
  size_t rank = dfg::shapeOf(given.getType()).size();
  if (rank > shape.size())
    shape.insert(shape.begin(), rank - shape.size(), dfg::DimExpr(1));
  base = node.reshape(base, shape);
  NodeValue result = base;
  if (*exponent == 0)
    result = node.filled(1, shape, dfg::elementTypeOf(base.getType()));
  for (int64_t i = 1; i < *exponent; ++i)
    result = node.op("mul", {result, base});
  return node.done({result});
}

/// TensorFlow rounds the quotient of floats, so that 1 / 0.1 is 10; `floordiv` is exact.
static Outcome buildFloorDiv(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0), y = node.in(1);
  if (!x || !y)
    return Outcome::Failed;
  bool isFloat = isa<FloatType>(dfg::elementTypeOf(x.getType()));
  return node.done(
      {isFloat ? node.op("floor", node.op("div", {x, y})) : node.op("floordiv", {x, y})});
}

/// Sizes that are known must be as the node says; calls check the others.
static Outcome buildEnsureShape(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.data(0);
  const PartialShape &expected = node.node.attr("shape").shape;
  if (!x || !node.node.has("shape") || !expected.hasRank)
    return node.done({x});
  dfg::Shape shape = dfg::shapeOf(x.getType());
  bool isAlike = shape.size() == expected.sizes.size();
  dfg::Shape wanted = shape;
  for (size_t i = 0; isAlike && i < shape.size(); ++i) {
    if (expected.sizes[i] < 0)
      continue;
    wanted[i] = dfg::DimExpr(expected.sizes[i]);
    isAlike = (shape[i] - wanted[i]).constant().value_or(0) == 0;
  }
  return isAlike
             ? node.done({node.ensureSizes(x, wanted)})
             : node.fail("got {}, which has another shape [graph-edge]", dfg::toText(x.getType()));
}

static Outcome buildPassing(NodeBuilder &node, const OpRule &) { return node.done({node.data(0)}); }

static Outcome buildZerosLike(NodeBuilder &node, const OpRule &rule) {
  FlowBuilder flows(node);
  if (auto flow = flows.flowOf({node.index, 0}))
    return node.done({flows.zerosLike(0, *flow)});
  RankedTensorType type = node.typeOf(0);
  if (!type)
    return Outcome::Failed;
  node.followInput(0);
  double value = rule.argument == "1" ? 1 : 0;
  return node.done({node.filled(value, dfg::shapeOf(type), type.getElementType())});
}

static constexpr OpRule kRules[] = {
    // Forwarding.
    {"Identity", "1 -> 1", buildPassing, "", OpRule::Passes},
    {"Snapshot", "1 -> 1", buildPassing, "", OpRule::Planes},
    {"StopGradient", "1 -> 1", buildPassing, "", OpRule::Passes},
    {"PreventGradient", "1 -> 1", buildPassing, "", OpRule::Passes},
    {"GuaranteeConst", "1 -> 1", buildPassing, "", OpRule::Planes},
    {"CheckNumericsV2", "1 -> 1", buildPassing},
    {"PlaceholderWithDefault", "1 -> 1", buildPassing, "", OpRule::Planes},
    {"CheckNumerics", "1 -> 1", buildPassing},
    {"Print", "1+ -> 1", buildPassing},
    {"EnsureShape", "1 -> 1; shape:shape?", buildEnsureShape, "", OpRule::Planes},
    {"RefIdentity", "1 -> 1", buildPassing, "", OpRule::Passes | OpRule::Reference},
    {"DeepCopy", "1 -> 1", buildPassing, "", OpRule::Planes},
    // Arithmetic.
    {"Add", "2 -> 1", buildAddN, "", OpRule::Planes},
    {"AddV2", "2 -> 1", buildAddN, "", OpRule::Planes},
    {"AddN", "N -> 1; N:int>=1?", buildAddN, "", OpRule::Planes},
    {"AccumulateNV2", "N -> 1; N:int>=1?", buildAddN, "", OpRule::Planes},
    {"Sub", "2 -> 1", buildOperation, "sub", OpRule::Planes},
    {"Mul", "2 -> 1", buildOperation, "mul"},
    {"RealDiv", "2 -> 1", buildOperation, "div"},
    {"FloorDiv", "2 -> 1", buildFloorDiv},
    {"FloorMod", "2 -> 1", buildOperation, "mod"},
    {"Pow", "2 -> 1", buildPow, "", 0, 0, "powers of integers from 2^56 on"},
    {"Maximum", "2 -> 1", buildOperation, "maximum"},
    {"Minimum", "2 -> 1", buildOperation, "minimum"},
    {"Neg", "1 -> 1", buildOperation, "neg", OpRule::Planes},
    {"Abs", "1 -> 1", buildOperation, "abs"},
    {"Sign", "1 -> 1", buildOperation, "sign"},
    {"Square", "1 -> 1", buildOperation, "square"},
    {"Sqrt", "1 -> 1", buildOperation, "sqrt"},
    {"Rsqrt", "1 -> 1", buildOperation, "rsqrt"},
    {"Reciprocal", "1 -> 1", buildOperation, "reciprocal"},
    {"Inv", "1 -> 1", buildOperation, "reciprocal"},
    // Functions.
    {"Exp", "1 -> 1", buildOperation, "exp"},
    {"Expm1", "1 -> 1", buildOperation, "expm1"},
    {"Log", "1 -> 1", buildOperation, "log"},
    {"Log1p", "1 -> 1", buildOperation, "log1p"},
    {"Sin", "1 -> 1", buildOperation, "sin"},
    {"Cos", "1 -> 1", buildOperation, "cos"},
    {"Tan", "1 -> 1", buildOperation, "tan"},
    {"Asin", "1 -> 1", buildOperation, "asin"},
    {"Acos", "1 -> 1", buildOperation, "acos"},
    {"Atan", "1 -> 1", buildOperation, "atan"},
    {"Atan2", "2 -> 1", buildOperation, "atan2"},
    {"Sinh", "1 -> 1", buildOperation, "sinh"},
    {"Cosh", "1 -> 1", buildOperation, "cosh"},
    {"Tanh", "1 -> 1", buildOperation, "tanh"},
    {"Asinh", "1 -> 1", buildOperation, "asinh"},
    {"Acosh", "1 -> 1", buildOperation, "acosh"},
    {"Atanh", "1 -> 1", buildOperation, "atanh"},
    {"Erf", "1 -> 1", buildOperation, "erf"},
    {"Erfc", "1 -> 1", buildOperation, "erfc"},
    {"Sigmoid", "1 -> 1", buildOperation, "sigmoid"},
    {"Softplus", "1 -> 1", buildOperation, "softplus"},
    {"Softsign", "1 -> 1", buildOperation, "softsign"},
    {"Relu", "1 -> 1", buildOperation, "relu"},
    {"Elu", "1 -> 1", buildOperation, "elu"},
    {"Selu", "1 -> 1", buildOperation, "selu"},
    {"Floor", "1 -> 1", buildRounding, "floor"},
    {"Ceil", "1 -> 1", buildRounding, "ceil"},
    {"Rint", "1 -> 1", buildOperation, "round"},
    {"Round", "1 -> 1", buildRounding, "round"},
    // Comparison and logic.
    {"Equal", "2 -> 1", buildOperation, "equal"},
    {"NotEqual", "2 -> 1", buildOperation, "not_equal"},
    {"Less", "2 -> 1", buildOperation, "less"},
    {"LessEqual", "2 -> 1", buildOperation, "less_equal"},
    {"Greater", "2 -> 1", buildOperation, "greater"},
    {"GreaterEqual", "2 -> 1", buildOperation, "greater_equal"},
    {"LogicalAnd", "2 -> 1", buildOperation, "logical_and"},
    {"LogicalOr", "2 -> 1", buildOperation, "logical_or"},
    {"LogicalNot", "1 -> 1", buildOperation, "logical_not"},
    {"IsNan", "1 -> 1", buildOperation, "is_nan"},
    {"IsInf", "1 -> 1", buildOperation, "is_inf"},
    {"IsFinite", "1 -> 1", buildOperation, "is_finite"},
    {"BitwiseAnd", "2 -> 1", buildOperation, "bitwise_and"},
    {"BitwiseOr", "2 -> 1", buildOperation, "bitwise_or"},
    {"BitwiseXor", "2 -> 1", buildOperation, "bitwise_xor"},
    {"Invert", "1 -> 1", buildOperation, "bitwise_not"},
    {"LeftShift", "2 -> 1", buildShift, "shift_left"},
    {"RightShift", "2 -> 1", buildShift, "shift_right"},
    {"Select", "3 -> 1", buildSelect, "", OpRule::Planes},
    {"SelectV2", "3 -> 1", buildOperation, "select", OpRule::Planes},
    {"Cast", "1 -> 1; DstT:type", buildCast},
    {"ZerosLike", "1 -> 1", buildZerosLike, "0", OpRule::Planes},
    {"OnesLike", "1 -> 1", buildZerosLike, "1"},
};

ArrayRef<OpRule> elementwiseRules() { return kRules; }

} // namespace tfc::tensorflow
