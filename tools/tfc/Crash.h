// The handler of crashes.
#pragma once

namespace tfc {

/// Makes a crash print where to report it, then what LLVM knows of it: the stack and what was being
/// compiled. This allocates memory, and can therefore wait forever if the heap is damaged or
/// locked, so the process ends after `seconds` in any case. Must precede llvm::InitLLVM.
void installCrashHandler(unsigned seconds = 10);

} // namespace tfc
