//===- Sharing.h - Results that may overwrite arguments -------------------===//

#pragma once

#include "compiler/kernels/Schedule.h"

namespace tfc::kernels {

/// Returns true if a result of the kernel may use the memory of `argument`: in the order of the
/// schedule, every read of an element happens before the element is overwritten.
bool mayShare(const Schedule &schedule, KernelShapes &shapes, mlir::Value result,
              mlir::BlockArgument argument);

/// Records for each result of the kernel which arguments it may overwrite.
void annotateSharing(kernel::FuncOp kernel, const Schedule &schedule, KernelShapes &shapes);

/// Checks that results overwrite arguments only where this schedule allows it; the memory plan may
/// have been made for another one.
llvm::LogicalResult verifyInPlace(kernel::FuncOp kernel, const Schedule &schedule,
                                  KernelShapes &shapes);

} // namespace tfc::kernels
