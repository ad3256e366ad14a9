// Follows the edges from the node that restores a checkpoint to the nodes that read it: keys of a
// checkpoint are not the names of variables.

#include "frontend/tensorflow/Restore.h"

#include "frontend/tensorflow/Rules.h"

using namespace llvm;

namespace tfc::tensorflow {

/// Returns the edge whose value an edge passes on.
static std::optional<Edge> sourceOf(const Graph &graph, std::optional<Edge> edge) {
  // In a damaged graph, edges may form a cycle.
  for (size_t steps = 0; edge && steps < graph.nodes.size(); ++steps) {
    const Node &node = graph.nodes[edge->node];
    if (node.op != "Identity" && node.op != "PlaceholderWithDefault")
      break;
    edge = node.inputs.first();
  }
  return edge;
}

/// Returns an element of a constant of texts, of which the last one stands for the rest.
static std::optional<std::string> textAt(const Graph &graph, std::optional<Edge> edge,
                                         unsigned number) {
  edge = sourceOf(graph, edge);
  if (!edge || graph.nodes[edge->node].op != "Const")
    return std::nullopt;
  const std::vector<std::string> &texts = graph.nodes[edge->node].attr("value").texts;
  return texts.empty() ? "" : texts[std::min<size_t>(number, texts.size() - 1)];
}

static std::optional<RestoredTensor> restoredAt(const Graph &graph, std::optional<Edge> edge,
                                                std::optional<Edge> checkpoint) {
  edge = sourceOf(graph, edge);
  if (!edge || graph.nodes[edge->node].op != "RestoreV2")
    return std::nullopt;
  const EdgeList &inputs = graph.nodes[edge->node].inputs;
  std::optional<Edge> file = sourceOf(graph, inputs.first());
  std::optional<std::string> key = textAt(graph, inputs.at(1), edge->output),
                             slice = textAt(graph, inputs.at(2), edge->output);
  if (!key || !slice || !file || file != checkpoint)
    return std::nullopt;
  return RestoredTensor{std::move(*key), std::move(*slice)};
}

std::map<std::string, RestoredTensor> findRestored(const Graph &graph, const Handles &handles,
                                                   StringRef restoreOp, StringRef checkpoint) {
  std::map<std::string, RestoredTensor> restored;
  auto start = graph.byName.find(restoreOp);
  if (start == graph.byName.end())
    return restored;
  std::optional<Edge> file = sourceOf(graph, graph.findTensor(checkpoint));
  std::vector<unsigned> work{start->second};
  std::vector<char> isReached(graph.nodes.size(), false);
  while (!work.empty()) {
    unsigned index = work.back();
    work.pop_back();
    if (std::exchange(isReached[index], true))
      continue;
    const Node &node = graph.nodes[index];
    for (Edge input : node.inputs)
      work.push_back(input.node);
    llvm::append_range(work, node.controls);
    std::optional<Edge> handle = node.inputs.first();
    if (!mayAssign(node.op) || !handle)
      continue;
    std::optional<unsigned> variable = handles.resource(*handle);
    if (!variable)
      continue;
    if (std::optional<RestoredTensor> tensor = restoredAt(graph, node.inputs.at(1), file))
      restored.try_emplace(variableName(graph.nodes[*variable]), std::move(*tensor));
  }
  return restored;
}

} // namespace tfc::tensorflow
