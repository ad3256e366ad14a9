//===- Control.h - Branches, calls and returns ----------------------------===//

#pragma once

#include "test/gpu/emulator/decode/Decoder.h"

namespace tfc::gpu {

/// A call and a return, whose operands the loader of a program knows.
void executeCall(Warp &warp, const Instruction &instruction, uint32_t active);
void executeReturn(Warp &warp, const Instruction &instruction, uint32_t active);

/// Decodes brx.idx, and adds its targets.
void decodeIndexedBranch(Decoder &decoder, std::vector<std::vector<uint32_t>> &targets);

} // namespace tfc::gpu
