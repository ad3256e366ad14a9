// Resolves handles and references. Each is followed through the nodes that forward it, once per
// node, because chains may be long and cyclic.

#include "frontend/tensorflow/Handles.h"
#include "frontend/Fmt.h"
#include "frontend/tensorflow/Rules.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace tfc::tensorflow {

namespace {

/// The object to which a node's handle refers, or the edge to follow to find it.
template <typename T> struct Link {
  std::optional<T> value;
  std::optional<Edge> next;
};

} // namespace

/// Follows the links of all nodes, each once; `pass` may change the answer at each node on the way
/// back. Cycles have no answer.
template <typename T, typename LinkOf, typename Pass>
static std::vector<std::optional<T>> followLinks(size_t count, LinkOf linkOf, Pass pass) {
  enum State : char { Unknown, OnPath, Known };
  std::vector<std::optional<T>> results(count);
  std::vector<State> states(count, Unknown);
  std::vector<unsigned> path;
  for (unsigned start = 0; start < count; ++start) {
    std::optional<T> value;
    for (std::optional<unsigned> node = start; node;) {
      if (states[*node] != Unknown) {
        value = results[*node];
        break;
      }
      states[*node] = OnPath;
      path.push_back(*node);
      Link<T> link = linkOf(*node);
      value = link.value;
      node = link.next ? std::optional(link.next->node) : std::nullopt;
    }
    for (; !path.empty(); path.pop_back()) {
      pass(path.back(), value);
      results[path.back()] = value;
      states[path.back()] = Known;
    }
  }
  return results;
}

template <typename T> static void passOn(unsigned, std::optional<T> &) {}

std::optional<Edge> Handles::pushedTo(std::optional<unsigned> stack) const {
  auto found = stack ? pushes.find(*stack) : pushes.end();
  return found == pushes.end() ? std::nullopt : std::optional(found->second);
}

void Handles::findResources(const Graph &graph) {
  auto linkOf = [&](unsigned index) -> Link<unsigned> {
    const Node &node = graph.nodes[index];
    const OpRule *rule = findRule(node.op);
    if (rule && (rule->flags & OpRule::Handle))
      return {index, {}};
    if (node.op != "StackPopV2" || !node.inputs.first())
      return {{}, node.inputs.first()};
    return {{}, pushed(*node.inputs.first())};
  };
  resources = followLinks<unsigned>(graph.nodes.size(), linkOf, passOn<unsigned>);
}

/// Finds the first push to each stack; returns false if nothing has changed.
bool Handles::findPushes(const Graph &graph) {
  std::map<unsigned, Edge> found;
  for (const Node &node : graph.nodes) {
    if (node.op != "StackPushV2" || node.inputs.size() != 2)
      continue;
    if (std::optional<unsigned> stack = resource(*node.inputs.first()))
      found.try_emplace(*stack, *node.inputs.at(1));
  }
  bool isNew = found != pushes;
  pushes = std::move(found);
  return isNew;
}

bool passesHandle(const Node &node) {
  // A stack of handles takes and returns them as elements.
  return hasFlag(node.op, OpRule::Reference) ||
         (node.number("T") == kResourceDtype && !hasFlag(node.op, OpRule::Effect));
}

void Handles::findReferences(const Graph &graph) {
  auto linkOf = [&](unsigned index) -> Link<unsigned> {
    const Node &node = graph.nodes[index];
    if (node.op == "VariableV2" || node.op == "Variable")
      return {index, {}};
    if (!hasFlag(node.op, OpRule::Reference))
      return {};
    return {{}, node.inputs.first()};
  };
  references = followLinks<unsigned>(graph.nodes.size(), linkOf, passOn<unsigned>);
}

void Handles::findArrays(const Graph &graph) {
  // Gradients of gradients are rare; sources that keep growing are an error.
  constexpr size_t kMaxSource = 4096;
  auto linkOf = [&](unsigned index) -> Link<ListKey> {
    const Node &node = graph.nodes[index];
    if (node.op == "TensorArrayV3")
      return {ListKey{index, ""}, {}};
    if (node.op == "StackPopV2" && node.inputs.first())
      return {{}, pushed(*node.inputs.first())};
    if (node.op == "TensorArrayGradV3" || hasFlag(node.op, OpRule::Passes | OpRule::Merges))
      return {{}, node.inputs.first()};
    return {};
  };
  auto pass = [&](unsigned index, std::optional<ListKey> &key) {
    if (!key || graph.nodes[index].op != "TensorArrayGradV3")
      return;
    key->source = fmt::format("/{}{}", graph.nodes[index].attr("source").text, key->source);
    if (key->source.size() > kMaxSource)
      key.reset();
  };
  arrays = followLinks<ListKey>(graph.nodes.size(), linkOf, pass);
}

bool isHandle(const Graph &graph, Edge edge) {
  const Node &node = graph.nodes[edge.node];
  return edge.output == 0 && (hasFlag(node.op, OpRule::Handle) || passesHandle(node));
}

std::optional<unsigned> Handles::variable(const Graph &graph, Edge edge) const {
  std::optional<unsigned> found = isHandle(graph, edge) ? resource(edge) : std::nullopt;
  bool isVariable = found && is_contained({"Variable", "VariableV2", "VarHandleOp"},
                                          StringRef(graph.nodes[*found].op));
  return isVariable ? found : std::nullopt;
}

Handles::Handles(const Graph &graph) : resources(graph.nodes.size()) {
  // Handles of stacks may be pushed to stacks themselves, nested as deep as loops are.
  constexpr unsigned kMaxDepth = 64;
  findResources(graph);
  for (unsigned depth = 0; depth < kMaxDepth && findPushes(graph); ++depth)
    findResources(graph);
  findReferences(graph);
  findArrays(graph);
}

} // namespace tfc::tensorflow
