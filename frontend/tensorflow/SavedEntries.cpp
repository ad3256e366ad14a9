// Chooses entries of a SavedModel and adds the sizes of feeds that the command line specifies.

#include "frontend/tensorflow/SavedEntries.h"

#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/Dtypes.h"
#include "frontend/Fmt.h"
#include "frontend/ForeignFile.h"
#include "frontend/TensorFile.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// An entry that only has a name stands for a signature.
static bool isSignature(const EntrySpec &entry) {
  return entry.feeds.empty() && entry.fetches.empty() && entry.targets.empty();
}

static const SavedSignature *findSignature(const SavedModel &model, StringRef name) {
  auto found = find_if(model.signatures, [&](const SavedSignature &signature) {
    return signature.key == name || signature.entry.name == name;
  });
  return found == model.signatures.end() ? nullptr : &*found;
}

static std::string listSignatures(const SavedModel &model) {
  auto names = map_range(model.signatures, [](const SavedSignature &signature) {
    return fmt::format("'{}'", signature.key);
  });
  return names.empty() ? "none" : join(names, ", ");
}

namespace {
/// Changes feeds of entries as the command line says.
class FeedOptions {
public:
  FeedOptions(std::vector<EntrySpec> &entries, Graph &graph, Location location,
              Diagnostics &diagnostics)
      : entries(entries), graph(graph), location(location), diagnostics(diagnostics) {}

  void setSizes(StringRef name, const std::vector<std::string> &sizes);
  void fix(StringRef name, StringRef path);

private:
  void reportUnknown(StringRef name, StringRef option) {
    diagnostics.error(location) << "no entry has the input '" << name << "', which " << option
                                << " names [graph-entry]";
  }
  bool makeConstant(unsigned index, StringRef path);

  std::vector<EntrySpec> &entries;
  Graph &graph;
  Location location;
  Diagnostics &diagnostics;
  TensorFiles files;
};
} // namespace

static bool isNamed(const FeedSpec &feed, StringRef name) {
  return name == feed.name || name == feed.tensor;
}

void FeedOptions::setSizes(StringRef name, const std::vector<std::string> &sizes) {
  bool isKnown = false;
  for (EntrySpec &entry : entries)
    for (FeedSpec &feed : entry.feeds)
      if (isNamed(feed, name)) {
        feed.sizes = sizes;
        isKnown = true;
      }
  if (!isKnown)
    reportUnknown(name, "--shape");
}

bool FeedOptions::makeConstant(unsigned index, StringRef path) {
  Node &node = graph.nodes[index];
  if (node.op == "Const") // for another entry
    return true;
  MLIRContext *context = location.getContext();
  std::string reason;
  Type type = elementTypeOf(context, node.number("dtype"));
  ElementsAttr value = files.load(context, path, "", reason, type);
  if (value && (node.op != "Placeholder" || value.getElementType() != type)) {
    reason = node.op != "Placeholder"
                 ? "the input is no placeholder"
                 : fmt::format("expected {}, but got {}", dtypeName(node.number("dtype")),
                               dfg::dtypeOf(value.getElementType()).name);
    value = {};
  }
  if (!value) {
    diagnostics.error(graph.locate(context, index))
        << "cannot read '" << path << "': " << reason << " [graph-entry]";
    return false;
  }
  node.op = "Const";
  node.attrs["value"].kind = AttrKind::Tensor;
  node.attrs["value"].tensor = value;
  return true;
}

void FeedOptions::fix(StringRef name, StringRef path) {
  bool isKnown = false;
  for (EntrySpec &entry : entries)
    erase_if(entry.feeds, [&](const FeedSpec &feed) {
      if (!isNamed(feed, name))
        return false;
      isKnown = true;
      std::optional<Edge> edge = graph.findTensor(feed.tensor);
      return edge && makeConstant(edge->node, path);
    });
  if (!isKnown)
    reportUnknown(name, "--fix");
}

std::vector<EntrySpec> chooseEntries(SavedModel &model, const ForeignFile &file, Location location,
                                     Diagnostics &diagnostics) {
  std::vector<EntrySpec> entries;
  auto add = [&](const SavedSignature &signature) {
    if (!signature.error.empty())
      diagnostics.error(location) << "the signature '" << signature.key
                                  << "' cannot be an entry: " << signature.error
                                  << ", which tfc does not support [graph-entry]";
    entries.push_back(signature.entry);
  };
  for (const EntrySpec &entry : file.entries) {
    const SavedSignature *signature =
        isSignature(entry) ? findSignature(model, entry.name) : nullptr;
    if (signature)
      add(*signature);
    else if (!isSignature(entry))
      entries.push_back(entry);
    else
      diagnostics.error(location) << "the SavedModel has no signature '" << entry.name
                                  << "'; those that it has are: " << listSignatures(model)
                                  << " [graph-entry]";
  }
  if (file.entries.empty())
    for_each(model.signatures, add);
  FeedOptions feeds(entries, model.graph, location, diagnostics);
  for (const auto &[name, sizes] : file.options.shapes)
    feeds.setSizes(name, sizes);
  for (const auto &[name, path] : file.options.fixed)
    feeds.fix(name, path);
  return entries;
}

void checkBounds(ModuleOp module, const Graph &graph, const ImportOptions &options,
                 Diagnostics &diagnostics) {
  for (const auto &[name, bound] : options.bounds) {
    bool isKnown = any_of(module.getOps<dfg::EntryOp>(), [&](dfg::EntryOp entry) {
      return entry.getBoundsAttr() && entry.getBoundsAttr().contains(name);
    });
    if (!isKnown && !graph.byName.count(name))
      diagnostics.error(module.getLoc())
          << "no input has a size '" << name << "', which --bound names [graph-entry]";
  }
}

} // namespace tfc::tensorflow
