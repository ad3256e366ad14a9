// Which edges carry complex numbers follows from the types that nodes name, and is passed on by
// control flow, whose nodes need not name one.

#include "frontend/tensorflow/Complex.h"

#include "frontend/tensorflow/Rules.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// Returns true if an attribute is a complex type, or lists one.
static bool namesComplexType(const Attr &attr) {
  return (attr.kind == AttrKind::Type && isComplexDtype(attr.number)) ||
         (attr.kind == AttrKind::Types && llvm::any_of(attr.numbers, isComplexDtype));
}

/// Returns true if the node passes on what it reads, whatever that is.
static bool forwards(const Node &node) { return hasFlag(node.op, OpRule::Passes | OpRule::Merges); }

bool ComplexEdges::readsComplex(unsigned node) const {
  return llvm::any_of(graph.nodes[node].inputs, [&](Edge input) { return isComplex(input); });
}

bool ComplexEdges::returnsComplex(unsigned index) const {
  const Node &node = graph.nodes[index];
  if (forwards(node))
    return readsComplex(index);
  const OpRule *rule = isUsed[index] ? findComplexRule(node.op) : nullptr;
  rule = rule ? rule : findRule(node.op);
  if (!rule || (rule->flags & (OpRule::OnePlane | OpRule::ReturnsReal)))
    return false;
  if (rule->flags & OpRule::Complex)
    return isComplexDtype(node.number("DstT", node.number("dtype", kComplex64Dtype)));
  return isUsed[index];
}

ComplexEdges::ComplexEdges(const Graph &graph)
    : graph(graph), isUsed(graph.nodes.size(), false), isReturned(graph.nodes.size(), false) {
  std::vector<SmallVector<unsigned>> readers(graph.nodes.size());
  std::vector<unsigned> work;
  for (auto [index, node] : enumerate(graph.nodes)) {
    for (Edge input : node.inputs)
      readers[input.node].push_back(index);
    isUsed[index] =
        llvm::any_of(node.attrs, [](auto &attr) { return namesComplexType(attr.second); });
    const OpRule *rule = findRule(node.op);
    if (isUsed[index] || (rule && (rule->flags & OpRule::Complex)))
      work.push_back(index);
  }
  while (!work.empty()) {
    unsigned index = work.back();
    work.pop_back();
    isUsed[index] |= readsComplex(index);
    if (isReturned[index] || !returnsComplex(index))
      continue;
    isReturned[index] = true;
    isUsed[index] = true;
    llvm::append_range(work, readers[index]);
  }
}

bool ComplexEdges::isComplex(Edge edge) const {
  // The second output of a merge is the number of an input.
  return isReturned[edge.node] &&
         (edge.output == 0 || !hasFlag(graph.nodes[edge.node].op, OpRule::Merges));
}

} // namespace tfc::tensorflow
