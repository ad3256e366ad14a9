/// How large a graph may become where the compiler expands it.
#pragma once

#include <cstdint>

namespace tfc::dfg {

/// The largest number of operations that functions and parts, and gradients, may become, unless the
/// user chooses another one.
inline constexpr uint64_t kMaxOperations = 500'000;

} // namespace tfc::dfg
