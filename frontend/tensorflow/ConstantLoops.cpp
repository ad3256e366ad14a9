// Finds loops whose results are constants. Apart from the rules of control flow, because the graph
// says what a loop depends on before its nodes have been built.

#include "frontend/tensorflow/ConstantLoops.h"

#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// Larger loops compute data rather than shapes.
static constexpr size_t kMostNodes = 512;

/// Returns true for an edge of which only the elements matter.
static bool isKnown(const EntryContext &entry, Edge edge) {
  KnownSizes sizes = entry.sizesAt(edge);
  return (sizes && sizes->getConstants()) ||
         (!entry.isFed(edge) && entry.states[edge.node].isConstant);
}

/// Returns true if the results of a node depend on its inputs alone.
static bool isFunction(const EntryContext &entry, unsigned index) {
  const OpRule *rule = entry.ruleOf(index);
  return rule && !(rule->flags & (OpRule::Effect | OpRule::Handle));
}

std::optional<SmallVector<unsigned>> constantLoop(const EntryContext &entry, unsigned exit) {
  SmallVector<unsigned> work{exit}, ends;
  std::set<unsigned> visited;
  while (!work.empty()) {
    unsigned index = work.pop_back_val();
    if (!visited.insert(index).second)
      continue;
    if (!isFunction(entry, index) || visited.size() > kMostNodes)
      return std::nullopt;
    const Node &node = entry.graph.nodes[index];
    if (hasFlag(node.op, OpRule::LoopsBack))
      ends.push_back(index);
    for (Edge input : node.inputs) {
      if (isKnown(entry, input))
        continue;
      if (entry.isFed(input) || input.node == exit)
        return std::nullopt;
      work.push_back(input.node);
    }
    append_range(work, node.controls);
    if (is_contained(node.controls, exit))
      return std::nullopt;
  }
  return ends;
}

} // namespace tfc::tensorflow
