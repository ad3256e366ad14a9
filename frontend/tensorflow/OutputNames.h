// The names of outputs: by numbers, "split:1", and as nodes of functions have them,
// "split:output:1".
#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <utility>

namespace tfc::tensorflow {

namespace wire {
class Node;
} // namespace wire

/// Splits "name:1" or "name"; returns std::nullopt if the number is malformed.
std::optional<std::pair<llvm::StringRef, unsigned>> splitTensorName(llvm::StringRef text);

/// Returns the number of the first output with a name. An operation whose outputs have one name is
/// not known here: that is output 0.
unsigned outputNamed(const wire::Node &node, llvm::StringRef name);

} // namespace tfc::tensorflow
