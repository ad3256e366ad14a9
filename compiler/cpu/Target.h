// The properties of a CPU on which code generation depends, derived from `#kernel.target`.
#pragma once

#include "dialects/kernel/Kernel.h"

namespace tfc::cpu {

/// The properties of a CPU that code generation depends on.
struct Target {
  /// Bits of a vector register and the number of registers.
  int64_t vectorBits = 128;
  int64_t vectorRegisters = 16;
  /// True if a masked load or store of 32- and 64-bit lanes is a single instruction.
  bool hasMaskedMemory = false;
  /// True if there are mask registers, for lanes of 8 bits and more.
  bool hasMaskRegisters = false;
  bool hasFma = false;
  /// True if matrix products have a dedicated emitter.
  bool emitsProducts = true;
  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 512 << 10;

  static Target get(kernel::TargetAttr description);

  /// Returns the number of lanes of a vector register for elements of `bits` bits.
  int64_t lanes(int64_t bits) const { return vectorBits / bits; }
};

} // namespace tfc::cpu
