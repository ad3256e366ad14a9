// Implements the rules of complex numbers and of Fourier transforms by functions in
// tensorflow_complex.graph. Rules of other files that treat both planes alike are flagged there.

#include "frontend/importer/CommonRules.h"
#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// Returns an input as the planes of complex numbers.
static NodeValue complexIn(NodeBuilder &node, unsigned i) {
  NodeValue value = node.in(i);
  return !value || node.isComplex(i) ? value
                                     : node.library().compute("_complex_from_real", {value});
}

/// Returns input 0, which has to be complex.
static NodeValue onlyComplexIn(NodeBuilder &node) {
  if (node.isComplex(0))
    return node.in(0);
  node.error() << "expected complex numbers as input 0 [operand]";
  return {};
}

static NodeValue call(NodeBuilder &node, StringRef function, ArrayRef<NodeValue> inputs,
                      ArrayRef<LibraryCall::Argument> named = {}) {
  if (llvm::any_of(inputs, [](const NodeValue &input) { return !input; }))
    return {};
  return node.library().compute(function, inputs, named);
}

/// `argument` names the function, which takes all inputs.
static Outcome buildComplex(NodeBuilder &node, const OpRule &rule) {
  SmallVector<NodeValue> inputs;
  for (unsigned i = 0; i < node.numInputs(); ++i)
    inputs.push_back(complexIn(node, i));
  return node.done({call(node, rule.argument, inputs)});
}

/// Makes complex numbers of two real tensors.
static Outcome buildMake(NodeBuilder &node, const OpRule &) {
  return node.done({call(node, "_complex", {node.in(0), node.in(1)})});
}

/// Real numbers stay what they are, and the imaginary part of complex ones is dropped.
static Outcome buildComplexCast(NodeBuilder &node, const OpRule &) {
  int64_t target = node.node.number("DstT");
  NodeValue x = node.in(0);
  if (!isComplexDtype(target))
    return node.done(
        {node.cast(node.isComplex(0) && x ? node.planeOf(x, 0) : x, node.dtype("DstT"))});
  Type plane = planeTypeOf(node.context(), target);
  if (node.isComplex(0))
    return node.done({node.cast(x, plane)});
  return node.done({call(node, "_complex_from_real", {node.cast(x, plane)})});
}

/// Transposes the last two axes, or returns null for a value that has none.
static NodeValue adjoint(NodeBuilder &node, NodeValue x, bool isConjugate) {
  if (x && isConjugate)
    x = node.library().compute("_complex_conj", {x});
  int64_t rank = x ? dfg::shapeOf(x.getType()).size() : 0;
  if (rank < 3) {
    node.error() << "expected matrices of complex numbers [operand]";
    return {};
  }
  SmallVector<int64_t> order = to_vector(seq(rank));
  std::swap(order[rank - 1], order[rank - 2]);
  return node.transpose(x, order);
}

/// `argument` is "adj" where the flags ask for adjoint matrices instead of transposed ones.
static Outcome buildComplexMatMul(NodeBuilder &node, const OpRule &rule) {
  bool isAdjoint = rule.argument == "adj";
  NodeValue operands[] = {complexIn(node, 0), complexIn(node, 1)};
  StringRef flags[] = {isAdjoint ? "adj_x" : "transpose_a", isAdjoint ? "adj_y" : "transpose_b"};
  for (auto [operand, flag] : zip(operands, flags))
    if (operand && node.flag(flag))
      operand = adjoint(node, operand, isAdjoint);
  return node.done({call(node, "_complex_matmul", operands)});
}

static Outcome buildConjugateTranspose(NodeBuilder &node, const OpRule &) {
  std::optional<SmallVector<int64_t>> places = node.ints(1);
  NodeValue x = node.in(0);
  if (!places || !x)
    return Outcome::Failed;
  if (!node.isComplex(0))
    return node.done({node.transpose(x, *places)});
  SmallVector<int64_t> order{0};
  for (int64_t place : *places)
    order.push_back(place + 1);
  return node.done({node.transpose(call(node, "_complex_conj", {x}), order)});
}

/// `argument` is the number of transformed axes, and "i" for the inverse.
static Outcome buildFourier(NodeBuilder &node, const OpRule &rule) {
  StringRef text = rule.argument;
  bool isInverse = text.consume_front("i");
  return node.done(
      {call(node, "_fourier", {onlyComplexIn(node)},
            {{"axes", dfg::Shape{dfg::DimExpr(text.front() - '0')}}, {"inverse", isInverse}})});
}

/// The same for transforms of real numbers or to them. Input 1 has the lengths.
static Outcome buildRealFourier(NodeBuilder &node, const OpRule &rule) {
  StringRef text = rule.argument;
  bool isInverse = text.consume_front("i");
  std::optional<dfg::Shape> length = node.dims(1);
  NodeValue x = isInverse ? onlyComplexIn(node) : node.in(0);
  size_t axes = text.front() - '0';
  if (!length || !x)
    return Outcome::Failed;
  if (length->size() != axes)
    return node.fail("expected {} lengths, but got {} [graph-edge]", axes, length->size());
  if (llvm::any_of(*length, [](const dfg::DimExpr &size) { return size.isConstant(0); }))
    return node.fail("expected a length above 0 [graph-edge]");
  return node.done(
      {call(node, isInverse ? "_real_inverse" : "_real_fourier", {x}, {{"length", *length}})});
}

static constexpr unsigned kComplex = OpRule::Complex, kReal = OpRule::ReturnsReal;

static constexpr OpRule kRules[] = {
    {"Complex", "2 -> 1", buildMake, "", kComplex},
    {"Real", "1 -> 1", buildComplex, "_complex_real", kReal},
    {"Imag", "1 -> 1", buildComplex, "_complex_imag", kReal},
    {"ComplexAbs", "1 -> 1", buildComplex, "_complex_abs", kReal},
    {"Angle", "1 -> 1", buildComplex, "_complex_angle", kReal},
    {"Conj", "1 -> 1", buildComplex, "_complex_conj", kComplex},
    {"FFT", "1 -> 1", buildFourier, "1", kComplex},
    {"FFT2D", "1 -> 1", buildFourier, "2", kComplex},
    {"FFT3D", "1 -> 1", buildFourier, "3", kComplex},
    {"IFFT", "1 -> 1", buildFourier, "i1", kComplex},
    {"IFFT2D", "1 -> 1", buildFourier, "i2", kComplex},
    {"IFFT3D", "1 -> 1", buildFourier, "i3", kComplex},
    {"RFFT", "2 -> 1", buildRealFourier, "1", kComplex},
    {"RFFT2D", "2 -> 1", buildRealFourier, "2", kComplex},
    {"RFFT3D", "2 -> 1", buildRealFourier, "3", kComplex},
    {"IRFFT", "2 -> 1", buildRealFourier, "i1", kReal},
    {"IRFFT2D", "2 -> 1", buildRealFourier, "i2", kReal},
    {"IRFFT3D", "2 -> 1", buildRealFourier, "i3", kReal},
};

ArrayRef<OpRule> complexRules() { return kRules; }

/// Operations whose rules for real numbers are elsewhere.
static constexpr OpRule kOverloads[] = {
    {"Cast", "1 -> 1; DstT:type", buildComplexCast, "", kComplex},
    {"ConjugateTranspose", "2 -> 1", buildConjugateTranspose, "", kComplex},
    {"OnesLike", "1 -> 1", buildComplex, "_complex_ones", kComplex},
    {"Mul", "2 -> 1", buildComplex, "_complex_mul", kComplex},
    {"MulNoNan", "2 -> 1", buildComplex, "_complex_mul_no_nan", kComplex},
    {"Div", "2 -> 1", buildComplex, "_complex_div", kComplex},
    {"RealDiv", "2 -> 1", buildComplex, "_complex_div", kComplex},
    {"DivNoNan", "2 -> 1", buildComplex, "_complex_div_no_nan", kComplex},
    {"Reciprocal", "1 -> 1", buildComplex, "_complex_reciprocal", kComplex},
    {"Inv", "1 -> 1", buildComplex, "_complex_reciprocal", kComplex},
    {"Square", "1 -> 1", buildComplex, "_complex_square", kComplex},
    {"SquaredDifference", "2 -> 1", buildComplex, "_complex_squared_difference", kComplex},
    {"Sqrt", "1 -> 1", buildComplex, "_complex_sqrt", kComplex},
    {"Rsqrt", "1 -> 1", buildComplex, "_complex_rsqrt", kComplex},
    {"Pow", "2 -> 1", buildComplex, "_complex_pow", kComplex},
    {"Exp", "1 -> 1", buildComplex, "_complex_exp", kComplex},
    {"Log", "1 -> 1", buildComplex, "_complex_log", kComplex},
    {"Sin", "1 -> 1", buildComplex, "_complex_sin", kComplex},
    {"Cos", "1 -> 1", buildComplex, "_complex_cos", kComplex},
    {"Sinh", "1 -> 1", buildComplex, "_complex_sinh", kComplex},
    {"Cosh", "1 -> 1", buildComplex, "_complex_cosh", kComplex},
    {"Tanh", "1 -> 1", buildComplex, "_complex_tanh", kComplex},
    {"Equal", "2 -> 1", buildComplex, "_complex_equal", kReal},
    {"NotEqual", "2 -> 1", buildComplex, "_complex_not_equal", kReal},
    {"MatMul", "2 -> 1; transpose_a:bool?, transpose_b:bool?", buildComplexMatMul, "", kComplex},
    {"BatchMatMul", "2 -> 1; adj_x:bool?, adj_y:bool?", buildComplexMatMul, "adj", kComplex},
    {"BatchMatMulV2", "2 -> 1; adj_x:bool?, adj_y:bool?", buildComplexMatMul, "adj", kComplex},
    {"BatchMatMulV3", "2 -> 1; adj_x:bool?, adj_y:bool?", buildComplexMatMul, "adj", kComplex},
};

const OpRule *findComplexRule(StringRef op) {
  auto found = llvm::find_if(kOverloads, [&](const OpRule &rule) { return rule.op == op; });
  return found == std::end(kOverloads) ? nullptr : found;
}

} // namespace tfc::tensorflow
