//===- HostValues.h - Values computed by the host function ----------------===//
//
// Scalars that do not depend on kernels, such as counters and predicates, stay
// in registers of the host function. A loop over them then costs no launch and
// no memory. Outside of loops they are computed by kernels.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/HostForm.h"

namespace tfc::fusion {

/// Marks the operations of an entry that the host computes in registers and the views that kernels
/// store, and copies other views into the regions that read them, so that every view is in the
/// block of its readers.
void prepareHostValues(dfg::EntryOp entry);

/// Returns true if each kernel that reads the operation's result recomputes it.
bool isView(mlir::Operation *op, int depth = 0);

} // namespace tfc::fusion
