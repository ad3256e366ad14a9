// The symbols that generated code needs, and where they are defined.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tfc::emission {

/// Returns true if libc, libm or the linker defines the symbol, or if it has the prefix of a
/// function of the runtime.
bool isProvided(llvm::StringRef symbol);

/// Checks that each symbol that `objects` need is defined by them, the runtime, libc or libm.
///
/// Instruction selection may call functions that only compiler-rt or libgcc have. Whether a program
/// that links a model has these depends on its compiler, so tfc reports them before linking. The
/// error names the symbol and the kernel that needs it, without `prefix` and the dot.
llvm::Error checkSymbols(llvm::ArrayRef<std::string> objects, llvm::StringRef prefix);

} // namespace tfc::emission
