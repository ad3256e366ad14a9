//===- Graph.cpp - The nodes of a dataflow graph --------------------------===//
//
// Reads a `dfg.dataflow` block into the nodes and edges that all steps of this stage work on, and
// implements the queries that need nothing but these edges.
//
//===----------------------------------------------------------------------===//

#include "compiler/controlflow/Graph.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::controlflow {

Node *Graph::create(Kind kind, Operation *op) {
  storage.push_back(std::make_unique<Node>());
  Node *node = storage.back().get();
  node->kind = kind;
  node->op = op;
  return node;
}

Node *Graph::copy(const Node &node) {
  storage.push_back(std::make_unique<Node>(node));
  return storage.back().get();
}

static Kind kindOf(Operation *op) {
  return TypeSwitch<Operation *, Kind>(op)
      .Case([](SwitchOp) { return Kind::Switch; })
      .Case([](MergeOp) { return Kind::Merge; })
      .Case([](EnterOp) { return Kind::Enter; })
      .Case([](ExitOp) { return Kind::Exit; })
      .Case([](NextIterationOp) { return Kind::NextIteration; })
      .Case([](LoopCondOp) { return Kind::LoopCond; })
      .Default([](Operation *) { return Kind::Plain; });
}

namespace {
/// Creates nodes for operations, then connects them.
class Builder {
public:
  Builder(Graph &graph) : graph(graph) {}

  void build() {
    for (Operation &op : graph.op.getBody().front().without_terminator())
      addNode(&op);
    for (Node *node : graph.nodes)
      connect(*node);
    if (!binders.empty())
      for (Node *node : graph.nodes)
        followSizes(*node);
    auto yield = cast<YieldOp>(graph.op.getBody().front().getTerminator());
    for (Value value : yield.getValues())
      graph.results.push_back(edgeOf(value));
  }

private:
  void addNode(Operation *op) {
    Operation *inner = op;
    if (auto node = dyn_cast<NodeOp>(op))
      if (kindOf(&node.getBody().front().front()) != Kind::Plain)
        inner = &node.getBody().front().front();
    Node *node = graph.create(kindOf(inner), inner);
    node->order = graph.nodes.size();
    graph.nodes.push_back(node);
    addBinders(op, node);
    for (OpResult result : inner->getResults())
      edges[result] = {node, result.getResultNumber()};
    if (inner == op)
      return;
    auto wrapper = cast<NodeOp>(op);
    // The verifier has checked that only results of the operation are yielded.
    ValueRange yielded = wrapper.getBody().front().getTerminator()->getOperands();
    for (auto [result, value] : llvm::zip_equal(wrapper.getResults(), yielded))
      edges[result] = {node, cast<OpResult>(value).getResultNumber()};
    edges[wrapper.getDone()] = {node, 0};
  }

  /// Registers the sizes that `op`, or an operation of its node, binds for other nodes.
  void addBinders(Operation *op, Node *node) {
    auto add = [&](BindSizeOp binder) { binders[binder.getName()] = node; };
    if (auto binder = dyn_cast<BindSizeOp>(op))
      add(binder);
    else if (auto wrapper = dyn_cast<NodeOp>(op))
      llvm::for_each(wrapper.getBody().getOps<BindSizeOp>(), add);
  }

  /// A node runs after those that bind the sizes which it mentions, and only if they run.
  void followSizes(Node &node) {
    SetVector<Node *> found;
    outerOf(node)->walk([&](Operation *nested) {
      for (const std::string &name : RunTimeSizes::namesIn(nested))
        if (Node *binder = binders.lookup(name); binder && binder != &node)
          found.insert(binder);
    });
    llvm::append_range(node.after, found);
  }

  static Operation *outerOf(const Node &node) {
    return isa<NodeOp>(node.op->getParentOp()) ? node.op->getParentOp() : node.op;
  }

  void connect(Node &node) {
    Operation *outer = outerOf(node);
    if (auto wrapper = dyn_cast<NodeOp>(outer)) {
      node.always = wrapper.getAlways();
      for (Value token : wrapper.getAfter())
        node.after.push_back(edgeOf(token).first);
    } else {
      addInputs(node, outer->getOperands());
    }
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(outer->getRegions(), captured);
    if (node.op != outer) {
      addInputs(node, node.op->getOperands());
      return;
    }
    addInputs(node, captured.getArrayRef());
  }

  void addInputs(Node &node, ValueRange values) {
    for (Value value : values) {
      node.operands.push_back(value);
      node.inputs.push_back(edgeOf(value));
    }
  }

  Edge edgeOf(Value value) {
    auto [entry, isNew] = edges.try_emplace(value);
    if (isNew) {
      Node *node = graph.create(Kind::Outside, nullptr);
      node->outside = value;
      entry->second = {node, 0};
    }
    return entry->second;
  }

  Graph &graph;
  DenseMap<Value, Edge> edges;
  /// The nodes that bind data-dependent sizes.
  llvm::StringMap<Node *> binders;
};
} // namespace

void buildGraph(DataflowOp op, Graph &graph) {
  graph.op = op;
  Builder(graph).build();
}

/// The result of the loop that holds the value of a node's ghost, if the loop shares it.
static Edge resolveGhost(Edge edge) {
  const Loop &loop = *edge.first->ghostLoop->loop;
  auto found = llvm::find(loop.shared, resolve({edge.first->ghostOf, edge.second}));
  if (found == loop.shared.end())
    return edge;
  return {edge.first->ghostLoop, loop.firstShared() + (found - loop.shared.begin())};
}

/// The edge of a value that a node without operations yields, if there is one.
static Edge forwardedByNode(Edge edge) {
  auto wrapper = dyn_cast<NodeOp>(edge.first->op);
  if (!wrapper || !llvm::hasSingleElement(wrapper.getBody().front()))
    return {};
  Value value = wrapper.getBody().front().getTerminator()->getOperand(edge.second);
  return edge.first->inputs[llvm::find(edge.first->operands, value) - edge.first->operands.begin()];
}

Edge resolve(Edge edge) {
  while (true) {
    switch (edge.first->kind) {
    case Kind::Switch:
    case Kind::Enter:
    case Kind::Exit:
    case Kind::NextIteration:
    case Kind::LoopCond:
    case Kind::Forward:
      edge = edge.first->inputs[0];
      continue;
    case Kind::Plain:
      if (Edge forwarded = forwardedByNode(edge); forwarded.first) {
        edge = forwarded;
        continue;
      }
      [[fallthrough]];
    default:
      return edge.first->ghostOf ? resolveGhost(edge) : edge;
    }
  }
}

Type typeOf(Edge edge) {
  Node *node = edge.first;
  if (node->kind == Kind::Outside)
    return node->outside.getType();
  if (node->kind == Kind::Loop) {
    const Loop &loop = *node->loop;
    if (edge.second >= loop.firstShared())
      return typeOf(loop.shared[edge.second - loop.firstShared()]);
    node = loop.variables[edge.second / 3].node;
    edge.second %= 3;
  }
  if (node->kind == Kind::Variable && edge.second == 2)
    return tensorOf({}, IntegerType::get(node->op->getContext(), 1));
  return node->op->getResult(edge.second).getType();
}

/// Text names nodes by entry, instance and binding; an error is about one entry.
static StringRef withoutEntry(Operation *op, StringRef name) {
  if (auto entry = op->getParentOfType<EntryOp>()) {
    StringRef rest = name;
    if (rest.consume_front(entry.getSymName()) && rest.consume_front("/"))
      return rest;
  }
  return name;
}

std::string nameOf(Operation *op) {
  if (auto named = dyn_cast<NameLoc>(op->getLoc()))
    return ("'" + withoutEntry(op, named.getName().getValue()) + "'").str();
  if (auto wrapper = dyn_cast<NodeOp>(op);
      wrapper && !llvm::hasSingleElement(wrapper.getBody().front()))
    return nameOf(&wrapper.getBody().front().front());
  return ("'" + op->getName().stripDialect() + "'").str();
}

std::string namesOf(ArrayRef<Node *> path) {
  constexpr size_t kMost = 8;
  SmallVector<std::string> names;
  for (Node *node : path)
    names.push_back(StringRef(nameOf(node)).trim('\'').str());
  // Operations of one expression have the same name, that of the binding.
  names.erase(llvm::unique(names), names.end());
  if (names.size() > kMost) {
    names.erase(names.begin() + kMost / 2, names.end() - kMost / 2);
    names.insert(names.begin() + kMost / 2, "...");
  }
  return llvm::join(names, " -> ");
}

void addPredecessors(const Node &node, SmallVectorImpl<Node *> &predecessors) {
  for (auto [input, result] : node.inputs)
    if (input->kind != Kind::NextIteration || node.kind != Kind::Merge)
      predecessors.push_back(input);
  llvm::append_range(predecessors, node.after);
  llvm::append_range(predecessors, node.ended);
}

namespace {
/// A depth-first search without recursion: graphs may be long chains.
class Sorter {
public:
  Sorter(ArrayRef<Node *> nodes, SmallVectorImpl<Node *> &cycle)
      : nodes(nodes), members(nodes.begin(), nodes.end()), cycle(cycle) {}

  SmallVector<Node *> sort() {
    for (Node *node : nodes)
      if (!visit(node))
        return {};
    return std::move(sorted);
  }

private:
  struct Step {
    Node *node;
    SmallVector<Node *> predecessors;
    size_t next = 0;
  };

  bool push(Node *node) {
    if (!members.contains(node) || done.contains(node))
      return true;
    if (!active.insert(node).second) {
      auto start = llvm::find_if(path, [&](const Step &step) { return step.node == node; });
      for (const Step &step : llvm::reverse(llvm::make_range(start, path.end())))
        cycle.push_back(step.node);
      std::rotate(cycle.begin(), cycle.end() - 1, cycle.end());
      cycle.push_back(node);
      return false;
    }
    path.push_back({node, {}});
    addPredecessors(*node, path.back().predecessors);
    llvm::sort(path.back().predecessors, [](Node *a, Node *b) { return a->order < b->order; });
    return true;
  }

  bool visit(Node *root) {
    if (!push(root))
      return false;
    while (!path.empty()) {
      Step &step = path.back();
      if (step.next < step.predecessors.size()) {
        if (!push(step.predecessors[step.next++]))
          return false;
        continue;
      }
      sorted.push_back(step.node);
      done.insert(step.node);
      active.erase(step.node);
      path.pop_back();
    }
    return true;
  }

  ArrayRef<Node *> nodes;
  DenseSet<Node *> members, done, active;
  SmallVector<Node *> sorted;
  std::vector<Step> path;
  SmallVectorImpl<Node *> &cycle;
};
} // namespace

SmallVector<Node *> sortTopologically(ArrayRef<Node *> nodes, SmallVectorImpl<Node *> &cycle) {
  return Sorter(nodes, cycle).sort();
}

} // namespace tfc::controlflow
