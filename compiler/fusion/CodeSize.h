//===- CodeSize.h - How much code an operation becomes --------------------===//
//
// Compile time and memory grow faster than the code of one kernel, and a loop whose body has more
// values than the processor has registers spills them. So a kernel is limited by its code.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Operation.h"

namespace tfc::fusion {

/// The code of a kernel, in units of a simple operation on scalars. An operation alone may exceed
/// it.
constexpr int64_t kMaxCodeSize = 256;

/// The code that an operation of a kernel becomes, in the same units.
int64_t codeSizeOf(mlir::Operation *op);

} // namespace tfc::fusion
