// The description of GPUs, and LLVM's code generator for them.
#pragma once

#include "dialects/kernel/Kernel.h"

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace tfc::gpu {

/// The name of the target of kernels on GPUs.
inline constexpr llvm::StringLiteral kTargetName = "gpu";

/// Describes the GPUs for which code is generated: PTX for compute capability 8.0, which every
/// later one runs. Without `emitsProducts`, sums of products are emitted like all operations;
/// `factors` are as in the attribute.
kernel::TargetAttr describeTarget(mlir::MLIRContext *context, bool emitsProducts = true,
                                  mlir::Type factors = {});

/// Returns LLVM's code generator for a target; null, with the reason, if there is none.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(kernel::TargetAttr target,
                                                       std::string &error);

} // namespace tfc::gpu
