// Numbers and nested lists of numbers as arrays.
#pragma once

#include "tools/tfc/CallableModel.h"

namespace tfc {

/// Returns true if `text` is a number, a bool or a list in the notation of graph text.
bool isLiteral(llvm::StringRef text);

/// The literal as the value of a feed, whose element type its numbers take as they do in a graph.
/// After an empty list the feed's axes have the `sizes` of its type, 0 where that names one. Errors
/// show their position in the text, which they call "feed 'NAME'".
llvm::Expected<Array> parseLiteral(llvm::StringRef text, const Port &feed,
                                   llvm::ArrayRef<int64_t> sizes);

} // namespace tfc
