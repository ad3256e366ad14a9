//===- Regions.cpp - Graphs become operations and regions -----------------===//
//
// Nodes whose guard holds are created as soon as their inputs are available. When only others are
// left, a condition is chosen that determines the guards of as many as possible. Those that it
// determines and that can run now go into one `dfg.if`, whose regions are created in the same way.
//
//===----------------------------------------------------------------------===//

#include "compiler/controlflow/Regions.h"
#include "compiler/controlflow/Effects.h"
#include "dialects/dfg/Build.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::controlflow {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void RegionEmitter::define(Edge edge, Value value) {
  Value &current = values[edge];
  definitions.push_back({edge, current});
  current = value;
}

void RegionEmitter::leaveScope(Scope start) {
  while (definitions.size() > start.definitions) {
    auto [edge, before] = definitions.pop_back_val();
    values[edge] = before;
  }
  while (parts.size() > start.parts)
    shared.erase(parts.pop_back_val());
}

/// Returns the operation of type `Op` on these operands, which may exist already.
template <typename Op, typename... Values> Value RegionEmitter::share(Values... operands) {
  auto [known, isNew] = shared.try_emplace(
      {TypeID::get<Op>().getAsOpaquePointer(), {operands.getAsOpaquePointer()...}});
  if (isNew) {
    known->second = Op::create(b, loc, operands...);
    parts.push_back(known);
  }
  return known->second;
}

Value RegionEmitter::anyOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor)
    return filled(b, loc, tensor, 0.0);
  auto element = cast<ListType>(type).getElementType();
  Value size = scalar(b, loc, b.getI32Type(), 0.0);
  return ListCreateOp::create(b, loc, type, size, DimsAttr::get(b.getContext(), shapeOf(element)),
                              TypeAttr::get(element.getElementType()));
}

Value RegionEmitter::valueOf(Edge edge) {
  edge = resolve(edge);
  if (edge.first->kind == Kind::Outside)
    return edge.first->outside;
  if (Value value = values.lookup(edge))
    return value;
  return anyOf(typeOf(edge));
}

Value RegionEmitter::conditionOf(Guard guard, Guard known) {
  DenseMap<Guard, Value> written;
  auto write = [&](auto &write, Guard part) -> Value {
    if (part <= kAlways)
      return scalar(b, loc, b.getI1Type(), part == kAlways);
    if (Value value = written.lookup(part))
      return value;
    Value predicate = valueOf(liveness.leaf(guards.topOf(part)));
    Guard high = guards.highOf(part), low = guards.lowOf(part);
    auto negated = [&] { return share<LogicalNotOp>(predicate); };
    Value result;
    if (high == kAlways)
      result = low == kNever ? predicate : share<LogicalOrOp>(predicate, write(write, low));
    else if (low == kAlways)
      result = high == kNever ? negated() : share<LogicalOrOp>(negated(), write(write, high));
    else if (low == kNever)
      result = share<LogicalAndOp>(predicate, write(write, high));
    else if (high == kNever)
      result = share<LogicalAndOp>(negated(), write(write, low));
    else
      result = share<SelectOp>(predicate, write(write, high), write(write, low));
    return written[part] = result;
  };
  return write(write, guards.simplify(guard, known));
}

Value RegionEmitter::choose(Value condition, Value onTrue, Value onFalse) {
  if (onTrue == onFalse)
    return onTrue;
  if (isa<RankedTensorType>(onTrue.getType()))
    return SelectOp::create(b, loc, condition, onTrue, onFalse);
  auto branch = IfOp::create(b, loc, onTrue.getType(), condition);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&branch.getThenBlock());
  YieldOp::create(b, loc, onTrue);
  b.setInsertionPointToEnd(&branch.getElseBlock());
  YieldOp::create(b, loc, onFalse);
  return branch.getResult(0);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void RegionEmitter::emitNode(Node *node, Guard known) {
  if (node->ghostOf)
    return;
  if (node->kind == Kind::Merge)
    emitMerge(node, known);
  else if (node->kind == Kind::Loop)
    emitLoop(node, known);
  else if (node->kind == Kind::Plain)
    emitPlain(node);
}

void RegionEmitter::emitPlain(Node *node) {
  IRMapping mapping;
  for (auto [value, input] : llvm::zip_equal(node->operands, node->inputs))
    mapping.map(value, valueOf(input));
  auto wrapper = dyn_cast<NodeOp>(node->op);
  if (!wrapper) {
    Operation *clone = b.clone(*node->op, mapping);
    for (OpResult result : clone->getResults())
      define({node, result.getResultNumber()}, result);
    return;
  }
  Block &block = wrapper.getBody().front();
  for (Operation &op : block.without_terminator())
    b.clone(op, mapping);
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands()))
    define({node, i}, mapping.lookupOrDefault(value));
}

/// The first live input, by selects if several can be live.
void RegionEmitter::emitMerge(Node *node, Guard known) {
  SmallVector<std::pair<unsigned, Guard>> candidates;
  for (auto [i, input] : llvm::enumerate(node->inputs)) {
    // `known` implies here that no earlier input is live.
    Guard guard = liveness.of(input);
    if (guards.exclude(known, guard))
      continue;
    candidates.push_back({i, known});
    known = guards.both(known, guards.negate(guard));
  }
  if (candidates.empty())
    return;
  bool hasIndex = !cast<MergeOp>(node->op).getIndex().use_empty();
  auto indexOf = [&](unsigned i) { return scalar(b, loc, b.getI32Type(), i); };
  unsigned last = candidates.pop_back_val().first;
  Value value = valueOf(node->inputs[last]);
  Value index = hasIndex ? indexOf(last) : Value();
  for (auto [i, before] : llvm::reverse(candidates)) {
    Value condition = conditionOf(liveness.of(node->inputs[i]), before);
    value = choose(condition, valueOf(node->inputs[i]), value);
    index = hasIndex ? choose(condition, indexOf(i), index) : Value();
  }
  define({node, 0}, value);
  if (hasIndex)
    define({node, 1}, index);
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// Returns true if a node can be placed anywhere, because it computes nothing.
bool RegionEmitter::isFree(const NodeOrder &order, Node *node, Guard known) {
  if (!order.isNeeded(node) || node->ghostOf || guards.exclude(known, liveness.of(node)))
    return true;
  return node->kind != Kind::Loop &&
         (node->kind != Kind::Plain || resolve({node, 0}).first != node);
}

bool RegionEmitter::emitUnconditional(const NodeOrder &order, WaitingNodes &waiting, Guard known) {
  bool hasProgress = false;
  for (unsigned position : waiting.getReady()) {
    Node *node = waiting[position];
    if (!isFree(order, node, known) && !guards.implies(known, liveness.of(node)))
      continue;
    hasProgress = true;
    waiting.take(position);
    if (order.isNeeded(node) && !guards.exclude(known, liveness.of(node)))
      emitNode(node, known);
  }
  return hasProgress;
}

/// The number of waiting nodes for which a condition is chosen: in a longer graph, most of the
/// nodes that come later depend on other conditions.
static constexpr size_t kMostCompared = 512;

/// A condition for the first node that is ready: one of the predicates that its guard implies, or
/// the guard itself, whichever determines the guards of the most nodes.
Guard RegionEmitter::chooseCondition(const NodeOrder &order, const WaitingNodes &waiting,
                                     Guard known) {
  llvm::MapVector<Guard, unsigned> counts;
  for (Node *node : waiting.getWaiting(kMostCompared))
    if (!isFree(order, node, known))
      ++counts[guards.both(known, liveness.of(node))];
  Guard guard = guards.both(known, liveness.of(waiting.getFirstReady()));
  auto decides = [&](Guard condition, Guard other) {
    return guards.implies(other, condition) || guards.exclude(other, condition);
  };
  Guard whole = guards.simplify(guard, known);
  SetVector<unsigned> support;
  guards.addSupport(whole, support);
  unsigned total = 0;
  for (auto [other, count] : counts)
    total += other != known ? count : 0;
  auto score = [&](Guard condition) {
    unsigned decided = 0;
    for (auto [other, count] : counts)
      decided += decides(condition, other) && other != known ? count : 0;
    return decided;
  };
  // The predicates of the first switches of a chain are tested last, and determine the most. The
  // others need no look if one determines all: a chain of n switches has n branches of n nodes.
  Guard best = whole;
  unsigned most = 0;
  for (unsigned variable : llvm::reverse(support)) {
    Guard predicate = guards.variable(variable);
    unsigned decided = decides(predicate, guard) ? score(predicate) : 0;
    if (decided <= most)
      continue;
    best = predicate;
    most = decided;
    if (most == total)
      return best;
  }
  return score(whole) > most ? whole : best;
}

RegionEmitter::Branch RegionEmitter::takeBranch(const NodeOrder &order, WaitingNodes &waiting,
                                                Guard known) {
  Branch branch{chooseCondition(order, waiting, known), {}, {}};
  for (bool hasProgress = true; hasProgress;) {
    hasProgress = false;
    for (unsigned position : waiting.getReady()) {
      Node *node = waiting[position];
      Guard guard = guards.both(known, liveness.of(node));
      bool free = isFree(order, node, known);
      bool onTrue = guards.implies(guard, branch.condition);
      bool onFalse = guards.exclude(guard, branch.condition);
      if (!free && !onTrue && !onFalse)
        continue;
      // A merge moves after its inputs, into both regions.
      if (order.isNeeded(node) && (free || onTrue))
        branch.onTrue.push_back(node);
      if (order.isNeeded(node) && (free || onFalse))
        branch.onFalse.push_back(node);
      waiting.take(position);
      hasProgress = true;
    }
  }
  return branch;
}

/// Creates one region and adds the values that it defines to `defined`.
DenseMap<Edge, Value> RegionEmitter::emitSide(const NodeOrder &order, Region &region,
                                              ArrayRef<Node *> nodes, Guard known,
                                              SetVector<Edge> &defined) {
  b.setInsertionPointToEnd(&region.emplaceBlock());
  Scope scope = enterScope();
  emitNodes(order, nodes, known);
  DenseMap<Edge, Value> result;
  for (auto &[edge, before] : ArrayRef(definitions).drop_front(scope.definitions)) {
    result[edge] = values.lookup(edge);
    defined.insert(edge);
  }
  leaveScope(scope);
  return result;
}

void RegionEmitter::emitBranch(const NodeOrder &order, const Branch &branch, Guard known) {
  Value condition = conditionOf(branch.condition, known);
  SetVector<Edge> defined;
  OpBuilder::InsertPoint point = b.saveInsertionPoint();
  Region onTrue, onFalse;
  auto trueValues =
      emitSide(order, onTrue, branch.onTrue, guards.both(known, branch.condition), defined);
  auto falseValues = emitSide(order, onFalse, branch.onFalse,
                              guards.both(known, guards.negate(branch.condition)), defined);
  DenseSet<Node *> inside(branch.onTrue.begin(), branch.onTrue.end());
  inside.insert(branch.onFalse.begin(), branch.onFalse.end());
  SmallVector<Edge> results =
      llvm::filter_to_vector(defined, [&](Edge edge) { return order.isReadOutside(edge, inside); });
  auto finish = [&](Region &region, const DenseMap<Edge, Value> &known) {
    b.setInsertionPointToEnd(&region.front());
    auto yielded = llvm::map_to_vector(results, [&](Edge edge) {
      Value value = known.lookup(edge);
      return value ? value : anyOf(typeOf(edge));
    });
    YieldOp::create(b, loc, yielded);
  };
  finish(onTrue, trueValues);
  finish(onFalse, falseValues);
  b.restoreInsertionPoint(point);
  auto types = llvm::map_to_vector(results, [](Edge edge) { return typeOf(edge); });
  auto op = IfOp::create(b, loc, types, condition);
  op.getThenRegion().takeBody(onTrue);
  op.getElseRegion().takeBody(onFalse);
  for (auto [edge, value] : llvm::zip_equal(results, op.getResults()))
    define(edge, value);
}

void RegionEmitter::emitNodes(const NodeOrder &order, ArrayRef<Node *> nodes, Guard known) {
  WaitingNodes waiting(order, nodes);
  while (!waiting.isEmpty())
    if (!emitUnconditional(order, waiting, known))
      emitBranch(order, takeBranch(order, waiting, known), known);
}

void RegionEmitter::emit(ArrayRef<Node *> nodes, const Demand &demand, Guard known) {
  NodeOrder order(nodes, demand, liveness, known);
  emitNodes(order, nodes, known);
}

} // namespace tfc::controlflow
