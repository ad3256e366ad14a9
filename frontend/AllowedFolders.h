// The folders whose files a graph may read.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace tfc {

/// Adds the folder of a graph file to those that the options allow, and resolves the links in all.
void allowFolderOf(llvm::StringRef graph, std::vector<std::string> &folders);

/// Returns the path of a file that the file `from` names relative to its own folder; std::nullopt
/// if it is outside of `folders`, which are resolved.
std::optional<std::string> findAllowedFile(llvm::StringRef path, llvm::StringRef from,
                                           llvm::ArrayRef<std::string> folders);

} // namespace tfc
