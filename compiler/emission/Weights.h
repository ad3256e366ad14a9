// Writes large constants to a relocatable object of their own, bypassing LLVM.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Error.h"
#include "llvm/TargetParser/Triple.h"

namespace tfc::emission {

/// The alignment of weights in their section, where they are consecutive.
inline constexpr uint64_t kWeightAlignment = 64;

/// Writes an ELF object with the bytes of `weights` (ElementsAttr) in a read-only section and a
/// hidden symbol at its start.
llvm::Error writeWeights(mlir::ArrayAttr weights, llvm::StringRef symbol,
                         const llvm::Triple &triple, llvm::StringRef path);

} // namespace tfc::emission
