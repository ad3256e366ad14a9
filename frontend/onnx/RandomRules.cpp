// Implements the rules of random numbers. ONNX leaves open which numbers they are: these are tfc's
// own, and repeatable. A variable for each node counts its draws.

#include "frontend/importer/CommonRules.h"
#include "frontend/onnx/NodeBuilder.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using dfg::DimExpr;

static NodeValue drawCounter(NodeBuilder &node, StringRef name) {
  Operation *known = SymbolTable::lookupSymbolIn(node.builder().getModule(), name);
  auto variable = dyn_cast_if_present<dfg::VariableOp>(known);
  auto type = RankedTensorType::get({}, IntegerType::get(node.context(), 64));
  if (!known || (variable && variable.getType() == type))
    return countDraws(node, name);
  node.error() << "the name '" << name << "' is already in use [graph-file]";
  return {};
}

/// Draws by a dfg operation, with a seed from the node's name and its attribute.
static NodeValue draw(NodeBuilder &node, StringRef op, const dfg::Shape &shape, Type type,
                      ArrayRef<NamedAttribute> parameters = {}) {
  if (!type)
    return {};
  std::string name = "random." + node.node.outputs.front();
  uint64_t given = bit_cast<uint64_t>(node.node.real("seed"));
  SmallVector<NamedAttribute> attributes{
      node.attrs.sizes("shape", shape), node.attrs.type("dtype", type),
      node.attrs.integer("seed", int64_t(xxh3_64bits(name) ^ given))};
  append_range(attributes, parameters);
  return node.op(op, drawCounter(node, name), attributes);
}

static SmallVector<NamedAttribute, 2> parametersOf(NodeBuilder &node, StringRef op) {
  if (op == "random_normal")
    return {node.attrs.real("mean", node.node.real("mean", 0)),
            node.attrs.real("stddev", node.node.real("scale", 1))};
  return {node.attrs.real("low", node.node.real("low", 0)),
          node.attrs.real("high", node.node.real("high", 1))};
}

/// `argument` names the dfg operation; by default, numbers are f32.
static Outcome buildRandom(NodeBuilder &node, const OpRule &rule) {
  ArrayRef<int64_t> shape = node.ints("shape");
  Type type = node.node.has("dtype") ? node.dtype("dtype") : Float32Type::get(node.context());
  return node.done({draw(node, rule.argument, dfg::Shape(shape.begin(), shape.end()), type,
                         parametersOf(node, rule.argument))});
}

/// `argument` names the dfg operation; by default, numbers have the type of the input.
static Outcome buildRandomLike(NodeBuilder &node, const OpRule &rule) {
  NodeValue x = node.in(0);
  if (!x)
    return Outcome::Failed;
  Type type = node.node.has("dtype") ? node.dtype("dtype") : elementOf(x);
  return node.done(
      {draw(node, rule.argument, shapeOf(x), type, parametersOf(node, rule.argument))});
}

/// The input has the probabilities of 1.
static Outcome buildBernoulli(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  if (!x)
    return Outcome::Failed;
  Type type = node.node.has("dtype") ? node.dtype("dtype") : elementOf(x);
  NodeValue uniform = draw(node, "random_uniform", shapeOf(x), elementOf(x));
  return node.done({node.cast(node.op("less", {uniform, x}), type)});
}

/// Draws classes by their logarithmic probabilities: the largest sum with Gumbel noise.
static Outcome buildMultinomial(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.inOfRank(0, 2);
  Type type = node.node.has("dtype") ? node.dtype("dtype") : IntegerType::get(node.context(), 32);
  if (!x || !type)
    return Outcome::Failed;
  dfg::Shape shape = shapeOf(x);
  dfg::Shape drawn{shape[0], DimExpr(node.node.number("sample_size", 1)), shape[1]};
  NodeValue uniform = draw(node, "random_uniform", drawn, elementOf(x));
  return node.done({node.cast(node.library().compute("_multinomial", {x, uniform}), type)});
}

static constexpr const char *kUniform = "seed:float?, low:float?, high:float?";
static constexpr const char *kNormal = "seed:float?, mean:float?, scale:float?";

static constexpr OpRule kRules[] = {
    {"RandomUniform", {"0 -> 1; shape:ints, dtype:int?", kUniform}, buildRandom, "random_uniform"},
    {"RandomNormal", {"0 -> 1; shape:ints, dtype:int?", kNormal}, buildRandom, "random_normal"},
    {"RandomUniformLike", {"1 -> 1; dtype:int?", kUniform}, buildRandomLike, "random_uniform"},
    {"RandomNormalLike", {"1 -> 1; dtype:int?", kNormal}, buildRandomLike, "random_normal"},
    {"Bernoulli", "1 -> 1; dtype:int?, seed:float?", buildBernoulli, "", 15},
    {"Multinomial", "1 -> 1; dtype:int?, sample_size:int>=1?, seed:float?", buildMultinomial, "",
     7},
};

ArrayRef<OpRule> randomRules() { return kRules; }

} // namespace tfc::onnx
