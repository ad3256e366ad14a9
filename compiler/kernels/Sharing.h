//===- Sharing.h - Which arguments results may overwrite ------------------===//

#pragma once

#include "compiler/kernels/Schedule.h"

namespace tfc::kernels {

/// Whether a result of the kernel may take the memory of `argument`: in the order of the schedule
/// every read of an element happens before it is overwritten.
bool mayShare(const Schedule &schedule, KernelShapes &shapes, mlir::Value result,
              mlir::BlockArgument argument);

} // namespace tfc::kernels
