// Creates a module with an entry for each specification of a graph file.

#include "frontend/tensorflow/Import.h"
#include "frontend/Fmt.h"
#include "frontend/ForeignFile.h"
#include "frontend/tensorflow/Colocation.h"
#include "frontend/tensorflow/ConstantBranches.h"
#include "frontend/tensorflow/EntryBuilder.h"
#include "frontend/tensorflow/GrowingLists.h"
#include "frontend/tensorflow/InitialValues.h"
#include "frontend/tensorflow/Rules.h"
#include "frontend/tensorflow/SavedEntries.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// The shipped files with operations that are functions.
static constexpr StringRef kFiles[] = {
    "tensorflow",          "tensorflow_audio",     "tensorflow_complex", "tensorflow_images",
    "tensorflow_networks", "tensorflow_quantized", "tensorflow_random",  "tensorflow_sparse",
    "tensorflow_special",  "tensorflow_training"};

/// Lists the names of nodes; those beyond a limit are only counted.
static std::string listNodes(const Graph &graph, llvm::function_ref<bool(unsigned)> isListed) {
  constexpr unsigned kMostListed = 16;
  std::string names;
  unsigned count = 0;
  for (unsigned i = 0; i < graph.nodes.size(); ++i)
    if (isListed(i) && ++count <= kMostListed)
      names += (names.empty() ? "" : ", ") + graph.nodes[i].name;
  if (count > kMostListed)
    names += fmt::format(" and {} others", count - kMostListed);
  return names.empty() ? "none" : names;
}

/// Reports that entries are needed, with the nodes that are likely feeds, fetches and targets.
static void reportEntries(const Graph &graph, StringRef reason, Location location) {
  llvm::DenseSet<unsigned> read;
  for (const Node &node : graph.nodes) {
    read.insert_range(map_range(node.inputs, [](Edge edge) { return edge.node; }));
    read.insert_range(node.controls);
  }
  auto isPlaceholder = [&](unsigned i) { return graph.nodes[i].op == "Placeholder"; };
  auto isEnd = [&](unsigned i) { return !read.contains(i) && !isPlaceholder(i); };
  auto error = emitError(location);
  error << reason << ": expected --entry 'name: feeds -> fetches ; targets' [graph-entry]";
  error.attachNote() << "placeholders, which are feeds: " << listNodes(graph, isPlaceholder);
  error.attachNote() << "nodes that no other node reads, such as fetches and targets: "
                     << listNodes(graph, isEnd);
}

/// Adds the entries of a graph to a module. Emits errors.
static void buildEntries(GraphBuilder &builder, const Graph &graph, const Handles &handles,
                         ArrayRef<EntrySpec> entries, const ImportOptions &options,
                         Diagnostics &diagnostics) {
  ModuleSymbols symbols;
  ComplexEdges complex(graph);
  text::LibraryCalls functions(builder, kFiles, options);
  llvm::StringSet<> names;
  for (const EntrySpec &spec : entries) {
    symbols.claim<dfg::EntryOp>(spec.name);
    if (!names.insert(spec.name).second)
      diagnostics.error(graph.locate(builder.getContext()))
          << "expected one entry '" << spec.name << "', but got two [graph-entry]";
    EntryContext entry(builder, graph, handles, complex, symbols, functions, diagnostics, spec);
    for (const auto &[name, bound] : options.bounds)
      entry.bounds[name] = bound;
    (void)EntryBuilder(entry).build();
  }
  bool hasVariables = any_of(graph.variables, [&](const auto &variable) {
    return !variable.second.isConstant && symbols.variables.count(variable.first);
  });
  if (!hasVariables || diagnostics.getErrorCount())
    return;
  EntrySpec spec;
  spec.targets = graph.initializers;
  EntryContext entry(builder, graph, handles, complex, symbols, functions, diagnostics, spec);
  (void)EntryBuilder(entry).buildInitializer();
}

OwningOpRef<ModuleOp> importGraphDef(MLIRContext &context, const ForeignFile &file) {
  std::optional<Graph> graph = readGraphDef(&context, file);
  if (!graph)
    return {};
  resolveConstantBranches(*graph);
  colocate(*graph);
  expandGrowingLists(&context, *graph);
  Location location = graph->locate(&context);
  if (file.entries.empty()) {
    reportEntries(*graph, "a GraphDef does not declare entries", location);
    return {};
  }
  OwningOpRef<ModuleOp> module(ModuleOp::create(location));
  GraphBuilder builder(*module);
  Handles handles(*graph);
  Diagnostics diagnostics(&context);
  for (const auto &[node, bound] : file.options.bounds)
    if (!graph->byName.count(node))
      diagnostics.error(location) << "the graph has no node '" << node
                                  << "', which --bound names [graph-entry]";
  buildEntries(builder, *graph, handles, file.entries, file.options, diagnostics);
  return diagnostics.getErrorCount() ? OwningOpRef<ModuleOp>() : std::move(module);
}

OwningOpRef<ModuleOp> importSavedModel(MLIRContext &context, const ForeignFile &file) {
  std::optional<SavedModel> model = readSavedModel(&context, file);
  if (!model)
    return {};
  Graph &graph = model->graph;
  colocate(graph);
  expandGrowingLists(&context, graph);
  Location location = graph.locate(&context);
  if (file.entries.empty() && model->signatures.empty()) {
    reportEntries(graph, "the SavedModel has no signatures", location);
    return {};
  }
  Diagnostics diagnostics(&context);
  std::vector<EntrySpec> entries = chooseEntries(*model, file, location, diagnostics);
  OwningOpRef<ModuleOp> module(ModuleOp::create(location, model->name));
  GraphBuilder builder(*module);
  Handles handles(graph);
  if (!diagnostics.getErrorCount())
    readInitialValues(&context, *model, handles, entries, file, diagnostics);
  if (!diagnostics.getErrorCount())
    buildEntries(builder, graph, handles, entries, file.options, diagnostics);
  if (!diagnostics.getErrorCount())
    checkBounds(*module, graph, file.options, diagnostics);
  return diagnostics.getErrorCount() ? OwningOpRef<ModuleOp>() : std::move(module);
}

void listOperations(MLIRContext &context, OperationList &list) {
  list.addTable(operations());
  list.addFunctions(context, kFiles);
}

} // namespace tfc::tensorflow
