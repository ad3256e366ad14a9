//===- LateReads.h - Reads of variables after waits at queues -------------===//

#pragma once

#include "mlir/Support/LLVM.h"

namespace tfc::partition {

class DeviceSets;

/// Returns true if, after `queue` and before the next operation on a queue, another device reads
/// variables without depending on `queue`: a branch, a loop, or an operation on a queue. Other
/// calls may assign to variables while it waits. If there is a `scope`, only operations in it
/// count.
bool areReadsLate(mlir::Operation *queue, const DeviceSets &sets, mlir::Operation *scope = nullptr);

} // namespace tfc::partition
