// Copies masks that follow from positions into the kernels that read them.
#pragma once

#include "compiler/fusion/Grouping.h"

namespace tfc::fusion {

/// Returns true for comparisons, and what is computed from them, that read positions and scalar
/// constants alone.
bool isMaskOfPositions(mlir::Value value, const RepeatedOps &repeated);

/// Copies comparisons of positions that the members of a kernel read from outside, and adds the
/// copies to it: then the emitter of the kernel knows for which elements they hold.
void repeatMasks(const RepeatedOps &repeated, llvm::SmallVectorImpl<mlir::Operation *> &members);

} // namespace tfc::fusion
