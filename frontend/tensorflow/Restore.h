// How a graph restores its variables from a checkpoint.
#pragma once

#include "frontend/tensorflow/Handles.h"

namespace tfc::tensorflow {

/// A tensor of a checkpoint, or a part of one, as RestoreV2 names them.
struct RestoredTensor {
  std::string key, slice;
};

/// Returns what the node `restoreOp` assigns to variables from the checkpoint that the tensor
/// `checkpoint` names, by the names of the variables.
std::map<std::string, RestoredTensor> findRestored(const Graph &graph, const Handles &handles,
                                                   llvm::StringRef restoreOp,
                                                   llvm::StringRef checkpoint);

} // namespace tfc::tensorflow
