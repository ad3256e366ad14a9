// Builds values on demand: for outputs that are known only by their sizes, and for handles, which
// have no value of their own. A token is computed from the values that are live if a node ran.

#include "frontend/tensorflow/Values.h"

#include "dialects/dfg/SizeOps.h"
#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void Values::addOps(unsigned node, ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    entry.created.emplace_back(node, op);
}

dfg::NodeOp Values::addNode(unsigned index, ArrayRef<Operation *> ops, ValueRange after,
                            ValueRange values) {
  bool isTrigger = entry.graph.nodes[index].op == "ControlTrigger";
  dfg::NodeOp node = entry.builder.createNode(
      ops, after, isTrigger, values, entry.graph.locate(entry.builder.getContext(), index));
  addOps(index, node.getOperation());
  return node;
}

/// Returns those of some operations on which one of them depends, in order, and that one.
static SmallVector<Operation *> dependencesOf(Operation *op, ArrayRef<Operation *> ops) {
  llvm::DenseSet<Operation *> needed{op};
  SmallVector<Operation *> found;
  for (Operation *candidate : llvm::reverse(ops)) {
    if (!needed.contains(candidate))
      continue;
    found.push_back(candidate);
    candidate->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *definition = operand.getDefiningOp())
          needed.insert(definition);
    });
  }
  std::reverse(found.begin(), found.end());
  return found;
}

/// Replaces values that are used outside of a node by results of the node.
static void forwardResults(dfg::NodeOp node, MutableArrayRef<Value> values) {
  Operation *yield = node.getBody().front().getTerminator();
  for (auto [inner, outer] : zip(yield->getOperands(), node.getResults())) {
    inner.replaceUsesWithIf(
        outer, [&](OpOperand &use) { return !node->isProperAncestor(use.getOwner()); });
    std::replace(values.begin(), values.end(), inner, Value(outer));
  }
}

void Values::addBinders(unsigned index, SmallVectorImpl<Operation *> &ops,
                        SmallVectorImpl<Value> &after, MutableArrayRef<Value> values) {
  SmallVector<Operation *> binders =
      llvm::to_vector(llvm::make_filter_range(ops, llvm::IsaPred<dfg::BindSizeOp>));
  for (Operation *binder : binders) {
    SmallVector<Operation *> own = dependencesOf(binder, ops);
    if (!llvm::all_of(ArrayRef(own).drop_back(), isMemoryEffectFree))
      return;
    llvm::DenseSet<Operation *> moved(own.begin(), own.end());
    llvm::erase_if(ops, [&](Operation *op) { return moved.contains(op); });
    auto isOutside = [&](Operation *user) {
      return llvm::none_of(own, [&](Operation *op) { return op->isAncestor(user); });
    };
    SmallVector<Value> shared;
    for (Operation *op : own)
      for (Value result : op->getResults())
        if (llvm::is_contained(values, result) || llvm::any_of(result.getUsers(), isOutside))
          shared.push_back(result);
    dfg::NodeOp node = addNode(index, own, after, shared);
    forwardResults(node, values);
    after.push_back(node.getDone());
  }
}

SmallVector<unsigned> Values::handlesBefore(unsigned index) const {
  SmallVector<unsigned> missing;
  const OpRule *rule = findRule(entry.graph.nodes[index].op);
  if (rule && (rule->flags & OpRule::Handle))
    return missing;
  for (Edge input : entry.graph.nodes[index].inputs) {
    const NodeState &state = entry.states[input.node];
    if (!entry.isFed(input) && state.status == NodeState::Built && state.values.empty() &&
        state.sizes.empty() && !state.isHandleFailed)
      missing.push_back(input.node);
  }
  return missing;
}

/// Builds the value of a handle, or of a node that only forwards one.
void Values::buildHandle(unsigned index) {
  NodeBuilder builder(entry, index);
  const OpRule *rule = entry.ruleOf(index);
  NodeState &state = entry.states[index];
  bool isPassed = rule && !entry.graph.nodes[index].inputs.empty();
  if (rule && (rule->flags & OpRule::Handle))
    state.values.assign(1, builder.scalar(1, IntegerType::get(builder.context(), 1)));
  else if (isPassed && passesHandle(entry.graph.nodes[index]))
    // Identities and control flow operations.
    builder.build(*rule);
  state.isHandleFailed = state.values.empty();
}

Value Values::failWithoutValue(Edge edge) {
  const Node &node = entry.graph.nodes[edge.node];
  bool isText = node.number("dtype") == kStringDtype || node.number("T") == kStringDtype;
  if (isText)
    entry.error(edge.node) << "tfc does not support tensors of " << dtypeName(kStringDtype)
                           << " [dtype]";
  else
    entry.error(edge.node) << "there is no output " << edge.output << " [graph-edge]";
  return {};
}

/// Handles have no value; where their liveness matters, a bool represents them.
Value Values::handleValue(Edge edge) {
  // Nodes that the handle passes through come first. Uses a worklist, because chains may be long.
  SmallVector<unsigned> work{edge.node};
  std::set<unsigned> visited;
  while (!work.empty()) {
    unsigned index = work.back();
    bool isOpen = entry.states[index].values.empty() && !entry.states[index].isHandleFailed;
    if (isOpen && visited.insert(index).second) {
      llvm::append_range(work, handlesBefore(index));
      continue;
    }
    if (isOpen)
      buildHandle(index);
    work.pop_back();
  }
  const SmallVector<Value> &values = entry.states[edge.node].values;
  if (edge.output < values.size() && values[edge.output])
    return values[edge.output];
  return failWithoutValue(edge);
}

Value Values::valueOf(Edge edge) {
  if (auto found = entry.fed.find(edge); found != entry.fed.end())
    return found->second;
  NodeState &state = entry.states[edge.node];
  state.values.resize(std::max(state.values.size(), state.sizes.size()));
  if (edge.output < state.values.size() && state.values[edge.output])
    return state.values[edge.output];
  if (edge.output < state.sizes.size() && state.sizes[edge.output]) {
    NodeBuilder node(entry, edge.node);
    Value value = node.materialise(*state.sizes[edge.output]);
    if (entry.structure.needsToken[edge.node])
      value = node.gate(value);
    return entry.states[edge.node].values[edge.output] = value;
  }
  if (state.values.empty())
    return handleValue(edge);
  return failWithoutValue(edge);
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// Returns the folded nodes whose tokens are needed for that of a folded node.
SmallVector<unsigned> Tokens::foldedBefore(unsigned index) const {
  SmallVector<unsigned> before;
  auto add = [&](unsigned node) {
    if (entry.states[node].isFolded && entry.structure.needsToken[node] &&
        !entry.states[node].hasToken)
      before.push_back(node);
  };
  for (unsigned control : entry.graph.nodes[index].controls)
    add(control);
  for (Edge input : entry.graph.nodes[index].inputs)
    if (!entry.isFed(input))
      add(input.node);
  return before;
}

Value Tokens::tokenOf(unsigned index) {
  if (!entry.structure.needsToken[index])
    return {};
  // Tokens of folded nodes depend on others. Uses a worklist, because chains may be long.
  SmallVector<unsigned> work{index};
  std::set<unsigned> visited;
  while (!work.empty()) {
    unsigned node = work.back();
    NodeState &state = entry.states[node];
    if (!state.hasToken && state.isFolded && visited.insert(node).second) {
      llvm::append_range(work, foldedBefore(node));
      continue;
    }
    if (!state.hasToken && !state.token)
      state.token = computeToken(node);
    state.hasToken = true;
    work.pop_back();
  }
  return entry.states[index].token;
}

Value Tokens::computeToken(unsigned index) {
  NodeState &state = entry.states[index];
  NodeBuilder node(entry, index);
  SmallVector<Value> after;
  if (state.isFolded)
    after = node.tokens();
  else if (state.values.empty())
    Values(entry).handleValue({index, 0});
  if (state.token)
    return state.token;
  SmallVector<Value> witnesses = state.witnesses;
  if (witnesses.empty() && !state.isFolded)
    llvm::copy_if(state.values, std::back_inserter(witnesses), [](Value v) { return bool(v); });
  if (witnesses.empty() && after.empty())
    return {};
  if (witnesses.empty() && after.size() == 1)
    return after.front();
  return Values(entry).addNode(index, {}, after, witnesses).getDone();
}

Value Tokens::tokenOf(Edge edge) {
  if (!hasFlag(entry.graph.nodes[edge.node].op, OpRule::Switches))
    return tokenOf(edge.node);
  Value &token = entry.edgeTokens[edge];
  if (token)
    return token;
  Values values(entry);
  Value value = values.valueOf(edge);
  return value ? entry.edgeTokens[edge] = values.addNode(edge.node, {}, {}, value).getDone()
               : Value();
}

} // namespace tfc::tensorflow
