// Chooses one of the graphs of a SavedModel, by its tags, and reads what is said about it.

#include "frontend/tensorflow/SavedModel.h"

#include "frontend/Fmt.h"
#include "frontend/ForeignFile.h"
#include "frontend/tensorflow/graph.pb.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

//===----------------------------------------------------------------------===//
// Tags
//===----------------------------------------------------------------------===//

static std::vector<std::string> tagsOf(const wire::MetaGraph &graph) {
  const auto &tags = graph.meta_info_def().tags();
  std::vector<std::string> sorted(tags.begin(), tags.end());
  llvm::sort(sorted);
  return sorted;
}

/// Returns the graph with the tags that the caller asks for, or else the only one, or the one for
/// serving. Returns null after an error.
static const wire::MetaGraph *chooseGraph(const wire::SavedModel &model, const ForeignFile &file,
                                          Location location) {
  std::vector<std::string> wanted = file.options.tags;
  if (wanted.empty() && model.meta_graphs_size() == 1)
    return &model.meta_graphs(0);
  if (wanted.empty())
    wanted = {"serve"};
  llvm::sort(wanted);
  SmallVector<std::string> known;
  const wire::MetaGraph *chosen = nullptr;
  unsigned count = 0;
  for (const wire::MetaGraph &graph : model.meta_graphs()) {
    std::vector<std::string> tags = tagsOf(graph);
    known.push_back(fmt::format("'{}'", join(tags, ",")));
    if (tags == wanted) {
      chosen = &graph;
      ++count;
    }
  }
  if (count == 1)
    return chosen;
  emitError(location) << "expected one graph with the tags '" << join(wanted, ",")
                      << "', but the graphs of the SavedModel have the tags "
                      << join(known, " and ") << ": choose one by --tags [graph-entry]";
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

/// Signatures of such names are for TensorFlow itself.
static constexpr StringLiteral kReserved = "__saved_model";

/// Returns a name of an entry.
static std::string identifierOf(StringRef key) {
  std::string name = key.str();
  for (char &c : name)
    if (!isAlnum(c))
      c = '_';
  return name.empty() || isDigit(name.front()) ? "_" + name : name;
}

/// The tensors of a signature in the order of their names, as TensorFlow's own functions have them.
static std::vector<std::pair<std::string, const wire::TensorInfo *>>
sortedTensors(const google::protobuf::Map<std::string, wire::TensorInfo> &tensors) {
  std::vector<std::pair<std::string, const wire::TensorInfo *>> sorted;
  for (const auto &[name, info] : tensors)
    sorted.emplace_back(name, &info);
  llvm::sort(sorted);
  return sorted;
}

/// Adds what the signature says about a tensor that is fed, where its node does not say it.
static void describeFeed(Graph &graph, const wire::TensorInfo &info) {
  std::optional<Edge> edge = graph.findTensor(info.name());
  if (!edge)
    return;
  Node &node = graph.nodes[edge->node];
  if (!node.has("shape") || !node.attr("shape").shape.hasRank) {
    Attr &attr = node.attrs["shape"];
    attr.kind = AttrKind::Shape;
    attr.shape.hasRank = !info.tensor_shape().unknown_rank();
    for (const wire::Shape::Dim &dim : info.tensor_shape().dim()) {
      attr.shape.sizes.push_back(std::max<int64_t>(dim.size(), -1));
      attr.shape.names.push_back("");
    }
  }
  if (!node.has("dtype") && !node.has("T") && !node.has("DstT")) {
    Attr &attr = node.attrs["dtype"];
    attr.kind = AttrKind::Type;
    attr.number = info.dtype();
  }
}

static SavedSignature readSignature(const std::string &key, const wire::SignatureDef &signature,
                                    Graph &graph) {
  SavedSignature result{key, {}, ""};
  result.entry.name = identifierOf(key);
  auto check = [&](StringRef role, const std::string &name, const wire::TensorInfo &info) {
    if (result.error.empty() && (info.has_coo_sparse() || info.has_composite_tensor()))
      result.error = fmt::format("the {} '{}' is a sparse or composite tensor", role, name);
    else if (result.error.empty() && info.name().empty())
      result.error = fmt::format("the {} '{}' is no tensor", role, name);
  };
  for (const auto &[name, info] : sortedTensors(signature.inputs())) {
    check("input", name, *info);
    describeFeed(graph, *info);
    result.entry.feeds.push_back({.tensor = info->name(), .name = name});
  }
  for (const auto &[name, info] : sortedTensors(signature.outputs())) {
    check("output", name, *info);
    result.entry.fetches.push_back({info->name(), name});
  }
  return result;
}

static void readSignatures(const wire::MetaGraph &meta, SavedModel &model) {
  std::map<std::string, const wire::SignatureDef *> sorted;
  for (const auto &[key, signature] : meta.signature_def())
    if (!StringRef(key).starts_with(kReserved))
      sorted[key] = &signature;
  for (const auto &[key, signature] : sorted)
    model.signatures.push_back(readSignature(key, *signature, model.graph));
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// TensorFlow 2 has a signature for what runs once, TensorFlow 1 a collection.
static std::string initializerOf(const wire::MetaGraph &meta) {
  auto signature = meta.signature_def().find("__saved_model_init_op");
  if (signature != meta.signature_def().end())
    for (const auto &[unused, info] : signature->second.outputs())
      return info.name();
  for (const char *name : {"saved_model_main_op", "legacy_init_op"})
    if (auto found = meta.collection_def().find(name); found != meta.collection_def().end())
      for (const std::string &node : found->second.node_list().value())
        return node;
  return "";
}

/// Finds the tables that are filled from files.
static void readAssets(const wire::MetaGraph &meta, Graph &graph) {
  std::map<unsigned, std::string> files; // by the node of the name
  for (const wire::Asset &asset : meta.asset_file_def())
    if (std::optional<Edge> edge = graph.findTensor(asset.tensor_info().name()))
      files[edge->node] = asset.filename();
  for (const Node &node : graph.nodes) {
    std::optional<Edge> table = node.inputs.first(), name = node.inputs.at(1);
    if (!StringRef(node.op).starts_with("InitializeTable") || !table || !name)
      continue;
    if (auto file = files.find(name->node); file != files.end())
      graph.assets[table->node] = file->second;
  }
}

static void readObjects(const wire::ObjectGraph &graph, SavedModel &model) {
  for (const wire::ObjectGraph::Object &object : graph.nodes()) {
    SavedObject &own = model.objects.emplace_back();
    own.isFixedVariable = object.has_variable() && !object.variable().trainable();
    for (const wire::ObjectGraph::Child &child : object.children())
      own.children[child.local_name()] = unsigned(child.node_id());
  }
}

/// TensorFlow 1 lists the variables that are trained.
static void readTrained(const wire::MetaGraph &meta, SavedModel &model) {
  auto found = meta.collection_def().find("trainable_variables");
  if (found == meta.collection_def().end())
    return;
  model.listsTrained = true;
  for (const std::string &text : found->second.bytes_list().value()) {
    wire::Variable variable;
    if (variable.ParseFromString(text))
      model.trained.push_back(variable.variable_name());
  }
}

/// Restores a name of an object that is part of a key: "." and "/" are written as ".." and ".S".
static std::string localName(StringRef part) {
  std::string name;
  while (!part.empty()) {
    bool isEscaped = part.size() > 1 && part.front() == '.';
    char c = part[isEscaped];
    name += isEscaped && c == 'S' ? '/' : c;
    part = part.drop_front(isEscaped ? 2 : 1);
  }
  return name;
}

bool SavedModel::isTrainable(StringRef variable, StringRef key) const {
  if (listsTrained)
    return any_of(trained, [&](const std::string &tensor) {
      std::optional<Edge> edge = graph.findTensor(tensor);
      return edge && variableName(graph.nodes[edge->node]) == variable;
    });
  // The key is the path to an object of the program.
  unsigned object = 0;
  SmallVector<StringRef> path;
  key.split(path, '/');
  for (StringRef part : path) {
    if (part.starts_with(".ATTRIBUTES") || object >= objects.size())
      break;
    auto found = objects[object].children.find(localName(part));
    if (found == objects[object].children.end())
      return true;
    object = found->second;
  }
  return object >= objects.size() || !objects[object].isFixedVariable;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// Returns the name of the folder of a file, also if the path does not mention it.
static std::string folderName(StringRef file) {
  SmallString<128> folder = sys::path::parent_path(file), real;
  if (!sys::fs::real_path(folder.empty() ? "." : StringRef(folder), real))
    folder = real;
  return sys::path::filename(folder).str();
}

std::optional<SavedModel> readSavedModel(MLIRContext *context, const ForeignFile &file) {
  wire::SavedModel wire;
  Location location = FileLineColLoc::get(context, file.path, 0, 0);
  if (!parseSavedModel(context, file, wire))
    return std::nullopt;
  const wire::MetaGraph *meta = chooseGraph(wire, file, location);
  if (!meta)
    return std::nullopt;
  std::optional<Graph> graph = makeGraph(context, file, meta->graph_def());
  if (!graph)
    return std::nullopt;
  SavedModel model;
  model.graph = std::move(*graph);
  model.name = folderName(file.path);
  model.restoreOp = meta->saver_def().restore_op_name();
  model.checkpointTensor = meta->saver_def().filename_tensor_name();
  model.initializer = initializerOf(*meta);
  readAssets(*meta, model.graph);
  readSignatures(*meta, model);
  readObjects(meta->object_graph_def(), model);
  model.captured = findCaptured(*meta);
  readTrained(*meta, model);
  return model;
}

} // namespace tfc::tensorflow
