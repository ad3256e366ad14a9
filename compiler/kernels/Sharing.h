//===- Sharing.h - Results that may overwrite arguments -------------------===//

#pragma once

#include "compiler/kernels/Schedule.h"

namespace tfc::kernels {

/// Returns true if a result of the kernel may use the memory of `argument`: in the order of the
/// schedule, every read of an element happens before the element is overwritten.
bool mayShare(const Schedule &schedule, KernelShapes &shapes, mlir::Value result,
              mlir::BlockArgument argument);

} // namespace tfc::kernels
