// Writes large constants to a relocatable object of their own, bypassing LLVM.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Error.h"
#include "llvm/TargetParser/Triple.h"

namespace tfc::emission {

/// The alignment of weights in their section, where they are consecutive.
inline constexpr uint64_t kWeightAlignment = 64;

/// Where the bytes of weights are.
enum class WeightBytes {
  Contained, // in the object, from which the linker copies them
  Appended,  // nowhere yet: `appendWeights` writes them once to the linked library
};

/// Writes an ELF object with a read-only section for `weights` (ElementsAttr) and a hidden symbol
/// at its start.
llvm::Error writeWeights(mlir::ArrayAttr weights, llvm::StringRef symbol,
                         const llvm::Triple &triple, WeightBytes bytes, llvm::StringRef path);

/// Appends the weights to a library that was linked with an object of `WeightBytes::Appended`.
/// Returns false if the linker arranged the library in another way than this expects, so that the
/// weights cannot follow.
llvm::Expected<bool> appendWeights(mlir::ArrayAttr weights, llvm::StringRef path);

/// The bytes of all weights at their positions.
uint64_t weightBytes(mlir::ArrayAttr weights);
llvm::Error writeWeightBytes(llvm::raw_ostream &os, mlir::ArrayAttr weights);

/// The section of weights that are appended.
inline constexpr llvm::StringLiteral kAppendedSection = ".tfc_weights";
/// The alignment of appended weights of so many bytes, in the file and in memory: the largest page
/// of a target, at which the loader can map a part of a file, or, for many weights, a huge page.
/// Those of the file's cache are then mapped as a whole.
inline uint64_t appendedAlignment(uint64_t bytes) {
  constexpr uint64_t kMaxPage = 65536, kHugePage = uint64_t(2) << 20;
  return bytes >= 8 * kHugePage ? kHugePage : kMaxPage;
}

} // namespace tfc::emission
