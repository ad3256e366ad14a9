//===- Liveness.cpp - When each node of a graph is live -------------------===//
//
// Computes the condition under which each node runs, as a Boolean function of predicates. This is
// analysis only: Loops.cpp checks frames by it, and RegionEmitter creates the branches.
//
//===----------------------------------------------------------------------===//

#include "compiler/controlflow/Liveness.h"
#include "dialects/dfg/Help.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::controlflow {

/// Guards of real graphs have a few hundred parts; some need a number that is exponential in the
/// number of predicates.
static constexpr size_t kMaxGuards = 1 << 16;

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

Guard Liveness::leafGuard(Edge edge) {
  auto [entry, isNew] = variables.try_emplace(edge, leaves.size());
  if (isNew)
    leaves.push_back(edge);
  return guards.variable(entry->second);
}

Guard Liveness::valueOf(Edge predicate) {
  bool isNegated = false;
  while (true) {
    // If the condition of the last iteration is live, it is false.
    if (predicate.first->isLast)
      return isNegated ? kAlways : kNever;
    Edge edge = resolve(predicate);
    if (edge.first->kind != Kind::Plain || !isa<LogicalNotOp>(edge.first->op))
      break;
    isNegated = !isNegated;
    predicate = edge.first->inputs[0];
  }
  Guard guard = guardOfPredicate(resolve(predicate));
  return isNegated ? guards.negate(guard) : guard;
}

/// Returns the guard of a predicate that is no negation.
Guard Liveness::guardOfPredicate(Edge edge) {
  Value value = edge.first->kind == Kind::Outside ? edge.first->outside : Value();
  if (edge.first->kind == Kind::Plain)
    value = edge.first->op->getResult(edge.second);
  DenseElementsAttr constant;
  if (value && matchPattern(value, m_Constant(&constant)))
    return constant.getSplatValue<bool>() ? kAlways : kNever;
  return leafGuard(edge);
}

SmallVector<Edge> Liveness::leavesOf(Guard guard) const {
  SetVector<unsigned> support;
  guards.addSupport(guard, support);
  return llvm::map_to_vector(support, [&](unsigned variable) { return leaf(variable); });
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Guard Liveness::of(const Node *node) const {
  auto found = known.find(node);
  return found == known.end() ? kAlways : found->second;
}

Guard Liveness::of(Edge edge) {
  auto [node, result] = edge;
  if (node->kind == Kind::Loop)
    return ofLoopResult(edge);
  if (node->kind != Kind::Switch)
    return of(node);
  Guard predicate = valueOf(node->inputs[1]);
  return guards.both(of(node), result == 0 ? predicate : guards.negate(predicate));
}

Guard Liveness::done(Node *node) {
  Guard guard = of(node);
  if (node->kind != Kind::Loop)
    return guard;
  auto info = loops.find(node);
  return info == loops.end() ? guard : guards.both(guard, info->second.hasEnded);
}

Guard Liveness::guardOf(const Node &node, Guard exists) {
  Guard guard = exists;
  for (Node *loop : node.ended)
    guard = guards.both(guard, done(loop));
  if (node.kind == Kind::Merge) {
    Guard any = kNever;
    for (Edge input : node.inputs)
      any = isTooLarge() ? any : guards.either(any, of(input));
    return guards.both(guard, any);
  }
  for (Edge input : node.inputs)
    guard = isTooLarge() ? guard : guards.both(guard, of(input));
  if (!node.always)
    for (Node *input : node.after)
      guard = guards.both(guard, done(input));
  return guard;
}

/// Numbers predicates against the order of a depth-first search from the last nodes to their
/// inputs. Those of switches one after the other are tested one after the other: in the order of
/// the nodes, a merge of n pairs of them would have a guard with 2^n parts. The last ones are
/// tested first, so that the guard of a switch in a chain has that of the previous switch as a
/// part.
void Liveness::numberLeaves(ArrayRef<Node *> nodes) {
  SmallVector<Edge> predicates;
  DenseSet<Node *> unseen(nodes.begin(), nodes.end());
  SmallVector<std::pair<Node *, size_t>> work;
  for (Node *last : llvm::reverse(nodes)) {
    if (unseen.erase(last))
      work.push_back({last, 0});
    while (!work.empty()) {
      auto &[node, next] = work.back();
      if (next < node->inputs.size()) {
        if (Node *input = node->inputs[next++].first; unseen.erase(input))
          work.push_back({input, 0});
        continue;
      }
      if (node->kind == Kind::Switch)
        predicates.push_back(node->inputs[1]);
      work.pop_back();
    }
  }
  for (Edge predicate : llvm::reverse(predicates))
    valueOf(predicate);
}

void Liveness::analyze(ArrayRef<Node *> nodes, Guard exists) {
  numberLeaves(nodes);
  for (Node *node : nodes) {
    if (tooLarge)
      return;
    if (node->kind == Kind::Loop)
      analyzeLoop(node);
    else if (node->kind != Kind::Variable)
      known[node] = guardOf(*node, exists);
    if (isTooLarge() && !tooLarge)
      tooLarge = node;
  }
}

bool Liveness::isTooLarge() const { return guards.size() > kMaxGuards; }

LogicalResult Liveness::check() const {
  if (!tooLarge)
    return success();
  InFlightDiagnostic error = emitError(tooLarge->op->getLoc())
                             << nameOf(tooLarge)
                             << " runs under a condition that combines too many predicates "
                                "[too-large]";
  attachHelp(error, "merge the sides of a 'switch' before the values of others");
  return error;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Computes the guards of one iteration, given which variables are always live.
Guard Liveness::analyzeIteration(const Loop &loop, LoopLiveness &info) {
  Guard exists = llvm::is_contained(info.isAlwaysLive, true) ? kAlways : kNever;
  for (auto [variable, isLive] : llvm::zip_equal(loop.variables, info.isAlwaysLive)) {
    Guard guard = isLive ? kAlways : flag(variable.node, 2);
    known[variable.node] = guard;
    exists = guards.either(exists, guard);
  }
  info.exists = exists;
  analyze(loop.head, exists);
  info.continues = guards.both(of(loop.condition), valueOf(Edge(loop.condition->inputs[0])));
  analyze(loop.body, exists);
  return info.continues;
}

/// A variable is always live if it is live at the start and at the end of every iteration; starts
/// from the assumption that all are.
void Liveness::analyzeLoop(Node *node) {
  const Loop &loop = *node->loop;
  LoopLiveness info;
  Guard runs = kNever;
  for (const LoopVariable &variable : loop.variables)
    runs = guards.either(runs, of(variable.init));
  for (Node *outer : node->ended)
    runs = guards.both(runs, done(outer));
  known[node] = runs;
  for (const LoopVariable &variable : loop.variables)
    info.isAlwaysLive.push_back(guards.implies(runs, of(variable.init)));
  for (bool isStable = false; !isStable;) {
    isStable = true;
    Guard continues = guards.both(runs, analyzeIteration(loop, info));
    for (auto [i, variable] : llvm::enumerate(loop.variables))
      if (info.isAlwaysLive[i] && !guards.implies(continues, of(variable.next)))
        info.isAlwaysLive[i] = isStable = false;
  }
  bool isEndless = llvm::is_contained(info.isAlwaysLive, true);
  info.hasEnded = isEndless ? kAlways : kNever;
  if (!isEndless)
    for (unsigned i : llvm::seq<unsigned>(loop.variables.size()))
      info.hasEnded = guards.either(info.hasEnded, flag(node, 3 * i + 2));
  loops[node] = std::move(info);
}

/// The guard of a value of a loop's last iteration.
Guard Liveness::ofLoopResult(Edge edge) {
  auto [node, result] = edge;
  const Loop &loop = *node->loop;
  auto found = loops.find(node);
  Guard guard = done(node);
  if (found == loops.end())
    return guard;
  if (result >= loop.firstShared() || result % 3 == 2 || found->second.isAlwaysLive[result / 3])
    return guard;
  return guards.both(guard, flag(node, result / 3 * 3 + 2));
}

} // namespace tfc::controlflow
