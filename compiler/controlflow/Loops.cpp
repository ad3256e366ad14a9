//===- Loops.cpp - Frames become loops ------------------------------------===//
//
// Recognises frames that are `while` loops and replaces each by one node, so that the steps after
// this one see acyclic graphs. It reports all other frames and creates no operations.
//
//===----------------------------------------------------------------------===//

#include "compiler/controlflow/Loops.h"
#include "compiler/controlflow/Effects.h"
#include "compiler/controlflow/Liveness.h"
#include "dialects/dfg/Help.h"
#include <map>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::controlflow {

using NodeSet = llvm::SmallPtrSet<Node *, 16>;

namespace {
/// Turns a frame, whose inner frames are already loops, into a loop.
class FrameConverter {
public:
  FrameConverter(Graph &graph, Frame &frame) : graph(graph), frame(frame) {}

  LogicalResult run() {
    if (failed(sort()))
      return failure();
    if (!isLoop()) {
      for (Node *node : nodes)
        node->kind = node->kind == Kind::Exit ? Kind::Forward : node->kind;
      llvm::append_range(frame.parent->nodes, nodes);
      return success();
    }
    if (failed(findCondition()) || failed(findVariables()))
      return failure();
    findHead();
    liveness.analyze(nodes);
    if (failed(liveness.check()))
      return failure();
    continues =
        liveness.guards.both(liveness.of(condition), liveness.valueOf(condition->inputs[0]));
    if (failed(checkGuards()))
      return failure();
    split();
    chooseShared();
    build();
    return success();
  }

private:
  InFlightDiagnostic fail(Node *node) {
    return emitError(node->op->getLoc())
           << "frame '" << frame.name << "' is not a while loop: " << nameOf(node) << ' ';
  }

  bool isMember(Node *node) const { return members.contains(node); }

  LogicalResult sort();
  bool isLoop() const;
  LogicalResult findCondition();
  LogicalResult findVariables();
  LogicalResult addVariable(Node *merge);
  LogicalResult checkEntries();
  void addToHead(Node *node);
  void findHead();
  SmallVector<Node *> cycleOf(const LoopVariable &variable);
  LogicalResult checkGuards();
  void collect(NodeSet &part, llvm::function_ref<bool(Node *)> isRoot);
  void split();
  bool isCheap(Edge value, NodeSet &slice);
  void addHeadValues(Node *node, Guard known, SetVector<Edge> &values);
  void chooseShared();
  void build();
  void copyLastIteration(Node *loop);
  void collectInputs(Node *loop);

  Graph &graph;
  Frame &frame;
  /// Sorted topologically.
  SmallVector<Node *> nodes;
  NodeSet members;
  Node *condition = nullptr;
  std::shared_ptr<Loop> loop = std::make_shared<Loop>();
  NodeSet variables;
  /// Nodes that the condition needs; other nodes that the body and the last iteration need; nodes
  /// of the head that they need and compute themselves.
  NodeSet head, body, last, recomputed;
  Liveness liveness;
  Guard continues = kNever;
};
} // namespace

//===----------------------------------------------------------------------===//
// The parts of a loop
//===----------------------------------------------------------------------===//

/// The nodes in the order of the graph, copies in the order of their creation.
static SmallVector<Node *> inOrder(ArrayRef<Node *> nodes) {
  std::map<std::pair<unsigned, unsigned>, Node *> sorted;
  for (auto [i, node] : llvm::enumerate(nodes))
    sorted[{node->order, i}] = node;
  return llvm::to_vector(llvm::make_second_range(sorted));
}

LogicalResult FrameConverter::sort() {
  SmallVector<Node *> cycle;
  nodes = sortTopologically(inOrder(frame.nodes), cycle);
  members.insert(nodes.begin(), nodes.end());
  if (cycle.empty())
    return success();
  Node *inner = *llvm::find_if(cycle, [](Node *node) { return node->kind == Kind::Loop; });
  return emitError(inner->op->getLoc())
         << "a frame is not a while loop: it depends on its own result, through " << namesOf(cycle)
         << " [irreducible-loop]";
}

bool FrameConverter::isLoop() const {
  return llvm::any_of(nodes, [](Node *node) {
    return node->kind == Kind::NextIteration || node->kind == Kind::LoopCond;
  });
}

LogicalResult FrameConverter::findCondition() {
  for (Node *node : nodes) {
    if (node->kind != Kind::LoopCond)
      continue;
    if (condition) {
      auto diagnostic = fail(node) << "is its second 'loop_cond' [irreducible-loop]";
      diagnostic.attachNote(condition->op->getLoc()) << nameOf(condition) << " is the first one";
      return failure();
    }
    condition = node;
  }
  if (condition)
    return success();
  Node *next = *llvm::find_if(nodes, [](Node *n) { return n->kind == Kind::NextIteration; });
  return fail(next)
         << "starts the next iteration, but the frame has no 'loop_cond' [irreducible-loop]";
}

LogicalResult FrameConverter::addVariable(Node *merge) {
  auto isNext = [](Edge edge) { return edge.first->kind == Kind::NextIteration; };
  auto isEntry = [&](Edge edge) {
    Node *node = edge.first;
    return node->kind == Kind::Enter && node->entered == &frame &&
           !cast<EnterOp>(node->op).getConstant();
  };
  auto next = llvm::find_if(merge->inputs, isNext), entry = llvm::find_if(merge->inputs, isEntry);
  if (merge->inputs.size() != 2 || next == merge->inputs.end() || entry == merge->inputs.end())
    return fail(merge) << "must merge one 'enter' that is not constant and one 'next_iteration' "
                          "[irreducible-loop]";
  loop->variables.push_back({merge, *entry, *next, unsigned(entry - merge->inputs.begin()),
                             unsigned(next - merge->inputs.begin())});
  variables.insert(merge);
  return success();
}

LogicalResult FrameConverter::findVariables() {
  for (Node *node : nodes)
    if (node->kind == Kind::Merge && llvm::any_of(node->inputs, [](Edge edge) {
          return edge.first->kind == Kind::NextIteration;
        }))
      if (failed(addVariable(node)))
        return failure();
  if (loop->variables.empty())
    return fail(condition) << "does not control any 'merge' of an 'enter' and a 'next_iteration' "
                              "[irreducible-loop]";
  return checkEntries();
}

/// Checks that values that enter without being constant, which exist only in the first iteration,
/// and next iterations go to merges.
LogicalResult FrameConverter::checkEntries() {
  for (Node *node : nodes) {
    if (variables.contains(node))
      continue;
    for (Edge input : node->inputs)
      if (input.first->kind == Kind::NextIteration)
        return fail(node) << "reads " << nameOf(input.first)
                          << ", which only a 'merge' with an 'enter' may read [irreducible-loop]";
    SmallVector<Node *> predecessors;
    addPredecessors(*node, predecessors);
    for (Node *input : predecessors)
      if (input->kind == Kind::Enter && input->entered == &frame &&
          !cast<EnterOp>(input->op).getConstant()) {
        auto diagnostic = fail(node) << "reads " << nameOf(input)
                                     << ", which exists only in the first iteration "
                                        "[irreducible-loop]";
        attachHelp(diagnostic, "merge it with a 'next_iteration', or make it 'constant: true'",
                   input->op->getLoc());
        return failure();
      }
  }
  return success();
}

void FrameConverter::addToHead(Node *node) {
  SmallVector<Node *> work{node};
  while (!work.empty()) {
    Node *next = work.pop_back_val();
    if (!isMember(next) || variables.contains(next) || !head.insert(next).second)
      continue;
    addPredecessors(*next, work);
  }
}

/// Finds the condition, the nodes that it needs, and effects that precede these.
void FrameConverter::findHead() {
  addToHead(condition);
  NodeSet successors{condition};
  SmallVector<Node *> effects;
  for (Node *node : nodes) {
    SmallVector<Node *> predecessors;
    addPredecessors(*node, predecessors);
    if (llvm::any_of(predecessors, [&](Node *input) { return successors.contains(input); }))
      successors.insert(node);
    else if (hasEffects(*node))
      effects.push_back(node);
  }
  for (auto [i, late] : llvm::enumerate(llvm::reverse(effects)))
    if (head.contains(late))
      for (Node *early : ArrayRef(effects).drop_back(i + 1))
        if (conflict(effectsOf(*early), effectsOf(*late)))
          addToHead(early);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// A path from the merge of a variable to itself.
SmallVector<Node *> FrameConverter::cycleOf(const LoopVariable &variable) {
  DenseMap<Node *, Node *> next{{variable.next.first, variable.node}};
  SmallVector<Node *> work{variable.next.first};
  for (size_t i = 0; i < work.size() && !llvm::is_contained(work, variable.node); ++i)
    for (auto [input, result] : work[i]->inputs)
      if (isMember(input) && next.try_emplace(input, work[i]).second)
        work.push_back(input);
  SmallVector<Node *> path;
  for (Node *node = next.contains(variable.node) ? variable.node : variable.next.first;
       path.empty() || node != variable.node; node = next.lookup(node))
    path.push_back(node);
  path.push_back(variable.node);
  return path;
}

LogicalResult FrameConverter::checkGuards() {
  for (const LoopVariable &variable : loop->variables) {
    Node *next = variable.next.first;
    if (liveness.guards.implies(liveness.of(next), continues))
      continue;
    auto diagnostic = fail(next) << "reaches merge " << nameOf(variable.node)
                                 << " without a switch on " << nameOf(condition)
                                 << " [irreducible-loop]";
    diagnostic.attachNote(variable.node->op->getLoc())
        << "the cycle is " << namesOf(cycleOf(variable))
        << "; feed it from the true side of a 'switch' on " << nameOf(condition);
    return failure();
  }
  for (Node *node : nodes)
    if (node->kind == Kind::Exit && !liveness.guards.exclude(liveness.of(node), continues))
      return fail(node) << "returns a value in each iteration, but must take it from the false "
                           "side of a switch "
                           "on "
                        << nameOf(condition) << " [irreducible-loop]";
  return success();
}

//===----------------------------------------------------------------------===//
// Body and last iteration
//===----------------------------------------------------------------------===//

/// Adds the nodes outside of the head for which `isRoot` holds, and the nodes that they need. For
/// dead nodes their guards are still needed.
void FrameConverter::collect(NodeSet &part, llvm::function_ref<bool(Node *)> isRoot) {
  NodeSet needed;
  for (Node *node : llvm::reverse(nodes)) {
    if (head.contains(node) || variables.contains(node) || !(needed.contains(node) || isRoot(node)))
      continue;
    part.insert(node);
    SmallVector<Node *> predecessors;
    addPredecessors(*node, predecessors);
    needed.insert(predecessors.begin(), predecessors.end());
  }
}

/// Splits the nodes that are not in the head: the body runs if the loop continues, the rest if it
/// ends.
void FrameConverter::split() {
  Guards &guards = liveness.guards;
  collect(body, [&](Node *node) {
    return node->kind == Kind::NextIteration ||
           (node->kind != Kind::Exit && !guards.exclude(liveness.of(node), continues));
  });
  collect(last, [&](Node *node) {
    return node->kind == Kind::Exit ||
           (hasEffects(*node) && !guards.implies(liveness.of(node), continues));
  });
}

/// Adds the values of the head that `node` needs if `known` holds.
void FrameConverter::addHeadValues(Node *node, Guard known, SetVector<Edge> &values) {
  auto add = [&](Edge edge) {
    edge = resolve(edge);
    if (head.contains(edge.first))
      values.insert(edge);
  };
  auto addLeaves = [&](Guard guard) {
    for (Edge leaf : liveness.leavesOf(liveness.guards.simplify(guard, known)))
      add(leaf);
  };
  for (auto [i, input] : llvm::enumerate(node->inputs)) {
    if (node->kind != Kind::Switch || i == 0)
      add(input);
    addLeaves(liveness.of(input));
  }
  addLeaves(liveness.of(node));
}

/// Returns true if a value of the head may be recomputed, and adds the nodes for that to `slice`.
bool FrameConverter::isCheap(Edge value, NodeSet &slice) {
  SmallVector<Node *> work{value.first};
  while (!work.empty()) {
    Node *node = work.pop_back_val();
    if (!head.contains(node) || !slice.insert(node).second)
      continue;
    if (node->kind == Kind::Loop || hasEffects(*node))
      return false;
    bool isScalar = llvm::all_of(node->op->getResultTypes(), [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return isa<TokenType>(type) || (tensor && tensor.getRank() == 0);
    });
    if (node->kind == Kind::Plain && !isScalar && !node->op->hasTrait<OpTrait::ConstantLike>())
      return false;
    addPredecessors(*node, work);
  }
  return true;
}

void FrameConverter::chooseShared() {
  SetVector<Edge> values;
  for (Node *node : body)
    addHeadValues(node, continues, values);
  Guard ends = liveness.guards.negate(continues);
  for (Node *node : last)
    addHeadValues(node, ends, values);
  // All variables are assumed to be live here, but guards of the head may also depend on any
  // predicate in it, and on whether the results of its loops are live.
  for (Node *node : head) {
    if (node->kind == Kind::Switch)
      for (Edge leaf : liveness.leavesOf(liveness.valueOf(node->inputs[1])))
        if (head.contains(resolve(leaf).first))
          values.insert(resolve(leaf));
    if (node->kind != Kind::Loop || node->ghostOf)
      continue;
    for (size_t i = 0; i < node->loop->variables.size(); ++i)
      values.insert({node, unsigned(3 * i + 2)});
    for (size_t i = 0; i < node->loop->shared.size(); ++i)
      values.insert({node, unsigned(node->loop->firstShared() + i)});
  }
  // Sets of pointers have no deterministic order.
  SmallVector<Edge> sorted(values.begin(), values.end());
  llvm::sort(sorted, [](Edge a, Edge b) {
    return std::pair(a.first->order, a.second) < std::pair(b.first->order, b.second);
  });
  for (Edge value : sorted)
    loop->isRotated |= !isCheap(value, recomputed);
  if (!loop->isRotated)
    return;
  recomputed.clear();
  loop->shared = sorted;
}

//===----------------------------------------------------------------------===//
// The node of the loop
//===----------------------------------------------------------------------===//

namespace {
/// Copies nodes, including the contents of loops.
class Copier {
public:
  Copier(Graph &graph) : graph(graph) {}

  Node *copy(Node *node) {
    Node *&result = copies[node];
    if (result)
      return result;
    Node *made = result = graph.copy(*node);
    if (made->kind == Kind::Loop)
      made->loop = copyLoop(*node->loop);
    for (Edge &edge : made->inputs)
      edge = map(edge);
    for (auto *list : {&made->after, &made->ended})
      for (Node *&other : *list)
        other = map(other);
    made->ghostOf = map(made->ghostOf);
    made->ghostLoop = map(made->ghostLoop);
    return made;
  }

  void replace(Edge edge, Edge replacement) { edges[edge] = replacement; }
  void replace(Node *node, Node *replacement) { copies[node] = replacement; }

private:
  Node *map(Node *node) const {
    auto found = copies.find(node);
    return found == copies.end() ? node : found->second;
  }
  Edge map(Edge edge) const {
    auto found = edges.find(edge);
    return found == edges.end() ? Edge(map(edge.first), edge.second) : found->second;
  }

  std::shared_ptr<Loop> copyLoop(const Loop &loop) {
    auto made = std::make_shared<Loop>(loop);
    for (LoopVariable &variable : made->variables)
      variable.node = copy(variable.node);
    for (auto *list : {&made->head, &made->body})
      for (Node *&node : *list)
        node = copy(node);
    made->condition = map(made->condition);
    for (LoopVariable &variable : made->variables) {
      variable.init = map(variable.init);
      variable.next = map(variable.next);
    }
    for (Edge &edge : made->shared)
      edge = map(edge);
    return made;
  }

  Graph &graph;
  DenseMap<Node *, Node *> copies;
  DenseMap<Edge, Edge> edges;
};
} // namespace

/// Copies the part of the last iteration after the condition, and the nodes of the head that it
/// needs, to the parent. Exits are already there.
void FrameConverter::copyLastIteration(Node *loopNode) {
  Copier copier(graph);
  for (auto [i, variable] : llvm::enumerate(loop->variables))
    for (unsigned result : {0, 1})
      copier.replace({variable.node, result}, {loopNode, unsigned(3 * i + result)});
  for (const LoopVariable &variable : loop->variables)
    copier.replace(variable.node, loopNode);
  for (Node *node : nodes) {
    if (variables.contains(node) || !(head.contains(node) || last.contains(node)))
      continue;
    bool isExit = node->kind == Kind::Exit;
    Node *copy = copier.copy(node);
    copy->ended.push_back(loopNode);
    copy->order = loopNode->order;
    copy->isLast |= node == condition;
    if (head.contains(node) && (loop->isRotated || hasEffects(*node))) {
      copy->ghostOf = node;
      copy->ghostLoop = loopNode;
    }
    if (isExit || node->kind == Kind::LoopCond || node->kind == Kind::NextIteration)
      copy->kind = Kind::Forward;
    if (isExit) {
      // Other nodes refer to the original exit.
      node->kind = Kind::Forward;
      node->inputs = copy->inputs;
      node->after = copy->after;
      node->ended = copy->ended;
      frame.parent->nodes.push_back(node);
      continue;
    }
    frame.parent->nodes.push_back(copy);
  }
}

void FrameConverter::collectInputs(Node *loopNode) {
  SetVector<Edge> inputs;
  SetVector<Node *> after;
  for (const LoopVariable &variable : loop->variables) {
    inputs.insert(variable.init);
    for (Node *node : variable.node->after)
      if (!isMember(node))
        after.insert(node);
  }
  for (Node *node : nodes) {
    if (variables.contains(node))
      continue;
    // Values that only the last iteration reads are also available before the loop starts.
    bool isInside = head.contains(node) || body.contains(node);
    for (Edge input : node->inputs)
      if (!isMember(input.first)) {
        after.insert(input.first);
        if (isInside)
          inputs.insert(input);
      }
    for (Node *input : node->after)
      if (!isMember(input))
        after.insert(input);
  }
  loopNode->inputs.assign(inputs.begin(), inputs.end());
  loopNode->after.assign(after.begin(), after.end());
}

void FrameConverter::build() {
  Node *loopNode = graph.create(Kind::Loop, frame.entered->op);
  loopNode->order = nodes.front()->order;
  for (Node *node : nodes)
    loopNode->order = std::min(loopNode->order, node->order);
  loopNode->loop = loop;
  loop->condition = condition;
  collectInputs(loopNode);
  copyLastIteration(loopNode);
  for (Node *node : nodes) {
    if (head.contains(node))
      loop->head.push_back(node);
    if (body.contains(node) || recomputed.contains(node))
      loop->body.push_back(node);
  }
  for (const LoopVariable &variable : loop->variables) {
    variable.node->kind = Kind::Variable;
    variable.node->inputs.clear();
    variable.node->after.clear();
  }
  frame.parent->nodes.push_back(loopNode);
}

LogicalResult structureLoops(Graph &graph) {
  llvm::SmallPtrSet<Frame *, 4> wrong;
  // A frame comes after its parent.
  for (auto &frame : llvm::reverse(llvm::drop_begin(graph.frames)))
    if (wrong.contains(frame.get()) || failed(FrameConverter(graph, *frame).run()))
      wrong.insert(frame->parent);
  if (!wrong.empty())
    return failure();
  Frame &root = *graph.frames.front();
  SmallVector<Node *> cycle;
  graph.nodes = sortTopologically(inOrder(root.nodes), cycle);
  if (cycle.empty())
    return success();
  return emitError(cycle.front()->op->getLoc())
         << "a frame is not a while loop: it depends on its own result, through " << namesOf(cycle)
         << " [irreducible-loop]";
}

} // namespace tfc::controlflow
