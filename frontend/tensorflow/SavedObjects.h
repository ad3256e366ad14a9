// The objects of the program that saved a model, and their tensors in a checkpoint.
#pragma once

#include "llvm/ADT/StringMap.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tfc::tensorflow {

namespace wire {
class MetaGraph;
} // namespace wire

/// An object of the program that saved the model.
struct SavedObject {
  llvm::StringMap<unsigned> children;
  bool isFixedVariable = false; // is not trained
};

/// The key of the description of a checkpoint's objects, a text.
inline constexpr llvm::StringLiteral kObjectsKey = "_CHECKPOINTABLE_OBJECT_GRAPH";

/// Returns the objects that functions capture, by the tensors that calls in the graph pass for
/// them. A tensor that stands for several objects is left out.
std::map<std::string, unsigned> findCaptured(const wire::MetaGraph &meta);

/// Returns the keys under which a checkpoint has the values of variables, by the numbers of their
/// objects. `description` is the text of `kObjectsKey`. Objects of the checkpoint are those to
/// which the same path leads from the outermost object, as in tf.saved_model.load. Returns
/// std::nullopt if the description is damaged.
std::optional<std::map<unsigned, std::string>> findKeys(const std::vector<SavedObject> &objects,
                                                        llvm::StringRef description);

} // namespace tfc::tensorflow
