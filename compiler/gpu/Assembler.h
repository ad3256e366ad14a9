// Runs NVIDIA's assembler, which is no part of tfc.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tfc::gpu {

/// Assembles PTX for GPUs of each compute capability, counted in tenths, and returns the binaries
/// in their order. The assembler is the program that the environment variable TFC_PTXAS names, or
/// else `ptxas` in PATH or in the toolkit at CUDA_HOME or CUDA_PATH; it runs once for each
/// capability, side by side. Errors: there is none, or what it reports.
llvm::Expected<std::vector<std::string>> assemble(llvm::StringRef ptx,
                                                  llvm::ArrayRef<int64_t> capabilities);

} // namespace tfc::gpu
