// What generated code calls, and who has it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tfc::emission {

/// Checks that each symbol that `objects` need is one of their own, of the runtime, of libc or of
/// libm.
///
/// Instruction selection may call functions that only compiler-rt or libgcc have. Whether the
/// program that links a model finds them there depends on its compiler, so tfc never leaves it to
/// the link. The error names the symbol, and the kernel that needs it, which lacks `prefix` and a
/// dot.
llvm::Error checkSymbols(llvm::ArrayRef<std::string> objects, llvm::StringRef prefix);

} // namespace tfc::emission
