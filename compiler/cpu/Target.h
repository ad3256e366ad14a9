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
  /// True if one instruction adds four products of bytes to each lane of 32 bits: of the first
  /// without and the second with a sign, and of two of the same kind.
  bool hasByteProducts = false, hasEqualByteProducts = false;
  /// True if one instruction adds two products of 16 bits.
  bool hasShortProducts = false;
  /// True if one instruction adds two products of bf16 to each lane of f32.
  bool hasPairProducts = false;
  bool isArm = false; // which decides what these instructions are
  /// True if matrix products have a dedicated emitter.
  bool emitsProducts = true;
  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 512 << 10;

  static Target get(kernel::TargetAttr description);
};

} // namespace tfc::cpu
