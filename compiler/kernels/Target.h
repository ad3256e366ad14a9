//===- Target.h - Descriptions of targets ---------------------------------===//
//
// Creates the description of a target from the name of a processor. Everything that depends on the
// target uses this description.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/kernel/Kernel.h"
#include "llvm/TargetParser/Triple.h"
#include <optional>
#include <string>

namespace tfc::kernels {

struct Processor {
  std::string name;
  std::string features; // "+avx2,+fma,...": the features that code for it may use
};

/// Returns the triple of that name in its full form, that of this machine for "". Returns
/// std::nullopt if there is no code for it: it names another architecture or system than Linux with
/// the GNU C library on x86_64 or aarch64.
std::optional<llvm::Triple> findTriple(llvm::StringRef name);

/// Resolves "native" to the machine that runs the compiler, and "" to the same if it is one of
/// `triple`, else to the processor whose features all of the triple have. Returns std::nullopt if
/// LLVM knows no 64-bit processor of that name.
std::optional<Processor> findProcessor(llvm::StringRef name, const llvm::Triple &triple);

/// Describes a processor of a triple; returns null if there is none of that name. With `isStrict`,
/// it lacks instructions whose results have larger errors than those of the definition.
kernel::TargetAttr findTarget(mlir::MLIRContext *context, llvm::StringRef processor,
                              const llvm::Triple &triple, bool emitsProducts = true,
                              bool isStrict = false);

/// Verifies that LLVM can generate code for a description, which may come from a file; errors are
/// at `module`.
llvm::LogicalResult verifyTarget(mlir::ModuleOp module, kernel::TargetAttr target);

} // namespace tfc::kernels
