// The values of feeds on the command line: files, numbers in the notation of graph text, and
// generated arrays.
#pragma once

#include "tools/tfc/CallableModel.h"
#include "tools/tfc/CommandLine.h"

namespace tfc {

/// Returns true if the option `NAME=VALUE` of --feed is an array whose shape follows from the sizes
/// of the entry: `zeros`, `ones` or `random:..`.
bool isGeneratedFeed(llvm::StringRef option);

/// The files that the options --feed name.
std::vector<std::string> feedFiles(const RunOptions &options);

/// The feeds of the options in the order of the entry; each must be given.
llvm::Expected<std::vector<Array>> readFeeds(const RunOptions &options, const Entry &entry);

} // namespace tfc
