//===- Floats.h - Arithmetic of f32 and f64 -------------------------------===//

#pragma once

#include "test/gpu/emulator/decode/Decoder.h"

namespace tfc::gpu {

/// The forms of div, rcp and sqrt with a rounding.
void decodeRoundedDivision(Decoder &decoder);
void decodeRoundedReciprocal(Decoder &decoder);
void decodeRoundedRoot(Decoder &decoder);

} // namespace tfc::gpu
