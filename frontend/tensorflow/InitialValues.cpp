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
  /// Returns the checkpoint; null after an error, which is reported once.
  Bundle *openBundle();
  void readVariable(StringRef name, unsigned node, const RestoredTensor &restored, Bundle &bundle,
                    bool isAssigned);
  /// Adds what the objects of the checkpoint say about needed variables that nothing restores.
  void addObjects(const Uses &uses, std::map<std::string, RestoredTensor> &restored);
  /// Returns the nodes that assign variables, by name, when the model is initialized.
  llvm::StringMap<unsigned> findInitializers() const;
  /// Adds what initializes variables that are not restored, and the variables that this needs.
  void addInitializers(std::vector<EntrySpec> &entries,
                       const std::map<std::string, RestoredTensor> &restored);
  void reportUnrestored(unsigned node);
  bool checkType(StringRef name, unsigned node, const RestoredTensor &restored,
                 RankedTensorType type);
  InFlightDiagnostic error(unsigned node) { return diagnostics.error(graph.locate(context, node)); }

  MLIRContext *context;
  SavedModel &model;
  Graph &graph;
  const Handles &handles;
  const ForeignFile &file;
  Diagnostics &diagnostics;
  std::unique_ptr<Bundle> bundle;
  bool isOpened = false; // successfully or not
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

Bundle *InitialValues::openBundle() {
  if (std::exchange(isOpened, true))
    return bundle.get();
  SmallString<128> prefix = sys::path::parent_path(file.path);
  sys::path::append(prefix, "variables", "variables");
  auto opened = std::make_unique<Bundle>(prefix.str().str(), file.addInput);
  std::string reason;
  if (opened->open(reason)) {
    bundle = std::move(opened);
    return bundle.get();
  }
  diagnostics.error(FileLineColLoc::get(context, opened->indexPath(), 0, 0))
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

void InitialValues::addObjects(const Uses &uses, std::map<std::string, RestoredTensor> &restored) {
  std::map<std::string, unsigned> objects; // by the names of variables
  for (const auto &[tensor, object] : model.captured) {
    std::optional<Edge> edge = graph.findTensor(tensor);
    std::optional<unsigned> variable = edge ? handles.resource(*edge) : std::nullopt;
    if (!variable)
      continue;
    std::string name = variableName(graph.nodes[*variable]);
    if (uses.variables.count(name) && !restored.count(name))
      objects[name] = object;
  }
  Bundle *opened = objects.empty() ? nullptr : openBundle();
  if (!opened)
    return;
  std::string reason;
  std::optional<std::string> description = opened->readText(kObjectsKey, reason);
  std::optional<std::map<unsigned, std::string>> keys;
  if (description)
    keys = findKeys(model.objects, *description);
  if (!keys) {
    diagnostics.error(FileLineColLoc::get(context, opened->indexPath(), 0, 0))
        << "cannot read the objects of the checkpoint, which restore variables: "
        << (description ? "they are damaged" : reason) << " [checkpoint]";
    return;
  }
  for (const auto &[name, object] : objects)
    if (auto key = keys->find(object); key != keys->end())
      restored[name] = {key->second, ""};
}

void InitialValues::reportUnrestored(unsigned index) {
  InFlightDiagnostic error = this->error(index);
  error << "nothing restores this variable: expected a RestoreV2 that leads to it before '"
        << model.restoreOp << "', or an object of the checkpoint [checkpoint]";
  if (!model.objects.empty())
    error.attachNote() << "model.export(folder) saves a Keras model with all its variables";
}

void InitialValues::read(ArrayRef<EntrySpec> chosen) {
  std::map<std::string, RestoredTensor> restored =
      findRestored(graph, handles, model.restoreOp, model.checkpointTensor);
  std::vector<EntrySpec> entries(chosen);
  addObjects(findUses(entries), restored);
  addInitializers(entries, restored);
  Uses uses = findUses(entries);
  erase_if(uses.variables,
           [&](const auto &variable) { return graph.variables.count(variable.first); });
  if (uses.variables.empty())
    return;
  Bundle *opened = openBundle();
  for (const auto &[name, index] : uses.variables) {
    auto found = restored.find(name);
    if (found == restored.end())
      reportUnrestored(index);
    else if (opened)
      readVariable(name, index, found->second, *opened, uses.assigned.contains(name));
  }
}

void readInitialValues(MLIRContext *context, SavedModel &model, const Handles &handles,
                       ArrayRef<EntrySpec> entries, const ForeignFile &file,
                       Diagnostics &diagnostics) {
  InitialValues(context, model, handles, file, diagnostics).read(entries);
}

} // namespace tfc::tensorflow
