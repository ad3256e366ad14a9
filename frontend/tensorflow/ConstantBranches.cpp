// TensorFlow's optimizer folds conditions, but leaves the branches as they are.

#include "frontend/tensorflow/ConstantBranches.h"

#include "frontend/tensorflow/Rules.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <set>

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

namespace {
class Branches {
public:
  explicit Branches(Graph &graph) : graph(graph) {}

  /// Finds the switches, and the edges and nodes that are dead because of them. Returns false if
  /// there are none.
  bool find();
  void connect();

private:
  /// Returns the bool that an edge carries, if it is a constant.
  std::optional<bool> constantAt(Edge edge) const;
  bool isDeadEdge(Edge edge) const { return isDead[edge.node] || deadEdges.count(edge); }
  /// Returns the only input of a merge that may be live, if there is one such input.
  std::optional<Edge> onlyLiveInput(const Node &merge) const;

  Graph &graph;
  std::map<unsigned, bool> conditions; // of switches, by node
  std::set<Edge> deadEdges;
  std::vector<char> isDead;
};
} // namespace

std::optional<bool> Branches::constantAt(Edge edge) const {
  constexpr unsigned kMostPassed = 64;
  for (unsigned i = 0; i < kMostPassed; ++i) {
    const Node &node = graph.nodes[edge.node];
    if (node.op == "Const") {
      auto value = dyn_cast_or_null<DenseElementsAttr>(node.attr("value").tensor);
      bool isBool = value && value.getElementType().isInteger(1) && value.isSplat();
      return isBool ? std::optional(value.getSplatValue<bool>()) : std::nullopt;
    }
    if (node.op != "Identity" || !node.inputs.first())
      return std::nullopt;
    edge = *node.inputs.first();
  }
  return std::nullopt;
}

std::optional<Edge> Branches::onlyLiveInput(const Node &merge) const {
  std::optional<Edge> live;
  for (Edge input : merge.inputs) {
    if (isDeadEdge(input))
      continue;
    if (live)
      return std::nullopt;
    live = input;
  }
  return live;
}

bool Branches::find() {
  isDead.assign(graph.nodes.size(), false);
  std::vector<SmallVector<unsigned>> users(graph.nodes.size());
  std::vector<unsigned> work;
  for (auto [index, node] : enumerate(graph.nodes)) {
    for (Edge input : node.inputs)
      users[input.node].push_back(index);
    for (unsigned control : node.controls)
      users[control].push_back(index);
    std::optional<Edge> predicate = node.op == "Switch" ? node.inputs.at(1) : std::nullopt;
    std::optional<bool> condition = predicate ? constantAt(*predicate) : std::nullopt;
    if (!condition)
      continue;
    conditions[index] = *condition;
    deadEdges.insert({unsigned(index), *condition ? 0u : 1u});
    work.push_back(index);
  }
  while (!work.empty()) {
    unsigned index = work.back();
    work.pop_back();
    for (unsigned user : users[index]) {
      const Node &node = graph.nodes[user];
      auto isDeadInput = [&](Edge input) { return isDeadEdge(input); };
      bool dies = hasFlag(node.op, OpRule::Merges)
                      ? !node.inputs.empty() && llvm::all_of(node.inputs, isDeadInput)
                      : llvm::any_of(node.inputs, isDeadInput) ||
                            llvm::any_of(node.controls, [&](unsigned at) { return isDead[at]; });
      if (dies && !std::exchange(isDead[user], true))
        work.push_back(user);
    }
  }
  return !conditions.empty();
}

void Branches::connect() {
  std::set<unsigned> numbered; // merges whose second output is read
  for (const Node &node : graph.nodes)
    for (Edge input : node.inputs)
      if (input.output == 1)
        numbered.insert(input.node);
  for (auto [index, node] : enumerate(graph.nodes)) {
    std::optional<Edge> live =
        node.op == "Merge" && !numbered.count(index) ? onlyLiveInput(node) : std::nullopt;
    if (live && node.inputs.size() > 1) {
      node.op = "Identity";
      node.inputs = {};
      node.inputs.add(*live);
    }
  }
  // Chains of switches end, because nodes of a cycle have none of these.
  auto source = [&](Edge edge) {
    for (unsigned i = 0; i < graph.nodes.size(); ++i) {
      auto found = conditions.find(edge.node);
      if (found == conditions.end() || edge.output != unsigned(found->second))
        break;
      edge = *graph.nodes[edge.node].inputs.first();
    }
    return edge;
  };
  for (Node &node : graph.nodes) {
    EdgeList inputs;
    for (Edge input : node.inputs)
      inputs.add(source(input));
    node.inputs = inputs;
  }
}

void resolveConstantBranches(Graph &graph) {
  Branches branches(graph);
  if (branches.find())
    branches.connect();
}

} // namespace tfc::tensorflow
