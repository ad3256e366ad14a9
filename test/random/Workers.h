//===- Workers.h - Work in processes of its own ---------------------------===//

#pragma once

#include "Compare.h"

namespace tfc::random {

/// Does one piece of work and returns what failed, or nothing.
using Work = llvm::function_ref<std::string(size_t number, Counts &counts)>;
/// Receives the result of a piece; returns false to stop.
using Take = llvm::function_ref<bool(size_t number, const std::string &text, const Counts &counts)>;

/// Does `count` pieces in `jobs` processes; a crash, or the time, ends one piece. Returns how many
/// were done.
size_t runWorkers(size_t count, unsigned jobs, unsigned mostSeconds, Work work, Take take);

/// Does one piece in a process of its own.
std::string runApart(unsigned mostSeconds, llvm::function_ref<std::string(Counts &counts)> work);

} // namespace tfc::random
