// Rewrites what LLVM's code generator for GPUs lacks or gets wrong.
#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace tfc::gpu {

/// Runs after LLVM's optimisations, which make arithmetic on 16-bit floats out of that on f32.
void legalize(llvm::Module &module);

} // namespace tfc::gpu
