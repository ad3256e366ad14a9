// Builds nodes in the order of the file, in which each comes after those that compute its inputs.

#include "frontend/onnx/EntryBuilder.h"

#include "frontend/onnx/Checks.h"
#include "frontend/onnx/Dtypes.h"
#include "frontend/onnx/NodeBuilder.h"
#include "frontend/onnx/Parameters.h"
#include "frontend/onnx/Ports.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

bool EntryBuilder::hasInputs(const Node &node, const Scope &scope) {
  bool isWhole = true;
  for (const std::string &input : node.inputs) {
    if (input.empty() || scope.find(input))
      continue;
    isWhole = false;
    if (!entry.failed.contains(input))
      entry.diagnostics.error(entry.locate(node.name))
          << "no node before this one computes its input '" << input << "' [graph-edge]";
  }
  return isWhole;
}

/// Returns the number of the type that the inputs of a node encode, or 0. Reports an operation that
/// does not take codes.
static int64_t codeOf(EntryContext &entry, const Node &node, const Scope &scope, Codes codes) {
  int64_t code = 0;
  for (const std::string &input : node.inputs)
    if (NodeValue value = scope.find(input); value && value.getCode())
      code = value.getCode();
  if (code && codes == Codes::Refused)
    entry.diagnostics.error(entry.locate(node.name))
        << "tfc does not compute '" << node.op << "' in " << dtypeName(code) << " [dtype]";
  return code;
}

/// Returns what has been built for a node, or std::nullopt after errors.
static std::optional<SmallVector<NodeValue>> resultsOf(EntryContext &entry, const Node &node,
                                                       Scope &scope) {
  NodeBuilder builder(entry, node, scope);
  const OpRule *rule = findRule(node.op, node.version);
  Codes codes = rule ? rule->codes : Codes::Refused;
  int64_t code = codeOf(entry, node, scope, codes);
  if (builder.hasErrors())
    return std::nullopt;
  Outcome outcome =
      rule ? rule->build(builder, *rule) : LibraryCall(builder, entry.functions).build(node.op);
  if (outcome == Outcome::Done) {
    SmallVector<NodeValue> results(builder.getResults());
    for (const NodeValue &result : results)
      if (result && result.getValue())
        entry.addSizes(result.getType());
    if (code && codes == Codes::Moved)
      for (NodeValue &result : results)
        result = result.withCode(code);
    return results;
  }
  if (!builder.hasErrors())
    builder.error() << "its inputs do not match the operation [graph-edge]";
  return std::nullopt;
}

static void reportMissing(EntryContext &entry, const Node &node, unsigned output) {
  entry.failed.insert(node.outputs[output]);
  entry.diagnostics.error(entry.locate(node.name))
      << "tfc does not compute output " << output << " of '" << node.op << "' [unsupported-node]";
}

void EntryBuilder::buildNode(const Node &node, Scope &scope) {
  std::optional<SmallVector<NodeValue>> results;
  if (hasInputs(node, scope))
    results = resultsOf(entry, node, scope);
  for (auto [i, output] : enumerate(node.outputs)) {
    if (output.empty())
      continue;
    if (!results)
      entry.failed.insert(output);
    else if (i >= results->size() || !(*results)[i])
      reportMissing(entry, node, i);
    else if (!scope.add(output, (*results)[i]))
      entry.diagnostics.error(entry.locate(node.name))
          << "expected one value '" << output << "', but got two [graph-file]";
  }
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

void EntryBuilder::addInitializers(const Graph &graph, Scope &scope) {
  llvm::StringSet<> needed = findNeeded(entry.model, graph);
  for (const Initializer &initializer : graph.initializers) {
    if (!needed.contains(initializer.name))
      continue;
    Location location = entry.locate(initializer.name);
    if (!initializer.value) {
      entry.failed.insert(initializer.name);
      entry.diagnostics.error(location)
          << "tfc does not support tensors of " << dtypeName(initializer.dtype) << " [dtype]";
    } else if (!scope.add(initializer.name, constantValue(entry, initializer.value,
                                                          initializer.dtype, initializer.name))) {
      entry.diagnostics.error(location)
          << "expected one value of this name, but got two [graph-file]";
    }
  }
}

std::optional<SmallVector<NodeValue>> EntryBuilder::buildNodes(const Graph &graph, Scope &scope,
                                                               StringRef user) {
  unsigned errors = entry.diagnostics.getErrorCount();
  addInitializers(graph, scope);
  llvm::StringSet<> needed = findNeeded(entry.model, graph);
  for (const Node &node : graph.nodes)
    if (isNeeded(node, needed))
      buildNode(node, scope);
  // The outputs are the inputs of a node at the end.
  Node end;
  end.name = user.str();
  end.inputs = graph.outputs;
  if (!hasInputs(end, scope) || entry.diagnostics.getErrorCount() != errors)
    return std::nullopt;
  NodeBuilder builder(entry, end, scope);
  SmallVector<NodeValue> outputs;
  for (unsigned i = 0; i < end.inputs.size(); ++i)
    outputs.push_back(builder.anyIn(i));
  return outputs;
}

std::optional<SmallVector<NodeValue>> EntryBuilder::buildGraph(unsigned number,
                                                               ArrayRef<NodeValue> inputs,
                                                               const Scope *outer, StringRef user) {
  const Graph &graph = entry.model.graphs[number];
  if (graph.inputs.size() != inputs.size()) {
    entry.diagnostics.error(entry.locate(user))
        << "expected a graph with " << inputs.size() << " inputs, but got one with "
        << graph.inputs.size() << " [graph-edge]";
    return std::nullopt;
  }
  // A graph that does not run proves nothing about sizes.
  llvm::SaveAndRestore<llvm::StringSet<>> sizes(entry.sizes, llvm::StringSet<>(entry.sizes));
  Scope scope(outer);
  for (auto [input, value] : zip(graph.inputs, inputs))
    scope.add(input.name, value);
  std::optional<SmallVector<NodeValue>> outputs = buildNodes(graph, scope, user);
  if (!outputs)
    return std::nullopt;
  // Known sizes are not inputs of the node around the graph.
  for (NodeValue &output : *outputs)
    output = output.asInput(std::nullopt);
  return outputs;
}

//===----------------------------------------------------------------------===//
// The entry
//===----------------------------------------------------------------------===//

void EntryBuilder::build() {
  const Graph &graph = entry.model.graphs.front();
  Ports ports(entry);
  ports.find();
  ModelChecker(entry).check();
  if (entry.diagnostics.getErrorCount())
    return;
  Location location = entry.model.locate(entry.builder.getContext());
  dfg::EntryOp op = entry.builder.beginEntry(ports.header, location);
  Scope scope;
  for (auto [feed, argument] : zip(ports.feeds, op.getBody().getArguments()))
    scope.add(feed->name, NodeValue(argument).withCode(isCoded(feed->dtype) ? feed->dtype : 0));
  ports.addFixed(scope);
  std::optional<SmallVector<NodeValue>> outputs = buildNodes(graph, scope, graph.name);
  if (!outputs)
    return entry.builder.dropEntry();
  Node end;
  end.name = graph.name;
  end.inputs = graph.outputs;
  NodeBuilder builder(entry, end, scope);
  SmallVector<Value> values = builder.valuesOf(*outputs);
  std::vector<EntryValue> results;
  for (auto [name, value] : zip(graph.outputs, values)) {
    auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
    if (!type)
      entry.diagnostics.error(entry.locate(name))
          << "expected a tensor as an output of the graph [graph-entry]";
    else
      results.push_back({name, type, entry.locate(name)});
  }
  Parameters parameters(entry);
  if (entry.options.isTrainable)
    parameters.declare(graph, scope);
  if (entry.diagnostics.getErrorCount())
    return entry.builder.dropEntry();
  entry.builder.finishEntry(results, values, location);
  if (entry.options.isTrainable)
    parameters.initialize();
}

} // namespace tfc::onnx
