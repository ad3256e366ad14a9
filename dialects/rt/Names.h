//===- Names.h - The symbols that stages agree on -------------------------===//
//
// The names of the functions and globals that one stage defines and another refers to. They depend
// on no dialect.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/Twine.h"
#include <string>

namespace tfc::rt {

/// The prefix of the functions of entries, and the global that holds all constants.
inline constexpr llvm::StringLiteral kEntryPrefix = "tfc_entry_", kWeightsName = "tfc_weights";

/// The name of a function of an entry that runtime/Model.h describes, such as "run" or "arena".
inline std::string entryFunctionName(unsigned entry, llvm::StringRef function) {
  return (llvm::Twine(kEntryPrefix) + llvm::Twine(entry) + "_" + function).str();
}

/// The names of the functions of a partition of an entry: the one that runs it, and the one that
/// returns the size of its arena.
inline std::string partitionName(unsigned partition) {
  return "partition" + std::to_string(partition);
}
inline std::string arenaName(unsigned partition) {
  return partition == 0 ? "arena" : "arena" + std::to_string(partition);
}

/// The name of the function by which threads run a part of a kernel.
inline std::string taskName(llvm::StringRef kernel) { return (kernel + ".task").str(); }

} // namespace tfc::rt
