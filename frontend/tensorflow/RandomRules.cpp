// Random numbers. They have the same distributions as TensorFlow's, but they are tfc's own and
// repeatable.

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

/// `argument` names the dfg operation.
static Outcome buildRandom(NodeBuilder &node, const OpRule &rule) {
  std::optional<dfg::Shape> shape = node.dims(0);
  bool isInteger = rule.argument == "random_integer";
  Type type = shape ? node.dtype(isInteger ? "Tout" : "dtype") : Type();
  if (!type)
    return Outcome::Failed;
  SmallVector<NamedAttribute> attributes{
      node.attrs.sizes("shape", *shape), node.attrs.type("dtype", type),
      node.attrs.integer("seed", int64_t(xxh3_64bits(node.node.name) ^
                                         (uint64_t(node.node.number("seed")) * 1000003 +
                                          uint64_t(node.node.number("seed2")))))};
  if (isInteger) {
    std::optional<int64_t> low = node.integer(1), high = node.integer(2);
    if (!low || !high)
      return Outcome::Failed;
    attributes.push_back(node.attrs.integer("low", *low));
    attributes.push_back(node.attrs.integer("high", *high));
  }
  return node.done({node.op(rule.argument, drawCounter(node), attributes)});
}

static constexpr OpRule kRules[] = {
    {"RandomUniform", "1 -> 1; dtype:type, seed:int?, seed2:int?", buildRandom, "random_uniform",
     OpRule::Effect},
    {"RandomStandardNormal", "1 -> 1; dtype:type, seed:int?, seed2:int?", buildRandom,
     "random_normal", OpRule::Effect},
    {"TruncatedNormal", "1 -> 1; dtype:type, seed:int?, seed2:int?", buildRandom,
     "random_truncated_normal", OpRule::Effect},
    {"RandomUniformInt", "3 -> 1; Tout:type, seed:int?, seed2:int?", buildRandom, "random_integer",
     OpRule::Effect},
};

ArrayRef<OpRule> randomRules() { return kRules; }

} // namespace tfc::tensorflow
