// Random numbers. Those of operations with a state of their own have the same distributions as
// TensorFlow's, but they are tfc's own and repeatable; those that are functions of a key and a
// counter have TensorFlow's values, by functions in tensorflow_random.graph.

#include "frontend/importer/CommonRules.h"
#include "frontend/tensorflow/NodeBuilder.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// Returns the value of the variable that counts the draws of a node.
static NodeValue drawCounter(NodeBuilder &node) {
  auto type = RankedTensorType::get({}, IntegerType::get(node.context(), 64));
  std::string name = "random." + node.node.name;
  if (!node.entry.symbols.claim<dfg::VariableOp>(name) ||
      (node.entry.symbols.variables.count(name) && node.entry.symbols.variables[name] != type)) {
    node.error() << "the name '" << name << "' is already in use [graph-file]";
    return {};
  }
  node.entry.symbols.variables.try_emplace(name, type);
  return countDraws(node, name);
}

/// Returns the seed of the draws of a node.
static int64_t seedOf(NodeBuilder &node) {
  return int64_t(xxh3_64bits(node.node.name) ^ (uint64_t(node.node.number("seed")) * 1000003 +
                                                uint64_t(node.node.number("seed2"))));
}

/// `argument` names the dfg operation.
static Outcome buildRandom(NodeBuilder &node, const OpRule &rule) {
  std::optional<dfg::Shape> shape = node.dims(0);
  bool isInteger = rule.argument == "random_integer";
  Type type = shape ? node.dtype(isInteger ? "Tout" : "dtype") : Type();
  if (!type)
    return Outcome::Failed;
  SmallVector<NamedAttribute> attributes{node.attrs.sizes("shape", *shape),
                                         node.attrs.type("dtype", type),
                                         node.attrs.integer("seed", seedOf(node))};
  if (isInteger) {
    std::optional<int64_t> low = node.integer(1), high = node.integer(2);
    if (!low || !high)
      return Outcome::Failed;
    attributes.push_back(node.attrs.integer("low", *low));
    attributes.push_back(node.attrs.integer("high", *high));
  }
  return node.done({node.op(rule.argument, drawCounter(node), attributes)});
}

/// Draws classes for a sampled loss.
template <bool isFalling> static Outcome buildCandidates(NodeBuilder &node, const OpRule &) {
  int64_t count = node.node.number("num_sampled"), range = node.node.number("range_max");
  if (node.node.number("unique") && count > range)
    return node.fail("expected at most {} unique classes, but got {} [graph-attribute]", range,
                     count);
  NodeValue classes = node.in(0), counter = classes ? drawCounter(node) : NodeValue();
  if (!counter)
    return Outcome::Failed;
  auto results =
      node.library().on("_candidates", {counter, classes},
                        {{"key", dfg::Shape{dfg::DimExpr(seedOf(node))}}, {"falling", isFalling}});
  return node.doneWith(results);
}

/// Calls a function in graph source, which `argument` names, with the counter, input 0 and a seed.
static Outcome buildDraws(NodeBuilder &node, const OpRule &rule) {
  NodeValue x = node.in(0);
  SmallVector<LibraryCall::Argument> named = {{"key", dfg::Shape{dfg::DimExpr(seedOf(node))}}};
  if (rule.op == "Multinomial") {
    std::optional<dfg::Shape> count = node.dims(1);
    if (!count)
      return Outcome::Failed;
    named.push_back({"num_samples", *count});
  }
  NodeValue counter = x ? drawCounter(node) : NodeValue();
  if (!counter)
    return Outcome::Failed;
  NodeValue drawn = node.library().compute(rule.argument, {counter, x}, named);
  Type type = node.node.has("output_dtype") ? node.dtype("output_dtype") : Type();
  return node.done({type ? node.cast(drawn, type) : drawn});
}

/// Calls a function in graph source, which `argument` names, with the counter, the inputs after the
/// shape, that shape, and a seed.
static Outcome buildShapedDraws(NodeBuilder &node, const OpRule &rule) {
  std::optional<dfg::Shape> sizes = node.dims(0);
  bool isTyped = declares(rule.signature, "dtype");
  Type type = isTyped && node.node.has("dtype") ? node.dtype("dtype")
              : isTyped                         ? Type(IntegerType::get(node.context(), 64))
                                                : Type();
  if (!sizes || (isTyped && !type))
    return Outcome::Failed;
  SmallVector<NodeValue> tensors = node.allInputs(/*from=*/1);
  if (!all_of(tensors, [](const NodeValue &x) { return bool(x); }))
    return Outcome::Failed;
  NodeValue counter = drawCounter(node);
  if (!counter)
    return Outcome::Failed;
  tensors.insert(tensors.begin(), counter);
  NodeValue drawn = node.library().compute(
      rule.argument, tensors, {{"sizes", *sizes}, {"key", dfg::Shape{dfg::DimExpr(seedOf(node))}}});
  return node.done({type ? node.cast(drawn, type) : drawn});
}

/// Advances the state of a generator, a variable, and returns the state before.
static Outcome buildSkip(NodeBuilder &node, const OpRule &rule) {
  const Node *variable = node.variable(0);
  std::optional<int64_t> algorithm = variable ? node.integer(1) : std::nullopt;
  if (!algorithm)
    return Outcome::Failed;
  if (*algorithm != 1)
    return node.fail("expected the algorithm Philox, 1, but got {} [unsupported-node]", *algorithm);
  NodeValue old = node.readVariable(*variable), delta = node.in(2);
  if (!old || !delta || !node.assign(*variable, node.library().compute("_skipped", {old, delta})))
    return Outcome::Failed;
  return rule.signature.outputs.least > 0 ? node.done({old}) : node.done();
}

static constexpr char kCandidates[] =
    "num_true:int>=1, num_sampled:int>=1, unique:bool, range_max:int>=1, seed:int?, seed2:int?";

static constexpr OpRule kRules[] = {
    {"RandomUniform", "1 -> 1; dtype:type, seed:int?, seed2:int?", buildRandom, "random_uniform",
     OpRule::Effect},
    {"RandomStandardNormal", "1 -> 1; dtype:type, seed:int?, seed2:int?", buildRandom,
     "random_normal", OpRule::Effect},
    {"LogUniformCandidateSampler", Signature("1 -> 3;", kCandidates), buildCandidates<true>, "",
     OpRule::Effect},
    {"UniformCandidateSampler", Signature("1 -> 3;", kCandidates), buildCandidates<false>, "",
     OpRule::Effect},
    {"TruncatedNormal", "1 -> 1; dtype:type, seed:int?, seed2:int?", buildRandom,
     "random_truncated_normal", OpRule::Effect},
    {"RandomUniformInt", "3 -> 1; Tout:type, seed:int?, seed2:int?", buildRandom, "random_integer",
     OpRule::Effect},
    {"RandomShuffle", "1 -> 1; seed:int?, seed2:int?", buildDraws, "_shuffled", OpRule::Effect},
    {"Multinomial", "2 -> 1; output_dtype:type?, seed:int?, seed2:int?", buildDraws, "_categories",
     OpRule::Effect},
    {"RandomGamma", "2 -> 1; seed:int?, seed2:int?", buildShapedDraws, "_gamma_draws",
     OpRule::Effect},
    {"RandomPoisson", "2 -> 1; dtype:type, seed:int?, seed2:int?", buildShapedDraws,
     "_poisson_draws", OpRule::Effect},
    {"RandomPoissonV2", "2 -> 1; dtype:type?, seed:int?, seed2:int?", buildShapedDraws,
     "_poisson_draws", OpRule::Effect},
    {"ParameterizedTruncatedNormal", "5 -> 1; dtype:type, seed:int?, seed2:int?", buildShapedDraws,
     "_truncated_draws", OpRule::Effect},
    {"RngReadAndSkip", "3 -> 1", buildSkip, "", OpRule::Effect},
    {"RngSkip", "3 -> 0", buildSkip, "", OpRule::Effect},
};

ArrayRef<OpRule> randomRules() { return kRules; }

} // namespace tfc::tensorflow
