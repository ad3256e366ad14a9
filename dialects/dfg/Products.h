//===- Products.h - The size of sums of products --------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc::dfg {

/// Returns the sizes of all axes of an operation with `ContractionRole`, those that are summed over
/// included. Their product is the number of multiplications.
Shape productAxes(mlir::Operation *op);

} // namespace tfc::dfg
