//===- Target.h - Descriptions of targets ---------------------------------===//
//
// Creates the description of a target from the name of a processor. Everything that depends on the
// target uses this description.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/kernel/Kernel.h"
#include <optional>
#include <string>

namespace tfc::kernels {

struct Processor {
  std::string name;
  std::string features; // "+avx2,+fma,...": the features that code for it may use
};

/// Resolves "native" to the machine that runs the compiler. Returns std::nullopt if LLVM knows no
/// 64-bit processor of that name.
std::optional<Processor> findProcessor(llvm::StringRef name);

/// Describes a processor; returns null if there is none of that name.
kernel::TargetAttr findTarget(mlir::MLIRContext *context, llvm::StringRef processor,
                              bool emitsProducts = true);

/// Verifies that LLVM can generate code for a description, which may come from a file; errors are
/// at `module`.
llvm::LogicalResult verifyTarget(mlir::ModuleOp module, kernel::TargetAttr target);

} // namespace tfc::kernels
