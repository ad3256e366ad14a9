// Creates a module with an entry for each specification of a graph file.

#include "frontend/tensorflow/Import.h"
#include "dialects/dfg/Errors.h"
#include "frontend/Fmt.h"
#include "frontend/ForeignFile.h"
#include "frontend/tensorflow/Colocation.h"
#include "frontend/tensorflow/ConstantBranches.h"
#include "frontend/tensorflow/EntryBuilder.h"
#include "frontend/tensorflow/GrowingLists.h"
#include "frontend/tensorflow/InitialValues.h"
#include "frontend/tensorflow/RaggedVariants.h"
#include "frontend/tensorflow/Rules.h"
#include "frontend/tensorflow/SavedEntries.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// The shipped files with operations that are functions.
static constexpr StringRef kFiles[] = {
    "tensorflow",       "tensorflow_audio",    "tensorflow_complex",   "tensorflow_images",
    "tensorflow_lists", "tensorflow_networks", "tensorflow_quantized", "tensorflow_random",
    "tensorflow_sets",  "tensorflow_sparse",   "tensorflow_special",   "tensorflow_training"};

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

/// Adds nodes that read the variables that entries fetch by their handles or references.
static void addReads(Graph &graph, ArrayRef<EntrySpec> entries) {
  std::set<Edge> fetched;
  for (const EntrySpec &entry : entries)
    for (const FetchSpec &fetch : entry.fetches)
      if (auto edge = graph.findTensor(fetch.tensor); edge && isHandle(graph, *edge))
        fetched.insert(*edge);
  if (fetched.empty())
    return;
  Handles handles(graph);
  for (Edge edge : fetched) {
    std::optional<unsigned> variable = handles.variable(graph, edge);
    if (!variable)
      continue;
    Node read;
    read.name = graph.nodes[edge.node].name + "/Read";
    read.op = "ReadVariableOp";
    read.device = graph.nodes[*variable].device;
    read.inputs.add(edge);
    graph.reads[edge] = {graph.add(std::move(read)), 0};
  }
}

/// Each level of loops and branches in each other needs a few.
static constexpr unsigned kMostAttempts = 64;

namespace {
/// Builds entries of a graph, in several attempts where sizes vary.
class EntryAttempts {
public:
  EntryAttempts(GraphBuilder &builder, const Graph &graph, const Handles &handles,
                const ImportOptions &options, Diagnostics &diagnostics)
      : builder(builder), graph(graph), handles(handles), options(options),
        diagnostics(diagnostics), complex(graph), functions(builder, kFiles, options) {}

  void build(const EntrySpec &spec, bool isInitializer);

  ModuleSymbols symbols;

private:
  /// Returns false if another attempt may succeed.
  bool attempt(const EntrySpec &spec, bool isInitializer, VaryingShapes &varying,
               const Handles &handles, const ComplexEdges &complex, bool isLast = false);

  GraphBuilder &builder;
  const Graph &graph;
  const Handles &handles;
  const ImportOptions &options;
  Diagnostics &diagnostics;
  ComplexEdges complex;
  text::LibraryCalls functions;
};
} // namespace

/// Adds to an error about two sizes how the command line makes them equal, if different names of
/// feeds' sizes are all that makes them differ.
static void explainUnequal(Diagnostic &error, dfg::EntryOp entry) {
  std::optional<std::pair<dfg::DimExpr, dfg::DimExpr>> unproven =
      dfg::ErrorDetails::of(error).unproven;
  if (!unproven || !entry)
    return;
  SmallVector<std::string> names;
  (unproven->first - unproven->second).collectSymbols(names);
  for (size_t number = entry.getArgumentTypes().size(); number-- > 0;) {
    auto tensor = dyn_cast<RankedTensorType>(entry.getArgumentTypes()[number]);
    for (const dfg::DimExpr &size : tensor ? dfg::shapeOf(tensor) : dfg::Shape()) {
      std::optional<StringRef> own = size.asSymbol();
      if (names.size() != 2 || !own || !llvm::is_contained(names, *own))
        continue;
      const std::string &other = names[*own == names[0]];
      auto renamed = [&, own = *own](const dfg::DimExpr &expression) {
        return *expression.substitute([&](StringRef name) -> std::optional<dfg::DimExpr> {
          return dfg::DimExpr::symbol(name == own ? StringRef(other) : name);
        });
      };
      if (renamed(unproven->first) != renamed(unproven->second))
        return;
      std::vector<std::string> sizes;
      for (const dfg::DimExpr &each : dfg::shapeOf(tensor))
        sizes.push_back(renamed(each).str());
      StringRef feed = entry.getArgAttrOfType<StringAttr>(number, dfg::kNameAttr).getValue();
      error.attachNote() << "help: if they are equal in each call, give '" << feed
                         << "' the sizes [" << llvm::join(sizes, ", ")
                         << "] by --shape, or in --entry of a GraphDef";
      return;
    }
  }
}

bool EntryAttempts::attempt(const EntrySpec &spec, bool isInitializer, VaryingShapes &varying,
                            const Handles &handles, const ComplexEdges &complex, bool isLast) {
  EntryContext entry(builder, varying.getGraph(), handles, complex, symbols, functions, diagnostics,
                     spec);
  entry.varying = &varying;
  for (const auto &[name, bound] : options.bounds)
    entry.bounds[name] = bound;
  ScopedDiagnosticHandler explain(builder.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      explainUnequal(diagnostic, builder.currentEntry());
    return failure();
  });
  diagnostics.hold();
  EntryBuilder attempt(entry);
  bool isBuilt = succeeded(isInitializer ? attempt.buildInitializer() : attempt.build());
  bool isRepeated = !isBuilt && !isLast && varying.learn(entry);
  diagnostics.release(isRepeated);
  return !isRepeated;
}

void EntryAttempts::build(const EntrySpec &spec, bool isInitializer) {
  VaryingShapes varying(graph);
  bool isDone = attempt(spec, isInitializer, varying, handles, complex);
  for (unsigned left = kMostAttempts; !isDone; --left) {
    Handles changedHandles(varying.getGraph());
    ComplexEdges changedComplex(varying.getGraph());
    isDone = attempt(spec, isInitializer, varying, changedHandles, changedComplex, left == 0);
  }
}

/// Adds the entries of a graph to a module. Emits errors.
static void buildEntries(GraphBuilder &builder, const Graph &graph, const Handles &handles,
                         ArrayRef<EntrySpec> entries, const ImportOptions &options,
                         Diagnostics &diagnostics) {
  EntryAttempts attempts(builder, graph, handles, options, diagnostics);
  ModuleSymbols &symbols = attempts.symbols;
  llvm::StringSet<> names;
  for (const EntrySpec &spec : entries) {
    symbols.claim<dfg::EntryOp>(spec.name);
    if (!names.insert(spec.name).second)
      diagnostics.error(graph.locate(builder.getContext()))
          << "expected one entry '" << spec.name << "', but got two [graph-entry]";
    attempts.build(spec, /*isInitializer=*/false);
  }
  bool hasVariables = any_of(graph.variables, [&](const auto &variable) {
    return !variable.second.isConstant && symbols.variables.count(variable.first);
  });
  if (!hasVariables || diagnostics.getErrorCount())
    return;
  EntrySpec spec;
  spec.targets = graph.initializers;
  attempts.build(spec, /*isInitializer=*/true);
}

OwningOpRef<ModuleOp> importGraphDef(MLIRContext &context, const ForeignFile &file) {
  std::optional<Graph> graph = readGraphDef(&context, file);
  if (!graph)
    return {};
  resolveConstantBranches(*graph);
  addReads(*graph, file.entries);
  colocate(*graph);
  expandListVectors(&context, *graph);
  expandRaggedVariants(&context, *graph);
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
  addReads(graph, file.entries);
  colocate(graph);
  expandListVectors(&context, graph);
  expandRaggedVariants(&context, graph);
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
