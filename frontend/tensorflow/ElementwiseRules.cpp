// Elementwise operations, their gradients, comparisons, selections.

#include "frontend/tensorflow/Importer.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// `argument` is a formula over the inputs.
static Outcome buildFormula(NodeBuilder &node, const OpRule &rule) {
  SmallVector<Value> inputs = node.allInputs();
  if (inputs.empty())
    return node.fail("expected an input [graph-edge]");
  for (Value input : inputs)
    if (input && !isa<RankedTensorType>(input.getType()))
      return node.fail("expected a tensor, but got a TensorArray [graph-edge]");
  return node.done({node.formula(rule.argument, inputs)});
}

/// `argument` is two formulas: for floats, and behind ';' for integers.
static Outcome buildByKind(NodeBuilder &node, const OpRule &rule) {
  Value first = node.in(0);
  if (!first)
    return Outcome::Failed;
  auto [forFloats, forIntegers] = rule.argument.split(';');
  bool isFloat = isa<FloatType>(dfg::elementTypeOf(first.getType()));
  return node.done({node.formula(isFloat ? forFloats : forIntegers, node.allInputs())});
}

static Outcome buildCast(NodeBuilder &node, const OpRule &) {
  Value x = node.in(0);
  return node.done({node.cast(x, node.dtype("DstT"))});
}

static Outcome buildAddN(NodeBuilder &node, const OpRule &) {
  if (node.numInputs() == 0)
    return node.fail("expected at least one input [graph-edge]");
  Value sum = node.data(0);
  for (unsigned i = 1; i < node.numInputs(); ++i) {
    Value next = node.data(i);
    bool isList = sum && isa<dfg::ListType>(sum.getType());
    sum = isList ? node.addLists(sum, next, i) : node.op("add", {sum, next});
  }
  return node.done({sum});
}

/// The condition may be a vector that chooses rows.
static Outcome buildSelect(NodeBuilder &node, const OpRule &) {
  Value condition = node.in(0), onTrue = node.in(1), onFalse = node.in(2);
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

static Outcome buildLeakyRelu(NodeBuilder &node, const OpRule &) {
  double slope = node.node.has("alpha") ? node.node.attr("alpha").real : 0.2;
  return node.done({node.op("leaky_relu", node.in(0), node.realAttr("slope", slope))});
}

static Outcome buildLeakyReluGrad(NodeBuilder &node, const OpRule &) {
  double slope = node.node.has("alpha") ? node.node.attr("alpha").real : 0.2;
  Value g = node.in(0), x = node.in(1);
  if (!g || !x)
    return Outcome::Failed;
  Value scaled = node.op("mul", {g, node.scalar(slope, dfg::elementTypeOf(g.getType()))});
  return node.done({node.formula("select(greater(a,0),b,c)", {x, g, scaled})});
}

/// Powers of integers are products; the exponent must be known.
static Outcome buildPow(NodeBuilder &node, const OpRule &) {
  Value base = node.in(0);
  if (!base)
    return Outcome::Failed;
  if (isa<FloatType>(dfg::elementTypeOf(base.getType())))
    return node.done({node.op("pow", {base, node.in(1)})});
  std::optional<int64_t> exponent = node.integer(1);
  if (!exponent)
    return Outcome::Failed;
  if (*exponent < 0 || *exponent > 64)
    return node.fail("expected a power of integers between 0 and 64, but got " + Twine(*exponent) +
                     " [dynamic-shape]");
  Value result = node.formula("add(mul(a,0),1)", {base});
  for (int64_t i = 0; i < *exponent; ++i)
    result = node.op("mul", {result, base});
  return node.done({result});
}

static Outcome buildPassing(NodeBuilder &node, const OpRule &) { return node.done({node.data(0)}); }

static Outcome buildZerosLike(NodeBuilder &node, const OpRule &rule) {
  if (auto flow = node.flowOf({node.index, 0}))
    return node.done({node.zeroList(*flow)});
  RankedTensorType type = node.typeOf(0);
  if (!type)
    return Outcome::Failed;
  node.followInput(0);
  double value = rule.argument == "1" ? 1 : 0;
  return node.done({node.filled(value, dfg::shapeOf(type), type.getElementType())});
}

static constexpr OpRule kRules[] = {
    // Passing on.
    {"Identity", buildPassing},
    {"Snapshot", buildPassing},
    {"StopGradient", buildPassing},
    {"PreventGradient", buildPassing},
    {"PlaceholderWithDefault", buildPassing},
    {"CheckNumerics", buildPassing},
    {"Print", buildPassing},
    {"EnsureShape", buildPassing},
    {"RefIdentity", buildPassing},
    {"DeepCopy", buildPassing},
    // Arithmetic.
    {"Add", buildAddN},
    {"AddV2", buildAddN},
    {"AddN", buildAddN},
    {"AccumulateNV2", buildAddN},
    {"Sub", buildFormula, "sub(a,b)"},
    {"Mul", buildFormula, "mul(a,b)"},
    {"MulNoNan", buildFormula, "select(equal(b,0),b,mul(a,b))"},
    {"RealDiv", buildFormula, "div(a,b)"},
    {"Div", buildByKind,
     "div(a,b);"
     "select(less(mul(a,b),0),neg(floordiv(abs(a),abs(b))),floordiv(abs(a),abs(b)))"},
    {"TruncateDiv", buildByKind,
     "trunc(div(a,b));"
     "select(less(mul(a,b),0),neg(floordiv(abs(a),abs(b))),floordiv(abs(a),abs(b)))"},
    {"FloorDiv", buildFormula, "floordiv(a,b)"},
    {"DivNoNan", buildFormula, "select(equal(b,0),mul(b,0),div(a,select(equal(b,0),1,b)))"},
    {"FloorMod", buildFormula, "mod(a,b)"},
    {"Mod", buildFormula, "mul(select(less(a,0),-1,1),mod(abs(a),abs(b)))"},
    {"TruncateMod", buildFormula, "mul(select(less(a,0),-1,1),mod(abs(a),abs(b)))"},
    {"Pow", buildPow},
    {"SquaredDifference", buildFormula, "square(sub(a,b))"},
    {"Maximum", buildFormula, "maximum(a,b)"},
    {"Minimum", buildFormula, "minimum(a,b)"},
    {"Neg", buildFormula, "neg(a)"},
    {"Abs", buildFormula, "abs(a)"},
    {"Sign", buildFormula, "sign(a)"},
    {"Square", buildFormula, "square(a)"},
    {"Sqrt", buildFormula, "sqrt(a)"},
    {"Rsqrt", buildFormula, "rsqrt(a)"},
    {"Reciprocal", buildFormula, "reciprocal(a)"},
    {"Inv", buildFormula, "reciprocal(a)"},
    {"ClipByValue", buildFormula, "minimum(maximum(a,b),c)"},
    {"Xdivy", buildFormula, "select(equal(a,0),mul(a,0),div(a,b))"},
    {"Xlogy", buildFormula, "select(equal(a,0),mul(a,0),mul(a,log(b)))"},
    {"Xlog1py", buildFormula, "select(equal(a,0),mul(a,0),mul(a,log1p(b)))"},
    // Functions.
    {"Exp", buildFormula, "exp(a)"},
    {"Expm1", buildFormula, "expm1(a)"},
    {"Log", buildFormula, "log(a)"},
    {"Log1p", buildFormula, "log1p(a)"},
    {"Sin", buildFormula, "sin(a)"},
    {"Cos", buildFormula, "cos(a)"},
    {"Tan", buildFormula, "tan(a)"},
    {"Asin", buildFormula, "asin(a)"},
    {"Acos", buildFormula, "acos(a)"},
    {"Atan", buildFormula, "atan(a)"},
    {"Atan2", buildFormula, "atan2(a,b)"},
    {"Sinh", buildFormula, "sinh(a)"},
    {"Cosh", buildFormula, "cosh(a)"},
    {"Tanh", buildFormula, "tanh(a)"},
    {"Asinh", buildFormula, "asinh(a)"},
    {"Acosh", buildFormula, "acosh(a)"},
    {"Atanh", buildFormula, "atanh(a)"},
    {"Erf", buildFormula, "erf(a)"},
    {"Erfc", buildFormula, "erfc(a)"},
    {"Sigmoid", buildFormula, "sigmoid(a)"},
    {"Softplus", buildFormula, "softplus(a)"},
    {"Softsign", buildFormula, "softsign(a)"},
    {"Relu", buildFormula, "relu(a)"},
    {"Relu6", buildFormula, "minimum(relu(a),6)"},
    {"Elu", buildFormula, "elu(a)"},
    {"Selu", buildFormula, "selu(a)"},
    {"LeakyRelu", buildLeakyRelu},
    {"Floor", buildByKind, "floor(a);a"},
    {"Ceil", buildByKind, "ceil(a);a"},
    {"Rint", buildFormula, "round(a)"},
    {"Round", buildByKind, "round(a);a"},
    // Gradients, of what the first input was: the result or the operand.
    {"TanhGrad", buildFormula, "mul(b,sub(1,square(a)))"},
    {"SigmoidGrad", buildFormula, "mul(b,mul(a,sub(1,a)))"},
    {"SqrtGrad", buildFormula, "div(mul(b,0.5),a)"},
    {"RsqrtGrad", buildFormula, "mul(mul(b,-0.5),mul(a,square(a)))"},
    {"InvGrad", buildFormula, "neg(mul(b,square(a)))"},
    {"ReciprocalGrad", buildFormula, "neg(mul(b,square(a)))"},
    {"ReluGrad", buildFormula, "select(greater(b,0),a,0)"},
    {"Relu6Grad", buildFormula, "select(logical_and(greater(b,0),less(b,6)),a,0)"},
    {"LeakyReluGrad", buildLeakyReluGrad},
    {"EluGrad", buildFormula, "select(less(b,0),mul(a,add(b,1)),a)"},
    {"SeluGrad", buildFormula,
     "select(less(b,0),mul(a,add(b,1.7580993408473768)),mul(a,1.0507009873554805))"},
    {"SoftplusGrad", buildFormula, "mul(a,sigmoid(b))"},
    {"SoftsignGrad", buildFormula, "div(a,square(add(abs(b),1)))"},
    // Comparison and logic.
    {"Equal", buildFormula, "equal(a,b)"},
    {"NotEqual", buildFormula, "not_equal(a,b)"},
    {"Less", buildFormula, "less(a,b)"},
    {"LessEqual", buildFormula, "less_equal(a,b)"},
    {"Greater", buildFormula, "greater(a,b)"},
    {"GreaterEqual", buildFormula, "greater_equal(a,b)"},
    {"LogicalAnd", buildFormula, "logical_and(a,b)"},
    {"LogicalOr", buildFormula, "logical_or(a,b)"},
    {"LogicalNot", buildFormula, "logical_not(a)"},
    {"IsNan", buildFormula, "is_nan(a)"},
    {"IsInf", buildFormula, "is_inf(a)"},
    {"IsFinite", buildFormula, "is_finite(a)"},
    {"BitwiseAnd", buildFormula, "bitwise_and(a,b)"},
    {"BitwiseOr", buildFormula, "bitwise_or(a,b)"},
    {"BitwiseXor", buildFormula, "bitwise_xor(a,b)"},
    {"Invert", buildFormula, "bitwise_not(a)"},
    {"LeftShift", buildFormula, "shift_left(a,b)"},
    {"RightShift", buildFormula, "shift_right(a,b)"},
    {"Select", buildSelect},
    {"SelectV2", buildFormula, "select(a,b,c)"},
    {"Cast", buildCast},
    {"ZerosLike", buildZerosLike, "0"},
    {"OnesLike", buildZerosLike, "1"},
};

ArrayRef<OpRule> elementwiseRules() { return kRules; }

} // namespace tfc::tensorflow
