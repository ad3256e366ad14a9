/// Suggestions for misspelled names.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tfc::text {

/// The candidate most similar to `name`: few letters are wrong, missing or swapped, or only the
/// case differs. Empty if none is similar.
llvm::StringRef findSimilar(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace tfc::text
