// The properties of a CPU on which code generation depends, derived from `#kernel.target`.
#pragma once

#include "compiler/kernels/emit/LaneTarget.h"
#include "dialects/kernel/Kernel.h"

namespace tfc::cpu {

// Shapes, schedules and the code of elements are shared by all targets.
using namespace kernels;

/// The properties of a CPU that code generation depends on.
struct Target : LaneTarget {
  /// The number of vector registers.
  int64_t vectorRegisters = 16;
  /// True if a masked load or store of 32- and 64-bit lanes is a single instruction.
  bool hasMaskedMemory = false;
  /// True if there are mask registers, for lanes of 8 bits and more.
  bool hasMaskRegisters = false;
  /// True if one instruction adds four products of bytes, the first without a sign, to each lane of
  /// 32 bits, and if one adds two products of 16 bits.
  bool hasByteProducts = false, hasShortProducts = false;
  /// True if matrix products have a dedicated emitter.
  bool emitsProducts = true;
  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 512 << 10;

  static Target get(kernel::TargetAttr description);
};

} // namespace tfc::cpu
