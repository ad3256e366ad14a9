/// The graph source that ships with tfc, embedded in the program.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace tfc::text {

/// The text of the shipped file `name`.graph.
std::optional<llvm::StringRef> librarySource(llvm::StringRef name);

/// The files that a graph may `use`.
llvm::SmallVector<llvm::StringRef> libraryNames();

} // namespace tfc::text
