#pragma once

#include "dialects/kernel/Kernel.h"

namespace tfc::cpu {

/// What code for a CPU depends on.
struct Target {
  /// Bits of a vector register and the number of them.
  int64_t vectorBits = 128;
  int64_t vectorRegisters = 16;
  /// Whether masked loads and stores of 32- and 64-bit lanes are one instruction.
  bool hasMaskedMemory = false;
  /// Whether masks have registers of their own, for lanes of 8 bits and up.
  bool hasMaskRegisters = false;
  bool hasFma = false;
  /// Whether matrix products have an emitter of their own.
  bool emitsProducts = true;
  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 512 << 10;

  static Target get(kernel::TargetAttr description);

  /// Lanes of one vector register for elements of `bits` bits.
  int64_t lanes(int64_t bits) const { return vectorBits / bits; }
};

} // namespace tfc::cpu
