// Checks all nodes before the first one is built, so that rules see only valid nodes and all errors
// are reported at once.

#include "frontend/onnx/Checks.h"

#include "frontend/onnx/Rules.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

/// Calls `use` for each value that a node needs, including those that its graphs see around them.
static void forEachUse(const Model &model, const Node &node,
                       llvm::function_ref<void(StringRef)> use) {
  for (const std::string &input : node.inputs)
    use(input);
  if (node.op == kGradientOp)
    use(node.attr("y").text);
  for (const auto &[name, attr] : node.attrs) {
    if (attr.kind != AttrKind::Graph)
      continue;
    const Graph &graph = model.graphs[attr.number];
    for (const Node &inner : graph.nodes)
      forEachUse(model, inner, use);
    for (const std::string &output : graph.outputs)
      use(output);
  }
}

bool isNeeded(const Node &node, const llvm::StringSet<> &needed) {
  return any_of(node.outputs, [&](const std::string &output) { return needed.contains(output); });
}

llvm::StringSet<> findNeeded(const Model &model, const Graph &graph) {
  llvm::StringSet<> needed;
  for (const std::string &output : graph.outputs)
    needed.insert(output);
  for (const Node &node : reverse(graph.nodes))
    if (isNeeded(node, needed))
      forEachUse(model, node, [&](StringRef name) {
        if (!name.empty())
          needed.insert(name);
      });
  return needed;
}

/// The first versions of operations had it as a hint to reuse memory; it has no meaning.
static constexpr StringLiteral kMemoryHint = "consumed_inputs";

static bool declaresAttr(ArrayRef<text::LibraryCalls::Parameter> parameters, StringRef name) {
  return any_of(parameters, [&](const auto &parameter) { return parameter.name == name; });
}

void ModelChecker::checkNode(const Node &node) {
  SmallVector<unsigned> absent;
  for (auto [i, input] : enumerate(node.inputs))
    if (input.empty())
      absent.push_back(i);
  SignatureChecker checker(entry.diagnostics, node, entry.locate(node.name), node.inputs.size(),
                           absent);
  checker.typesAreInts = true;
  if (const OpRule *rule = findRule(node.op, node.version)) {
    checker.check(rule->signature);
    checker.checkOutputs(rule->signature, node.outputs.size());
    checker.checkNames(
        [&](StringRef name) { return name == kMemoryHint || declares(rule->signature, name); });
  } else if (entry.functions.declares(node.op)) {
    ArrayRef<text::LibraryCalls::Parameter> parameters = entry.functions.parameters(node.op);
    checker.checkCall(parameters);
    checker.checkNames(
        [&](StringRef name) { return name == kMemoryHint || declaresAttr(parameters, name); });
  } else {
    unsupported[node.op].push_back(&node);
  }
}

void ModelChecker::checkGraph(const Graph &graph) {
  llvm::StringSet<> needed = findNeeded(entry.model, graph);
  for (const Node &node : graph.nodes) {
    if (!isNeeded(node, needed))
      continue;
    checkNode(node);
    for (const auto &[name, attr] : node.attrs)
      if (attr.kind == AttrKind::Graph)
        checkGraph(entry.model.graphs[attr.number]);
  }
}

void ModelChecker::reportUnsupported() {
  constexpr size_t kMaxNames = 3;
  for (const auto &[op, nodes] : unsupported) {
    InFlightDiagnostic error = entry.diagnostics.error(entry.locate(nodes.front()->name));
    error << "the operation '" << op << "' of version " << nodes.front()->version
          << " is not supported";
    for (const Node *node : ArrayRef(nodes).drop_front().take_front(kMaxNames - 1))
      error << (node == nodes[1] ? "; also in '" : ", '") << node->name << "'";
    if (nodes.size() > kMaxNames)
      error << " and " << nodes.size() - kMaxNames << " more";
    error << " [unsupported-node]";
  }
}

/// Callers tell the inputs of a model, and its outputs, apart by their names.
void ModelChecker::checkPorts(const Graph &graph) {
  llvm::StringSet<> inputs, outputs;
  for (const Input &input : graph.inputs)
    if (!inputs.insert(input.name).second)
      entry.diagnostics.error(entry.locate(input.name))
          << "expected one input of this name, but got two [graph-entry]";
  for (const std::string &output : graph.outputs)
    if (!outputs.insert(output).second)
      entry.diagnostics.error(entry.locate(output))
          << "expected one output of this name, but got two [graph-entry]";
}

void ModelChecker::check() {
  checkPorts(entry.model.graphs.front());
  checkGraph(entry.model.graphs.front());
  reportUnsupported();
}

} // namespace tfc::onnx
