//===- Access.h - The spaces and orders of memory instructions ------------===//

#pragma once

#include "test/gpu/emulator/instructions/Cells.h"

namespace tfc::gpu {

/// Takes the name of a state space; generic if there is none.
void takeSpace(Form &form);
/// Takes the order of an access (.weak, .relaxed, ...) with its scope. Sets Instruction::isStrong.
bool takeOrder(Form &form, std::initializer_list<std::string_view> orders);
/// Adds a request of a warp to the counts.
void countRequest(Warp &warp, const Instruction &instruction, const uint64_t *addresses,
                  uint32_t active, unsigned bytes);

} // namespace tfc::gpu
