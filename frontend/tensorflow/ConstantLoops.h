// Loops that depend on constants alone.
#pragma once

#include "frontend/tensorflow/EntryContext.h"

namespace tfc::tensorflow {

/// Returns the nodes whose values go back to the start of the loop that an Exit leaves, and of
/// loops that it depends on, if all of them depend on constants alone. Otherwise, and for a loop in
/// another one, returns std::nullopt.
std::optional<llvm::SmallVector<unsigned>> constantLoop(const EntryContext &entry, unsigned exit);

} // namespace tfc::tensorflow
