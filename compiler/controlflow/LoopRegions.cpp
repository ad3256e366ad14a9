//===- LoopRegions.cpp - Loops become dfg.while ---------------------------===//
//
// Holds the part of RegionEmitter that creates a `dfg.while` from the node of a loop. Nodes outside
// of loops, and the choice of branches, are in Regions.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/controlflow/Regions.h"
#include "dialects/dfg/Build.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::controlflow {

static Demand headDemand(const Loop &loop, const LoopLiveness &info) {
  return {loop.shared, {info.continues}};
}

/// All values that a loop carries for its variables.
SmallVector<RegionEmitter::Carried> RegionEmitter::carriedBy(Node *node, Guard known) {
  SmallVector<Carried> carried;
  const LoopLiveness &info = liveness.ofLoop(node);
  for (auto [i, variable] : llvm::enumerate(node->loop->variables)) {
    carried.push_back({&variable, 0, valueOf(variable.init)});
    if (!cast<MergeOp>(variable.node->op).getIndex().use_empty())
      carried.push_back({&variable, 1, scalar(b, loc, b.getI32Type(), variable.initIndex)});
    if (!info.isAlwaysLive[i])
      carried.push_back({&variable, 2, conditionOf(liveness.of(variable.init), known)});
  }
  return carried;
}

/// Defines the values of the variables; returns the remaining values.
ValueRange RegionEmitter::defineCarried(ArrayRef<Carried> carried, ValueRange values) {
  for (auto [part, value] : llvm::zip(carried, values))
    define(part.edge(), value);
  return values.drop_front(carried.size());
}

/// Creates the body of an iteration, after the condition, and returns the values of the next one.
SmallVector<Value> RegionEmitter::emitBody(Node *node, ArrayRef<Carried> carried, Guard known) {
  Demand demand;
  for (const Carried &part : carried)
    if (part.result == 2)
      demand.guards.push_back(liveness.of(part.variable->next));
    else if (part.result == 0)
      demand.values.push_back(part.variable->next);
  known = guards.both(known, liveness.ofLoop(node).continues);
  emit(node->loop->body, demand, known);
  return llvm::map_to_vector(carried, [&](const Carried &part) -> Value {
    if (part.result == 1)
      return scalar(b, loc, b.getI32Type(), part.variable->nextIndex);
    if (part.result == 2)
      return conditionOf(liveness.of(part.variable->next), known);
    return valueOf(part.variable->next);
  });
}

/// Creates the head of an iteration; returns the condition for the next iteration and the shared
/// values.
SmallVector<Value> RegionEmitter::emitHead(Node *node, Guard known) {
  const LoopLiveness &info = liveness.ofLoop(node);
  emit(node->loop->head, headDemand(*node->loop, info), known);
  SmallVector<Value> results{conditionOf(info.continues, known)};
  for (Edge edge : node->loop->shared)
    results.push_back(valueOf(edge));
  return results;
}

void RegionEmitter::emitLoop(Node *node, Guard known) {
  const Loop &loop = *node->loop;
  SmallVector<Carried> carried = carriedBy(node, known);
  auto inits = llvm::map_to_vector(carried, [](const Carried &part) { return part.init; });
  Scope scope = enterScope();
  if (loop.isRotated) {
    defineCarried(carried, inits);
    llvm::append_range(inits, emitHead(node, known));
    leaveScope(scope);
  }
  OpBuilder::InsertPoint point = b.saveInsertionPoint();
  auto op = WhileOp::create(b, loc, inits);

  b.setInsertionPointToEnd(&op.getConditionBlock());
  ValueRange more = defineCarried(carried, op.getConditionBlock().getArguments());
  Value goesOn = loop.isRotated ? more.front() : emitHead(node, known).front();
  ConditionOp::create(b, loc, goesOn);
  leaveScope(scope);

  b.setInsertionPointToEnd(&op.getBodyBlock());
  more = defineCarried(carried, op.getBodyBlock().getArguments());
  if (loop.isRotated)
    for (auto [edge, value] : llvm::zip_equal(loop.shared, more.drop_front()))
      define(edge, value);
  SmallVector<Value> next = emitBody(node, carried, known);
  if (loop.isRotated) {
    defineCarried(carried, next);
    llvm::append_range(next, emitHead(node, known));
  }
  YieldOp::create(b, loc, next);
  leaveScope(scope);

  b.restoreInsertionPoint(point);
  for (auto [part, value] : llvm::zip(carried, op.getResults())) {
    unsigned variable = part.variable - loop.variables.begin();
    define({node, 3 * variable + part.result}, value);
  }
  if (loop.isRotated)
    for (auto [i, value] : llvm::enumerate(op.getResults().drop_front(carried.size() + 1)))
      define({node, unsigned(loop.firstShared() + i)}, value);
}

} // namespace tfc::controlflow
