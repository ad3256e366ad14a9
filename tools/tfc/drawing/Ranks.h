// The rows of the boxes of areas that stand side by side.
#pragma once

#include "tools/tfc/drawing/Drawing.h"

namespace tfc::drawing {

/// How boxes of different devices depend on each other.
struct Links {
  explicit Links(const Drawing &drawing);

  std::vector<llvm::SmallVector<unsigned, 1>> edges;    // out of a box, by number
  std::vector<llvm::SmallVector<unsigned, 1>> before;   // boxes that must be above this one
  std::vector<llvm::SmallVector<unsigned, 1>> partners; // parts of the same branch or loop
};

/// Sets the row of each box of `areas` to the length of the longest path to it. Parts of the same
/// branch or loop have the same row; what depends on nothing is right above its first reader.
/// Returns the groups of boxes with areas, one for each branch or loop.
std::vector<llvm::SmallVector<unsigned>> rankBoxes(Drawing &drawing, const Links &links,
                                                   llvm::ArrayRef<unsigned> areas);

} // namespace tfc::drawing
