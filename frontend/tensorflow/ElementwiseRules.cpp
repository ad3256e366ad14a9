// Elementwise operations, their gradients, comparisons, selections.

#include "frontend/tensorflow/Importer.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// `argument` is a formula over the inputs.
static Outcome buildFormula(NodeBuilder &node, const OpRule &rule) {
  return node.done({node.formula(rule.argument, node.allInputs())});
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
  Value sum = node.data(0);
  for (unsigned i = 1; i < node.numInputs(); ++i) {
    Value next = node.data(i);
    bool isList = sum && isa<dfg::ListType>(sum.getType());
    if (sum && next && isList != isa<dfg::ListType>(next.getType()))
      return node.fail("expected only tensors or only TensorArrays [graph-edge]");
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
    {"Identity", "1 -> 1", buildPassing},
    {"Snapshot", "1 -> 1", buildPassing},
    {"StopGradient", "1 -> 1", buildPassing},
    {"PreventGradient", "1 -> 1", buildPassing},
    {"PlaceholderWithDefault", "1 -> 1", buildPassing},
    {"CheckNumerics", "1 -> 1", buildPassing},
    {"Print", "1+ -> 1", buildPassing},
    {"EnsureShape", "1 -> 1", buildPassing},
    {"RefIdentity", "1 -> 1", buildPassing},
    {"DeepCopy", "1 -> 1", buildPassing},
    // Arithmetic.
    {"Add", "2 -> 1", buildAddN},
    {"AddV2", "2 -> 1", buildAddN},
    {"AddN", "N -> 1", buildAddN},
    {"AccumulateNV2", "N -> 1", buildAddN},
    {"Sub", "2 -> 1", buildFormula, "sub(a,b)"},
    {"Mul", "2 -> 1", buildFormula, "mul(a,b)"},
    {"MulNoNan", "2 -> 1", buildFormula, "select(equal(b,0),b,mul(a,b))"},
    {"RealDiv", "2 -> 1", buildFormula, "div(a,b)"},
    {"Div", "2 -> 1", buildByKind,
     "div(a,b);"
     "select(less(mul(a,b),0),neg(floordiv(abs(a),abs(b))),floordiv(abs(a),abs(b)))"},
    {"TruncateDiv", "2 -> 1", buildByKind,
     "trunc(div(a,b));"
     "select(less(mul(a,b),0),neg(floordiv(abs(a),abs(b))),floordiv(abs(a),abs(b)))"},
    {"FloorDiv", "2 -> 1", buildFormula, "floordiv(a,b)"},
    {"DivNoNan", "2 -> 1", buildFormula,
     "select(equal(b,0),mul(b,0),div(a,select(equal(b,0),1,b)))"},
    {"FloorMod", "2 -> 1", buildFormula, "mod(a,b)"},
    {"Mod", "2 -> 1", buildFormula, "mul(select(less(a,0),-1,1),mod(abs(a),abs(b)))"},
    {"TruncateMod", "2 -> 1", buildFormula, "mul(select(less(a,0),-1,1),mod(abs(a),abs(b)))"},
    {"Pow", "2 -> 1", buildPow},
    {"SquaredDifference", "2 -> 1", buildFormula, "square(sub(a,b))"},
    {"Maximum", "2 -> 1", buildFormula, "maximum(a,b)"},
    {"Minimum", "2 -> 1", buildFormula, "minimum(a,b)"},
    {"Neg", "1 -> 1", buildFormula, "neg(a)"},
    {"Abs", "1 -> 1", buildFormula, "abs(a)"},
    {"Sign", "1 -> 1", buildFormula, "sign(a)"},
    {"Square", "1 -> 1", buildFormula, "square(a)"},
    {"Sqrt", "1 -> 1", buildFormula, "sqrt(a)"},
    {"Rsqrt", "1 -> 1", buildFormula, "rsqrt(a)"},
    {"Reciprocal", "1 -> 1", buildFormula, "reciprocal(a)"},
    {"Inv", "1 -> 1", buildFormula, "reciprocal(a)"},
    {"ClipByValue", "3 -> 1", buildFormula, "minimum(maximum(a,b),c)"},
    {"Xdivy", "2 -> 1", buildFormula, "select(equal(a,0),mul(a,0),div(a,b))"},
    {"Xlogy", "2 -> 1", buildFormula, "select(equal(a,0),mul(a,0),mul(a,log(b)))"},
    {"Xlog1py", "2 -> 1", buildFormula, "select(equal(a,0),mul(a,0),mul(a,log1p(b)))"},
    // Functions.
    {"Exp", "1 -> 1", buildFormula, "exp(a)"},
    {"Expm1", "1 -> 1", buildFormula, "expm1(a)"},
    {"Log", "1 -> 1", buildFormula, "log(a)"},
    {"Log1p", "1 -> 1", buildFormula, "log1p(a)"},
    {"Sin", "1 -> 1", buildFormula, "sin(a)"},
    {"Cos", "1 -> 1", buildFormula, "cos(a)"},
    {"Tan", "1 -> 1", buildFormula, "tan(a)"},
    {"Asin", "1 -> 1", buildFormula, "asin(a)"},
    {"Acos", "1 -> 1", buildFormula, "acos(a)"},
    {"Atan", "1 -> 1", buildFormula, "atan(a)"},
    {"Atan2", "2 -> 1", buildFormula, "atan2(a,b)"},
    {"Sinh", "1 -> 1", buildFormula, "sinh(a)"},
    {"Cosh", "1 -> 1", buildFormula, "cosh(a)"},
    {"Tanh", "1 -> 1", buildFormula, "tanh(a)"},
    {"Asinh", "1 -> 1", buildFormula, "asinh(a)"},
    {"Acosh", "1 -> 1", buildFormula, "acosh(a)"},
    {"Atanh", "1 -> 1", buildFormula, "atanh(a)"},
    {"Erf", "1 -> 1", buildFormula, "erf(a)"},
    {"Erfc", "1 -> 1", buildFormula, "erfc(a)"},
    {"Sigmoid", "1 -> 1", buildFormula, "sigmoid(a)"},
    {"Softplus", "1 -> 1", buildFormula, "softplus(a)"},
    {"Softsign", "1 -> 1", buildFormula, "softsign(a)"},
    {"Relu", "1 -> 1", buildFormula, "relu(a)"},
    {"Relu6", "1 -> 1", buildFormula, "select(less_equal(a,0),0,select(greater_equal(a,6),6,a))"},
    {"Elu", "1 -> 1", buildFormula, "elu(a)"},
    {"Selu", "1 -> 1", buildFormula, "selu(a)"},
    {"LeakyRelu", "1 -> 1; alpha:float?", buildLeakyRelu},
    {"Floor", "1 -> 1", buildByKind, "floor(a);a"},
    {"Ceil", "1 -> 1", buildByKind, "ceil(a);a"},
    {"Rint", "1 -> 1", buildFormula, "round(a)"},
    {"Round", "1 -> 1", buildByKind, "round(a);a"},
    // Gradients, of what the first input was: the result or the operand.
    {"TanhGrad", "2 -> 1", buildFormula, "mul(b,sub(1,square(a)))"},
    {"SigmoidGrad", "2 -> 1", buildFormula, "mul(b,mul(a,sub(1,a)))"},
    {"SqrtGrad", "2 -> 1", buildFormula, "div(mul(b,0.5),a)"},
    {"RsqrtGrad", "2 -> 1", buildFormula, "mul(mul(b,-0.5),mul(a,square(a)))"},
    {"InvGrad", "2 -> 1", buildFormula, "neg(mul(b,square(a)))"},
    {"ReciprocalGrad", "2 -> 1", buildFormula, "neg(mul(b,square(a)))"},
    {"ReluGrad", "2 -> 1", buildFormula, "select(greater(b,0),a,0)"},
    {"Relu6Grad", "2 -> 1", buildFormula, "select(logical_and(greater(b,0),less(b,6)),a,0)"},
    {"LeakyReluGrad", "2 -> 1; alpha:float?", buildLeakyReluGrad},
    {"EluGrad", "2 -> 1", buildFormula, "select(less(b,0),mul(a,add(b,1)),a)"},
    {"SeluGrad", "2 -> 1", buildFormula,
     "select(less(b,0),mul(a,add(b,1.7580993408473768)),mul(a,1.0507009873554805))"},
    {"SoftplusGrad", "2 -> 1", buildFormula, "mul(a,sigmoid(b))"},
    {"SoftsignGrad", "2 -> 1", buildFormula, "div(a,square(add(abs(b),1)))"},
    // Comparison and logic.
    {"Equal", "2 -> 1", buildFormula, "equal(a,b)"},
    {"NotEqual", "2 -> 1", buildFormula, "not_equal(a,b)"},
    {"Less", "2 -> 1", buildFormula, "less(a,b)"},
    {"LessEqual", "2 -> 1", buildFormula, "less_equal(a,b)"},
    {"Greater", "2 -> 1", buildFormula, "greater(a,b)"},
    {"GreaterEqual", "2 -> 1", buildFormula, "greater_equal(a,b)"},
    {"LogicalAnd", "2 -> 1", buildFormula, "logical_and(a,b)"},
    {"LogicalOr", "2 -> 1", buildFormula, "logical_or(a,b)"},
    {"LogicalNot", "1 -> 1", buildFormula, "logical_not(a)"},
    {"IsNan", "1 -> 1", buildFormula, "is_nan(a)"},
    {"IsInf", "1 -> 1", buildFormula, "is_inf(a)"},
    {"IsFinite", "1 -> 1", buildFormula, "is_finite(a)"},
    {"BitwiseAnd", "2 -> 1", buildFormula, "bitwise_and(a,b)"},
    {"BitwiseOr", "2 -> 1", buildFormula, "bitwise_or(a,b)"},
    {"BitwiseXor", "2 -> 1", buildFormula, "bitwise_xor(a,b)"},
    {"Invert", "1 -> 1", buildFormula, "bitwise_not(a)"},
    {"LeftShift", "2 -> 1", buildFormula, "shift_left(a,b)"},
    {"RightShift", "2 -> 1", buildFormula, "shift_right(a,b)"},
    {"Select", "3 -> 1", buildSelect},
    {"SelectV2", "3 -> 1", buildFormula, "select(a,b,c)"},
    {"Cast", "1 -> 1; DstT:type", buildCast},
    {"ZerosLike", "1 -> 1", buildZerosLike, "0"},
    {"OnesLike", "1 -> 1", buildZerosLike, "1"},
};

ArrayRef<OpRule> elementwiseRules() { return kRules; }

} // namespace tfc::tensorflow
