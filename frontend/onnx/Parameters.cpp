// Replaces constants by variables once the nodes are built: only then is it known which
// initialisers are data, rather than sizes or attributes.
#include "frontend/onnx/Parameters.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

/// The running statistics of batch normalisation are state, but no gradient step changes them.
static llvm::StringSet<> findStatistics(const Graph &graph) {
  llvm::StringSet<> names;
  for (const Node &node : graph.nodes)
    if (node.op == "BatchNormalization")
      for (const std::string &input :
           ArrayRef(node.inputs).drop_front(std::min<size_t>(3, node.inputs.size())))
        names.insert(input);
  return names;
}

void Parameters::declare(StringRef name, dfg::ConstantOp constant, bool isFrozen) {
  Location location = entry.locate(name);
  if (SymbolTable::lookupSymbolIn(entry.builder.getModule(), name)) {
    entry.diagnostics.error(location) << "the graph has something else named '" << name
                                      << "', so this cannot become a variable [graph-file]";
    return;
  }
  auto type = cast<RankedTensorType>(constant.getType());
  ResourceBuilder &resources = entry.builder.getResources();
  resources.createVariable(name, type, isFrozen, "", location);
  entry.builder.before(constant);
  constant.replaceAllUsesWith(resources.read(name, type, location));
  parameters.push_back({name.str(), constant.getValue(), location});
  constant.erase();
}

void Parameters::declare(const Graph &graph, const Scope &initializers) {
  llvm::StringSet<> statistics = findStatistics(graph);
  auto position = entry.builder.position();
  for (const Initializer &initializer : graph.initializers) {
    Value value = initializers.find(initializer.name).getValue();
    auto constant = value ? value.getDefiningOp<dfg::ConstantOp>() : dfg::ConstantOp();
    auto type = constant ? cast<RankedTensorType>(constant.getType()) : RankedTensorType();
    if (!type || constant.use_empty() || type.getRank() == 0 ||
        !isa<FloatType>(type.getElementType()))
      continue;
    declare(initializer.name, constant, statistics.contains(initializer.name));
  }
  entry.builder.restore(position);
}

void Parameters::initialize() {
  GraphBuilder &builder = entry.builder;
  Location location = entry.model.locate(builder.getContext());
  builder.beginEntry(EntryHeader::initializer(), location);
  for (const Parameter &parameter : parameters)
    builder.getResources().assign(
        parameter.name, builder.constant(parameter.value, parameter.location), parameter.location);
  builder.finishEntry({}, {}, location);
}

} // namespace tfc::onnx
