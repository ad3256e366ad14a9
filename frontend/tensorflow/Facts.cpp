// What the structure of the graph tells before anything is built.

#include "frontend/tensorflow/Importer.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// Operations that pass their first input on, also from frame to frame.
static bool isPassing(StringRef op) {
  static const llvm::StringSet<> kOps{
      "Identity", "Enter",   "Exit",      "Switch",           "NextIteration", "RefIdentity",
      "RefEnter", "RefExit", "RefSwitch", "RefNextIteration", "StopGradient",  "PreventGradient"};
  return kOps.contains(op);
}

static bool isEnter(StringRef op) { return op == "Enter" || op == "RefEnter"; }
static bool isExit(StringRef op) { return op == "Exit" || op == "RefExit"; }
static bool isSwitch(StringRef op) { return op == "Switch" || op == "RefSwitch"; }
static bool isMerge(StringRef op) { return op == "Merge" || op == "RefMerge"; }

/// What was pushed comes back from the stack: the edge behind a pop.
static std::optional<Edge> pushedEdge(const Graph &graph, Edge stack, unsigned depth);

static std::optional<unsigned> resolveResource(const Graph &graph, Edge edge, unsigned depth) {
  for (; depth < 10000; ++depth) {
    const Node &node = graph.nodes[edge.node];
    const OpRule *rule = findRule(node.op);
    if (rule && (rule->flags & OpRule::Handle))
      return edge.node;
    if (node.inputs.empty())
      return std::nullopt;
    if (node.op == "StackPopV2") {
      std::optional<Edge> pushed = pushedEdge(graph, node.inputs.front(), depth);
      if (!pushed)
        return std::nullopt;
      edge = *pushed;
    } else {
      edge = node.inputs.front();
    }
  }
  return std::nullopt;
}

static std::optional<Edge> pushedEdge(const Graph &graph, Edge stack, unsigned depth) {
  std::optional<unsigned> owner = resolveResource(graph, stack, depth + 1);
  if (!owner)
    return std::nullopt;
  for (const Node &node : graph.nodes)
    if (node.op == "StackPushV2" && node.inputs.size() == 2 &&
        resolveResource(graph, node.inputs.front(), depth + 1) == owner)
      return node.inputs.back();
  return std::nullopt;
}

std::optional<Edge> resolvePushed(const Graph &graph, Edge stack) {
  return pushedEdge(graph, stack, 0);
}

std::optional<unsigned> resolveResource(const Graph &graph, Edge edge) {
  return resolveResource(graph, edge, 0);
}

static bool isVariableReference(StringRef op) { return op == "VariableV2" || op == "Variable"; }

std::optional<unsigned> resolveReference(const Graph &graph, Edge edge) {
  for (size_t steps = 0; steps <= graph.nodes.size(); ++steps) {
    const Node &node = graph.nodes[edge.node];
    if (isVariableReference(node.op))
      return edge.node;
    if (!StringRef(node.op).starts_with("Ref") || node.inputs.empty())
      return std::nullopt;
    edge = node.inputs.front();
  }
  return std::nullopt;
}

std::optional<ListKey> resolveArray(const Graph &graph, Edge edge) {
  std::string source;
  for (size_t steps = 0; steps <= graph.nodes.size(); ++steps) {
    const Node &node = graph.nodes[edge.node];
    if (node.op == "TensorArrayV3")
      return ListKey{edge.node, source};
    if (node.inputs.empty())
      return std::nullopt;
    if (node.op == "TensorArrayGradV3")
      source += "/" + node.attr("source").text;
    else if (node.op == "StackPopV2") {
      std::optional<Edge> pushed = pushedEdge(graph, node.inputs.front(), 0);
      if (!pushed)
        return std::nullopt;
      edge = *pushed;
      continue;
    } else if (!isPassing(node.op) && !isMerge(node.op))
      return std::nullopt;
    edge = node.inputs.front();
  }
  return std::nullopt;
}

void EntryBuilder::markNeeded() {
  facts.isNeeded.assign(graph.nodes.size(), false);
  std::vector<unsigned> work(targets.begin(), targets.end());
  auto visit = [&](Edge edge) {
    if (!fed.count(edge))
      work.push_back(edge.node);
  };
  llvm::for_each(fetches, visit);
  while (!work.empty()) {
    unsigned index = work.back();
    work.pop_back();
    if (std::exchange(facts.isNeeded[index], true))
      continue;
    llvm::for_each(graph.nodes[index].inputs, visit);
    llvm::append_range(work, graph.nodes[index].controls);
  }
}

/// The needed nodes that depend on one of the sources, these included.
std::vector<char> EntryBuilder::reachedFrom(ArrayRef<unsigned> sources) const {
  std::vector<SmallVector<unsigned>> users(graph.nodes.size());
  for (auto [index, node] : enumerate(graph.nodes)) {
    if (!facts.isNeeded[index])
      continue;
    for (Edge input : node.inputs)
      if (!fed.count(input))
        users[input.node].push_back(index);
    for (unsigned control : node.controls)
      users[control].push_back(index);
  }
  std::vector<char> isReached(graph.nodes.size(), false);
  std::vector<unsigned> work(sources.begin(), sources.end());
  while (!work.empty()) {
    unsigned index = work.back();
    work.pop_back();
    if (!std::exchange(isReached[index], true))
      llvm::append_range(work, users[index]);
  }
  return isReached;
}

void EntryBuilder::markTokens() {
  std::vector<unsigned> control, effects;
  for (auto [index, node] : enumerate(graph.nodes)) {
    if (!facts.isNeeded[index])
      continue;
    const OpRule *rule = findRule(node.op);
    bool isRead = llvm::any_of(node.inputs, [&](Edge input) {
      return !fed.count(input) && resolveReference(graph, input);
    });
    if (isSwitch(node.op) || isEnter(node.op))
      control.push_back(index);
    else if (isRead || (rule && (rule->flags & OpRule::Effect)))
      effects.push_back(index);
  }
  facts.mayBeDead = reachedFrom(control);
  llvm::append_range(effects, control);
  facts.needsToken = reachedFrom(effects);
}

void EntryBuilder::findFrames() {
  facts.frames.assign(1, {"", 0});
  facts.frameOf.assign(graph.nodes.size(), 0);
  std::map<std::pair<std::string, unsigned>, unsigned> known;
  auto frameOf = [&](const Node &node) {
    unsigned frame = 0;
    for (Edge input : node.inputs)
      frame = std::max(frame, facts.frameOf[input.node]);
    for (unsigned control : node.controls)
      frame = std::max(frame, facts.frameOf[control]);
    if (isExit(node.op))
      return facts.frames[frame].parent;
    if (!isEnter(node.op))
      return frame;
    std::string name = node.attr("frame_name").text;
    auto [found, isNew] = known.try_emplace({name, frame}, facts.frames.size());
    if (isNew)
      facts.frames.push_back({name, frame});
    return found->second;
  };
  // Frames are few and nodes stand mostly in order: a few rounds settle it. In a damaged graph it
  // may never settle; the controlflow stage tells what is wrong there.
  bool hasChanged = true;
  for (unsigned round = 0; hasChanged && round < 64 && facts.frames.size() < 4096; ++round) {
    hasChanged = false;
    for (auto [index, node] : enumerate(graph.nodes)) {
      if (!facts.isNeeded[index])
        continue;
      unsigned frame = frameOf(node);
      hasChanged |= frame != facts.frameOf[index];
      facts.frameOf[index] = frame;
    }
  }
}

namespace {

/// Sets of edges that carry the same list.
class FlowSets {
public:
  Edge find(Edge edge) {
    auto found = parents.find(edge);
    if (found == parents.end() || found->second == edge)
      return edge;
    return found->second = find(found->second);
  }
  void unite(Edge a, Edge b) { parents[find(a)] = find(b); }

  std::map<Edge, Edge> parents;
};

} // namespace

/// A flow is a scalar of f32 in TensorFlow that orders the uses of a TensorArray; here it is the
/// list itself. Which edges carry flows follows from the operations that make them.
void EntryBuilder::findFlows() {
  FlowSets sets;
  std::map<Edge, ListKey> sources;
  for (unsigned index = 0; index < graph.nodes.size(); ++index) {
    const Node &node = graph.nodes[index];
    if (!facts.isNeeded[index] || node.inputs.empty())
      continue;
    StringRef op = node.op;
    if (op == "StackPushV2")
      if (auto stack = resolveResource(graph, node.inputs.front()))
        facts.writers[*stack].push_back(index);
    if (isPassing(op) || isMerge(op) || op == "AddN" || op == "Add" || op == "AddV2") {
      bool isWhole = isMerge(op) || op.starts_with("Add");
      for (Edge input : ArrayRef(node.inputs).take_front(isWhole ? node.inputs.size() : 1))
        // Constants start a sum of flows but carry none, and may be shared.
        if (!graph.nodes[input.node].inputs.empty())
          sets.unite({index, 0}, input);
      if (isSwitch(op))
        sets.unite({index, 0}, {index, 1});
      continue;
    }
    bool isArray = op == "TensorArrayV3" || op == "TensorArrayGradV3";
    if (!isArray && op != "TensorArrayWriteV3" && op != "TensorArrayScatterV3" &&
        op != "TensorArraySplitV3")
      continue;
    if (auto key = resolveArray(graph, isArray ? Edge{index, 0} : node.inputs.front())) {
      sources[{index, isArray ? 1u : 0u}] = *key;
      if (!isArray && key->source.empty())
        facts.writers[key->array].push_back(index);
    }
  }
  std::map<Edge, ListKey> keyOfSet;
  for (auto &[edge, key] : sources)
    keyOfSet.try_emplace(sets.find(edge), key);
  for (auto &[edge, key] : sources)
    facts.flows[edge] = key;
  for (auto &[edge, parent] : sets.parents)
    if (auto found = keyOfSet.find(sets.find(edge)); found != keyOfSet.end())
      facts.flows[edge] = found->second;
  for (auto &[edge, key] : keyOfSet)
    facts.flows[edge] = key;
}

void EntryBuilder::computeFacts() {
  markNeeded();
  markTokens();
  findFrames();
  findFlows();
}

} // namespace tfc::tensorflow
