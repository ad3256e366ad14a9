// The instructions that LLVM's code generator for GPUs can select.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace llvm {
class Module;
} // namespace llvm

namespace tfc::gpu {

/// Checks that LLVM's code generator can select each instruction of a module and that each function
/// is defined; it ends the process otherwise. Errors name the function that is launched, at its
/// place in `device`, the module that it was translated from.
llvm::LogicalResult checkSelectable(const llvm::Module &module, mlir::ModuleOp device);

} // namespace tfc::gpu
