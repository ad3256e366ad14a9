// libclc, the functions of OpenCL as LLVM bitcode.
#pragma once

#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace tfc::gpu {

/// Adds the functions that a module declares and libclc defines, if there are any. Returns false,
/// with the reason, if the compiler was built without libclc and the module needs it.
bool linkLibclc(llvm::Module &module, std::string &error);

} // namespace tfc::gpu
