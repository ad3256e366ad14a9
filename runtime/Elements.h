//===- Elements.h - Numbers of files as elements of tensors ---------------===//

#pragma once

#include <stdint.h>

namespace tfc::runtime {

/// Store a number as an element of a tensor. `dtype` must not be f16 or bf16; return false if it
/// cannot represent the number.
bool storeInteger(int32_t dtype, bool isNegative, uint64_t magnitude, char *to);
bool storeFloat(int32_t dtype, double value, char *to);

inline bool storeSigned(int32_t dtype, int64_t value, char *to) {
  return storeInteger(dtype, value < 0, value < 0 ? 0 - static_cast<uint64_t>(value) : value, to);
}

} // namespace tfc::runtime
