//===- Target.h - What code is generated for ------------------------------===//
//
// Makes the description of a target from the name of a processor. All that
// depends on the target reads this description.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/kernel/Kernel.h"
#include <optional>
#include <string>

namespace tfc::kernels {

struct Processor {
  std::string name;
  std::string features; // "+avx2,+fma,...": all that code for it may use
};

/// Resolves "native" to the machine that compiles. Returns nothing if LLVM knows no processor of
/// that name that runs code of 64 bits.
std::optional<Processor> findProcessor(llvm::StringRef name);

/// Describes a processor; null if there is none of that name.
kernel::TargetAttr findTarget(mlir::MLIRContext *context, llvm::StringRef processor,
                              bool emitsProducts = true);

} // namespace tfc::kernels
