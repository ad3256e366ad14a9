// Maps variables to a checkpoint by objects, for models whose graph does not restore the variables
// that its signatures use: tf.saved_model.save writes such graphs for a Keras model.

#include "frontend/tensorflow/SavedObjects.h"

#include "frontend/tensorflow/graph.pb.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;

namespace tfc::tensorflow {

std::map<std::string, unsigned> findCaptured(const wire::MetaGraph &meta) {
  const auto &functions = meta.object_graph_def().concrete_functions();
  std::map<std::string, unsigned> captured;
  std::set<std::string> ambiguous;
  for (const wire::Node &node : meta.graph_def().node()) {
    auto callee = node.attr().find("f");
    if (callee == node.attr().end())
      continue;
    auto function = functions.find(callee->second.func().name());
    if (function == functions.end())
      continue;
    // Captured values follow the arguments.
    std::vector<std::string> inputs;
    copy_if(node.input(), std::back_inserter(inputs),
            [](const std::string &input) { return !StringRef(input).starts_with("^"); });
    const auto &objects = function->second.bound_inputs();
    if (inputs.size() < size_t(objects.size()))
      continue;
    size_t first = inputs.size() - objects.size();
    for (auto [i, object] : enumerate(objects)) {
      auto [known, isNew] = captured.try_emplace(inputs[first + i], unsigned(object));
      if (!isNew && known->second != unsigned(object))
        ambiguous.insert(known->first);
    }
  }
  for (const std::string &tensor : ambiguous)
    captured.erase(tensor);
  return captured;
}

/// Returns the objects of a checkpoint by those of the program. Those of which there are several
/// are left out.
static std::map<unsigned, unsigned> matchObjects(const std::vector<SavedObject> &objects,
                                                 const wire::CheckpointObjects &checkpoint) {
  using Pair = std::pair<unsigned, unsigned>;
  std::map<unsigned, unsigned> matches;
  std::set<Pair> reached{{0, 0}};
  std::set<unsigned> ambiguous;
  SmallVector<Pair> work{{0, 0}};
  while (!work.empty()) {
    auto [own, stored] = work.pop_back_val();
    if (own >= objects.size() || stored >= unsigned(checkpoint.nodes_size()))
      continue;
    if (matches.try_emplace(own, stored).first->second != stored)
      ambiguous.insert(own);
    for (const wire::ObjectGraph::Child &child : checkpoint.nodes(int(stored)).children()) {
      auto found = objects[own].children.find(child.local_name());
      if (found == objects[own].children.end())
        continue;
      Pair next(found->second, unsigned(child.node_id()));
      if (reached.insert(next).second)
        work.push_back(next);
    }
  }
  for (unsigned object : ambiguous)
    matches.erase(object);
  return matches;
}

std::optional<std::map<unsigned, std::string>> findKeys(const std::vector<SavedObject> &objects,
                                                        StringRef description) {
  wire::CheckpointObjects checkpoint;
  if (!checkpoint.ParseFromArray(description.data(), int(description.size())))
    return std::nullopt;
  std::map<unsigned, std::string> keys;
  for (auto [own, stored] : matchObjects(objects, checkpoint))
    for (const auto &attribute : checkpoint.nodes(int(stored)).attributes())
      if (attribute.name() == "VARIABLE_VALUE")
        keys[own] = attribute.checkpoint_key();
  return keys;
}

} // namespace tfc::tensorflow
