// Large constants, as a relocatable object of their own: they never pass through LLVM.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Error.h"
#include "llvm/TargetParser/Triple.h"

namespace tfc::emission {

/// Where a list of weights lies in their section: one after another, each on 64 bytes.
inline constexpr uint64_t kWeightAlignment = 64;

/// Writes an ELF object with the bytes of `weights` (ElementsAttr) in a read-only section and a
/// hidden symbol at its begin.
llvm::Error writeWeights(mlir::ArrayAttr weights, llvm::StringRef symbol,
                         const llvm::Triple &triple, llvm::StringRef path);

} // namespace tfc::emission
