// Chooses the named sizes of generated feeds.
#pragma once

#include "tools/tfc/CallableModel.h"
#include <map>

namespace tfc {

/// The sizes of an entry, in the order of its symbols: those in `known`, of other feeds, else in
/// `dims` (NAME=SIZE, of --dim), else as close to the bound, or to 64, as the entry's facts allow.
/// Fails if `dims` contradicts `known`, a bound or a fact, or if no such sizes are found.
llvm::Expected<std::vector<int64_t>> chooseSizes(llvm::ArrayRef<std::string> dims,
                                                 const Entry &entry,
                                                 const std::map<std::string, int64_t> &known = {});

} // namespace tfc
