// Evaluates nodes that compute integers from constants. Apart from the rules, so that each
// operation can be part of the computation of a shape.

#include "dialects/dfg/SizeLimits.h"
#include "frontend/tensorflow/ConstantLoops.h"
#include "frontend/tensorflow/Handles.h"
#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

bool NodeBuilder::readsConstants(const OpRule &rule) const {
  if (rule.flags & OpRule::Exits) {
    auto isBuilt = [&](unsigned end) { return entry.states[end].status == NodeState::Built; };
    auto ends = constantLoop(entry, index);
    return ends && all_of(*ends, isBuilt);
  }
  bool isEffect = (rule.flags & OpRule::Effect) && !(rule.flags & OpRule::Reads);
  if (isEffect || (rule.flags & (OpRule::Structural | OpRule::Handle)))
    return false;
  return all_of(node.inputs, [&](Edge input) {
    if (KnownSizes sizes = entry.sizesAt(input))
      return sizes->getConstants().has_value();
    if (entry.isFed(input))
      return entry.knownValues.contains(entry.fed[input]);
    // Operations show whether a variable is read, or a constant in its place.
    return entry.states[input.node].isConstant || isHandle(entry.graph, input);
  });
}

static bool isNumber(const NodeValue &result) {
  return result.getSizes() && result.getSizes()->getConstants();
}

/// Returns true for results of which other nodes may need the elements or the sizes.
static bool isWanted(const NodeValue &result) {
  auto type = cast<RankedTensorType>(result.getType());
  bool isSmall = !type.hasStaticShape() || dfg::countSizes(type.getShape());
  return !isNumber(result) &&
         (isa<IntegerType>(type.getElementType()) ? isSmall : !type.hasStaticShape());
}

/// Returns the values of the entry that are known, and those of the node's inputs.
static KnownValues knownInputs(const NodeBuilder &node) {
  KnownValues known = node.entry.knownValues;
  for (Edge input : node.node.inputs) {
    if (node.entry.isFed(input))
      continue;
    const SmallVector<Value> &values = node.entry.states[input.node].values;
    KnownSizes sizes = node.entry.sizesAt(input);
    if (!sizes || input.output >= values.size() || !values[input.output])
      continue;
    if (DenseElementsAttr numbers = importer::constantOf(*sizes))
      known[values[input.output]] = numbers;
  }
  return known;
}

SmallVector<ElementsAttr> NodeBuilder::constantResults() {
  bool areTensors = all_of(results, [](const NodeValue &result) {
    return !result.getItems() && isa<RankedTensorType>(result.getType());
  });
  if (!areTensors || none_of(results, isWanted))
    return {};
  auto findBinder = [&](StringRef name) {
    const EntryContext::Binder *binder = entry.binderOf(name);
    return binder ? binder->op : nullptr;
  };
  SmallVector<Value> values =
      map_to_vector(results, [](const NodeValue &result) { return result.getValue(); });
  return entry.constants.evaluate(ops, values, knownInputs(*this), findBinder);
}

/// Returns true if nothing but these operations uses their results.
static bool areUsedAlone(ArrayRef<Operation *> ops) {
  llvm::DenseSet<Operation *> own(ops.begin(), ops.end());
  auto isOwn = [&](Operation *user) {
    while (user && !own.contains(user))
      user = user->getParentOp();
    return user != nullptr;
  };
  return all_of(ops, [&](Operation *op) { return all_of(op->getUsers(), isOwn); });
}

/// Returns the elements of a result, if they are numbers that sizes can be.
static std::optional<dfg::SizeTensor> numbersOf(const NodeValue &result, ElementsAttr constant) {
  auto numbers = isNumber(result) ? std::optional(*result.getSizes())
                 : constant       ? dfg::readSizes(constant)
                                  : std::nullopt;
  return numbers && none_of(numbers->values, dfg::isOverflow) ? numbers : std::nullopt;
}

NodeValue NodeBuilder::constantResult(ElementsAttr constant) {
  auto type = cast<RankedTensorType>(constant.getType());
  return record([&] {
    return type.getNumElements() ? builder().constant(constant, location())
                                 : filled(0, dfg::shapeOf(type), type.getElementType());
  });
}

void NodeBuilder::replaceResults(ArrayRef<ElementsAttr> constants) {
  SmallVector<NodeValue> replaced;
  SmallVector<std::optional<dfg::SizeTensor>> known;
  // A loop keeps its Exit.
  bool isWhole = areUsedAlone(ops) && !hasFlag(node.op, OpRule::Exits);
  for (auto [result, constant] : zip_equal(results, constants)) {
    const auto &numbers = known.emplace_back(numbersOf(result, constant));
    isWhole &= numbers || (constant && !isa<IntegerType>(constant.getElementType()));
    // A result of another type can only be replaced together with what computes it.
    bool isSame = numbers && numbers->getType() == result.getType();
    replaced.push_back(isSame ? NodeValue(result.getValue(), numbers) : result);
  }
  if (isWhole) {
    for (Operation *op : llvm::reverse(ops))
      op->erase();
    ops.clear();
    // The results are dead where the inputs are.
    for (unsigned i = 0; i < numInputs(); ++i)
      followInput(i);
    for (auto [result, numbers, constant] : zip_equal(replaced, known, constants))
      result = numbers ? NodeValue(*numbers) : constantResult(constant);
  }
  results = std::move(replaced);
}

/// Returns true unless the result has integers that are not known.
static bool isKnown(const NodeValue &result) {
  if (result.getItems())
    return false;
  auto type = dyn_cast<RankedTensorType>(result.getType());
  return !type || !isa<IntegerType>(type.getElementType()) || isNumber(result);
}

void NodeBuilder::evaluateConstants(const OpRule &rule) {
  NodeState &state = entry.states[index];
  if (!readsConstants(rule) || !ConstantEvaluator::areFunctions(ops))
    return;
  if (!ops.empty())
    if (SmallVector<ElementsAttr> constants = constantResults(); !constants.empty())
      replaceResults(constants);
  state.isConstant = all_of(results, isKnown);
}

} // namespace tfc::tensorflow
