// Finds the kernels of a target, as the passes of each target need them.
#pragma once

#include "dialects/kernel/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

namespace tfc::kernels {

/// Returns, in order, the kernels of a module that have a body and a target accepted by `wanted`.
/// Fails if the module lacks a description of the target of one of them.
mlir::FailureOr<llvm::SmallVector<kernel::FuncOp>>
findKernels(mlir::ModuleOp module, llvm::function_ref<bool(kernel::TargetAttr)> wanted);

} // namespace tfc::kernels
