// Checks all nodes before the first one is built, so that rules see only valid nodes and all errors
// are reported at once.

#include "frontend/tensorflow/Checks.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

void GraphChecker::checkNode(unsigned index) {
  const Node &node = entry.graph.nodes[index];
  SignatureChecker checker(entry.diagnostics, node,
                           entry.graph.locate(entry.builder.getContext(), index),
                           node.inputs.size());
  if (auto why = entry.graph.refused.find(index); why != entry.graph.refused.end()) {
    entry.error(index) << "the operation '" << node.op << "' is not supported here: " << why->second
                       << " [unsupported-node]";
    return;
  }
  const OpRule *rule = entry.ruleOf(index);
  constexpr unsigned kTakesComplex = OpRule::Planes | OpRule::OnePlane | OpRule::Complex |
                                     OpRule::ReturnsReal | OpRule::Passes | OpRule::Merges;
  if (rule && entry.complex.isUsedBy(index) && !(rule->flags & kTakesComplex))
    entry.error(index) << "the operation '" << node.op
                       << "' is not supported for complex numbers [unsupported-node]";
  else if (rule && rule != &functionRule())
    checker.check(rule->signature);
  else if (entry.functions.declares(functionOf(node.op)))
    checker.checkCall(entry.functions.parameters(functionOf(node.op)));
  else if (node.op != "Placeholder")
    reportUnsupported(index);
}

/// Returns why there is no rule for an operation, if that is not only because it is rare.
static StringRef whyUnsupported(StringRef op) {
  return llvm::StringSwitch<StringRef>(op)
      .Cases({"Eig", "MatrixSquareRoot", "MatrixLogarithm"},
             "the eigenvalues of matrices that are not symmetric are complex")
      .Cases({"StatelessRandomBinomial", "StatefulRandomBinomial",
              "StatelessParameterizedTruncatedNormal"},
             "tfc cannot repeat the values that TensorFlow draws")
      .Cases({"FractionalMaxPool", "FractionalAvgPool"},
             "its regions are the random ones of TensorFlow's generator")
      .Cases({"SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2",
              "StatelessSampleDistortedBoundingBox"},
             "the size of the box is drawn in the call")
      .Default("");
}

void GraphChecker::reportUnsupported(unsigned index) {
  InFlightDiagnostic error = entry.error(index);
  StringRef op = entry.graph.nodes[index].op, why = whyUnsupported(op);
  error << "the operation '" << op << "' is not supported" << (why.empty() ? "" : ": ") << why
        << " [unsupported-node]";
  if (auto asset = entry.graph.assets.find(index); asset != entry.graph.assets.end())
    error.attachNote() << "its contents are in the asset '" << asset->second << "'";
}

bool GraphChecker::isOutput(Edge edge) const {
  const Node &node = entry.graph.nodes[edge.node];
  if (node.op == "Placeholder")
    return edge.output == 0;
  const OpRule *rule = entry.ruleOf(edge.node);
  std::optional<int64_t> count =
      rule && rule != &functionRule() ? outputCount(node, rule->signature) : std::nullopt;
  return !count || edge.output < *count;
}

void GraphChecker::checkEdges(unsigned index) {
  for (Edge input : entry.graph.nodes[index].inputs)
    if (!entry.isFed(input) && !isOutput(input))
      entry.error(index) << "its input '" << entry.graph.edgeName(input)
                         << "' is not an output of '" << entry.graph.nodes[input.node].op
                         << "' [graph-edge]";
}

void GraphChecker::check(ArrayRef<Edge> fetches) {
  for (unsigned index = 0; index < entry.graph.nodes.size(); ++index)
    if (entry.structure.isNeeded[index])
      checkNode(index);
  for (unsigned index = 0; index < entry.graph.nodes.size(); ++index)
    if (entry.structure.isNeeded[index])
      checkEdges(index);
  for (Edge fetch : fetches)
    if (!entry.isFed(fetch) && !isOutput(fetch))
      entry.error(fetch.node) << "there is no output " << fetch.output << " [graph-edge]";
}

} // namespace tfc::tensorflow
