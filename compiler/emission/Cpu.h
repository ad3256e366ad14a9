// Names of processors, as LLVM knows them.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace tfc {

struct CpuName {
  std::string cpu;
  std::string features; // "+avx2,+fma,...": all that code for it may use
};

/// Resolves "native" to the machine that compiles; nothing if LLVM knows no
/// processor of that name that runs code of 64 bits.
std::optional<CpuName> findCpu(llvm::StringRef name);

} // namespace tfc
