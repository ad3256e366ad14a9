// The horizontal positions of the boxes of one area.
#pragma once

#include "tools/tfc/drawing/Ranks.h"

namespace tfc::drawing {

/// The positions of the bends of a line, one in each row between its boxes.
using Bends = llvm::DenseMap<unsigned, std::vector<double>>;

/// Orders the boxes of each row by the barycentres of their neighbours, and sets their positions
/// and the width of the area. Lines take a place of their own in the rows that they pass, unless
/// they are long. Adds the bends of the lines in the area, by the numbers of edges.
void placeInRows(Drawing &drawing, const Links &links, unsigned area, Bends &bends);

} // namespace tfc::drawing
