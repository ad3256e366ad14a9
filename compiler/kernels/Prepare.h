#pragma once

#include "dialects/kernel/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

namespace tfc::kernels {

/// The kernels of a module, in order, that have a body and a target that is `wanted`. Fails if the
/// module does not describe the target of one.
mlir::FailureOr<llvm::SmallVector<kernel::FuncOp>>
findKernels(mlir::ModuleOp module, llvm::function_ref<bool(kernel::TargetAttr)> wanted);

/// Brings a kernel into the form that schedules expect: every structured operation is a
/// linalg.generic, and every result is made by one that makes no other result.
mlir::LogicalResult prepareKernel(kernel::FuncOp kernel);

} // namespace tfc::kernels
