// Nodes and parts of edges that are added to a graph before it is built.

#include "frontend/tensorflow/PartsExpander.h"
#include "frontend/Fmt.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

Attr typeAttr(int64_t dtype) {
  Attr attr;
  attr.kind = AttrKind::Type;
  attr.number = dtype;
  return attr;
}

unsigned PartsExpander::copy(unsigned of, unsigned part) {
  Node node = graph.nodes[of];
  node.inputs = {};
  node.attrs.erase("_class");
  node.name = fmt::format("{}/part_{}", node.name, part);
  return graph.add(std::move(node));
}

unsigned PartsExpander::make(unsigned of, StringRef op, Inputs inputs, unsigned dtype) {
  unsigned index = copy(of, 0);
  Node &node = graph.nodes[index];
  node.op = op.str();
  node.attrs.clear();
  node.attrs["T"] = typeAttr(dtype);
  setInputs(index, inputs);
  return index;
}

void PartsExpander::setInputs(unsigned node, Inputs inputs) {
  graph.nodes[node].inputs = {};
  for (Edge input : inputs)
    graph.nodes[node].inputs.add(input);
}

unsigned PartsExpander::constant(unsigned of, Type type, ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> values, bool follows) {
  unsigned index = make(of, "Const", {});
  Node &node = graph.nodes[index];
  node.controls.clear();
  if (follows)
    node.controls.push_back(of);
  auto elements = map_to_vector(
      values, [&](int64_t value) -> Attribute { return IntegerAttr::get(type, value); });
  node.attrs = {};
  node.attrs["dtype"] = typeAttr(type.isInteger(1) ? kBoolDtype : kInt32Dtype);
  node.attrs["value"].kind = AttrKind::Tensor;
  node.attrs["value"].tensor = DenseElementsAttr::get(RankedTensorType::get(shape, type), elements);
  return index;
}

Edge PartsExpander::replaced(Edge edge) const {
  auto found = replacements.find(edge);
  return found == replacements.end() ? edge : found->second;
}

Edge PartsExpander::part(Edge edge, unsigned number) const {
  auto found = parts.find({edge, number});
  return found == parts.end() ? replaced(edge) : found->second;
}

void PartsExpander::connectAll() {
  for (const auto &connect : connections)
    connect();
  for (Node &node : graph.nodes) {
    EdgeList inputs;
    for (Edge input : node.inputs)
      inputs.add(replaced(input));
    node.inputs = inputs;
  }
  for (auto &result : graph.results)
    result.second = replaced(result.second);
  for (auto [edge, replacement] : replacements)
    graph.results.try_emplace(fmt::format("{}:{}", graph.nodes[edge.node].name, edge.output),
                              replacement);
}

} // namespace tfc::tensorflow
