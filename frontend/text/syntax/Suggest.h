/// What a misspelt name may have been meant to be.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tfc::text {

/// The candidate that is most like `name`: few letters are wrong, missing or exchanged, or it is
/// written in another case. Empty where none is alike.
llvm::StringRef findSimilar(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace tfc::text
