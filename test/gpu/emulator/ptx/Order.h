//===- Order.h - The order in which the lanes of a warp run ---------------===//

#pragma once

#include "test/gpu/emulator/ptx/Module.h"

namespace tfc::gpu::ptx {

/// Numbers a function's instructions, and its end, so that lanes meet again if those with the least
/// number run first: an instruction follows those from which it is reached, other than from inside
/// of a loop that it begins, and the instructions of a loop follow each other. The text need not
/// have this order.
///
/// This is the weak topological order of F. Bourdoncle, "Efficient chaotic iteration strategies
/// with widenings" (1993), figure 4, of the basic blocks.
std::vector<uint32_t> orderOf(const Function &function);

} // namespace tfc::gpu::ptx
