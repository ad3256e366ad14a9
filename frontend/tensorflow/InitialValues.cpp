// Finds the variables that entries need, before anything is built: only then is it known which of
// them no entry assigns.

#include "frontend/tensorflow/InitialValues.h"

#include "frontend/Fmt.h"
#include "frontend/ForeignFile.h"
#include "frontend/tensorflow/Bundle.h"
#include "frontend/tensorflow/Restore.h"
#include "frontend/tensorflow/Rules.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

namespace {

/// The nodes of variables that entries need.
struct Uses {
  std::map<std::string, unsigned> variables; // by name
  llvm::StringSet<> assigned;
};

class InitialValues {
public:
  InitialValues(MLIRContext *context, SavedModel &model, const Handles &handles,
                const ForeignFile &file, Diagnostics &diagnostics)
      : context(context), model(model), graph(model.graph), handles(handles), file(file),
        diagnostics(diagnostics) {}

  void read(ArrayRef<EntrySpec> entries);

private:
  Uses findUses(ArrayRef<EntrySpec> entries) const;
  /// Returns the checkpoint; null after an error.
  std::unique_ptr<Bundle> openBundle();
  void readVariable(StringRef name, unsigned node, const RestoredTensor &restored, Bundle &bundle,
                    bool isAssigned);
  /// Returns the nodes that assign variables, by name, when the model is initialized.
  llvm::StringMap<unsigned> findInitializers() const;
  /// Adds what initializes variables that are not restored, and the variables that this needs.
  void addInitializers(std::vector<EntrySpec> &entries,
                       const std::map<std::string, RestoredTensor> &restored);
  bool checkType(StringRef name, unsigned node, const RestoredTensor &restored,
                 RankedTensorType type);
  InFlightDiagnostic error(unsigned node) { return diagnostics.error(graph.locate(context, node)); }

  MLIRContext *context;
  SavedModel &model;
  Graph &graph;
  const Handles &handles;
  const ForeignFile &file;
  Diagnostics &diagnostics;
};

} // namespace

static bool isVariable(StringRef op) {
  return op == "VarHandleOp" || op == "VariableV2" || op == "Variable";
}

Uses InitialValues::findUses(ArrayRef<EntrySpec> entries) const {
  Uses uses;
  for (const EntrySpec &entry : entries) {
    std::map<Edge, Value> fed;
    for (const FeedSpec &feed : entry.feeds)
      if (std::optional<Edge> edge = graph.findTensor(feed.tensor))
        fed[*edge] = {};
    SmallVector<Edge> fetches;
    for (const FetchSpec &fetch : entry.fetches)
      if (std::optional<Edge> edge = graph.findTensor(fetch.tensor))
        fetches.push_back(*edge);
    SmallVector<unsigned> targets;
    for (const std::string &target : entry.targets)
      if (auto found = graph.byName.find(target); found != graph.byName.end())
        targets.push_back(found->second);
    GraphStructure structure(graph, handles, fed);
    structure.markNeeded(fetches, targets);
    structure.findAssigned();
    for (auto [index, node] : enumerate(graph.nodes)) {
      if (!structure.isNeeded[index] || !isVariable(node.op))
        continue;
      uses.variables.try_emplace(variableName(node), index);
      if (structure.isAssigned(index))
        uses.assigned.insert(variableName(node));
    }
  }
  return uses;
}

std::unique_ptr<Bundle> InitialValues::openBundle() {
  SmallString<128> prefix = sys::path::parent_path(file.path);
  sys::path::append(prefix, "variables", "variables");
  auto bundle = std::make_unique<Bundle>(prefix.str().str(), file.addInput);
  std::string reason;
  if (bundle->open(reason))
    return bundle;
  diagnostics.error(FileLineColLoc::get(context, bundle->indexPath(), 0, 0))
      << "cannot read the checkpoint with the variables: " << reason << " [checkpoint]";
  return nullptr;
}

/// Completes the shape of a variable that the graph leaves open.
bool InitialValues::checkType(StringRef name, unsigned index, const RestoredTensor &restored,
                              RankedTensorType type) {
  Node &node = graph.nodes[index];
  PartialShape &shape = node.attrs["shape"].shape;
  ArrayRef<int64_t> sizes = type.getShape();
  auto agrees = [](auto pair) {
    return std::get<0>(pair) < 0 || std::get<0>(pair) == std::get<1>(pair);
  };
  bool isSame = elementTypeOf(context, node.number("dtype")) == type.getElementType() &&
                (!shape.hasRank ||
                 (shape.sizes.size() == sizes.size() && all_of(zip(shape.sizes, sizes), agrees)));
  if (!isSame) {
    error(index) << "the checkpoint has " << dfg::toText(type) << " for this variable ('"
                 << restored.key << "'), which is declared otherwise [checkpoint]";
    return false;
  }
  shape.hasRank = true;
  shape.sizes.assign(sizes.begin(), sizes.end());
  return true;
}

void InitialValues::readVariable(StringRef name, unsigned index, const RestoredTensor &restored,
                                 Bundle &bundle, bool isAssigned) {
  std::string reason;
  ElementsAttr value = bundle.read(context, restored.key, restored.slice, name, reason);
  if (!value) {
    error(index) << "cannot read the tensor '" << restored.key
                 << "' of the checkpoint for this variable: " << reason << " [checkpoint]";
    return;
  }
  auto type = cast<RankedTensorType>(value.getType());
  if (!checkType(name, index, restored, type))
    return;
  bool isTrained = file.options.isTrainable && isa<FloatType>(type.getElementType());
  graph.variables[name.str()] = {value, !isAssigned && !isTrained,
                                 model.isTrainable(name, restored.key)};
}

llvm::StringMap<unsigned> InitialValues::findInitializers() const {
  llvm::StringMap<unsigned> initializers;
  std::optional<Edge> start = graph.findTensor(model.initializer);
  auto named = graph.byName.find(model.initializer);
  if (!start && named == graph.byName.end())
    return initializers;
  std::map<Edge, Value> fed;
  GraphStructure structure(graph, handles, fed);
  structure.markNeeded({}, named == graph.byName.end() ? start->node : named->second);
  for (auto [index, node] : enumerate(graph.nodes)) {
    std::optional<Edge> handle = node.inputs.first();
    if (!structure.isNeeded[index] || !mayAssign(node.op) || !handle)
      continue;
    std::optional<unsigned> variable = handles.resource(*handle);
    if (variable)
      initializers.try_emplace(variableName(graph.nodes[*variable]), index);
  }
  return initializers;
}

void InitialValues::addInitializers(std::vector<EntrySpec> &entries,
                                    const std::map<std::string, RestoredTensor> &restored) {
  llvm::StringMap<unsigned> initializers = findInitializers();
  EntrySpec &initializer = entries.emplace_back();
  // Each round adds variables that the initializers so far read.
  for (bool isNew = true; isNew;) {
    isNew = false;
    for (const auto &[name, unused] : findUses(entries).variables) {
      if (restored.count(name) || graph.variables.count(name))
        continue;
      auto node = initializers.find(name);
      if (node == initializers.end())
        continue;
      graph.variables[name] = {{}, false, model.isTrainable(name, "")};
      initializer.targets.push_back(graph.nodes[node->second].name);
      isNew = true;
    }
  }
  graph.initializers = initializer.targets;
}

void InitialValues::read(ArrayRef<EntrySpec> chosen) {
  std::map<std::string, RestoredTensor> restored =
      findRestored(graph, handles, model.restoreOp, model.checkpointTensor);
  std::vector<EntrySpec> entries(chosen);
  addInitializers(entries, restored);
  Uses uses = findUses(entries);
  erase_if(uses.variables,
           [&](const auto &variable) { return graph.variables.count(variable.first); });
  if (uses.variables.empty())
    return;
  std::unique_ptr<Bundle> bundle = openBundle();
  for (const auto &[name, index] : uses.variables) {
    auto found = restored.find(name);
    if (found == restored.end())
      error(index)
          << "nothing restores this variable: expected a RestoreV2 that leads to it before '"
          << model.restoreOp << "' [checkpoint]";
    else if (bundle)
      readVariable(name, index, found->second, *bundle, uses.assigned.contains(name));
  }
}

void readInitialValues(MLIRContext *context, SavedModel &model, const Handles &handles,
                       ArrayRef<EntrySpec> entries, const ForeignFile &file,
                       Diagnostics &diagnostics) {
  InitialValues(context, model, handles, file, diagnostics).read(entries);
}

} // namespace tfc::tensorflow
