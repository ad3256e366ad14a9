//===- Instruction.h - Instructions as they are executed ------------------===//
//
// A decoded instruction: a function that executes it for some lanes of a warp,
// and its operands as rows of the warp's register file.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "test/gpu/emulator/ptx/Module.h"

namespace tfc::gpu {

class Warp;

constexpr unsigned kLanes = 32;
constexpr uint32_t kAllLanes = ~0u;

/// The number of a row of the register file: a special register, a constant, or a register. A row
/// has an untyped cell of 64 bits for each lane, of which narrower types take the low bits. A
/// predicate is a mask of lanes, in the first cell.
using Row = uint16_t;

/// Rows that every warp has: special registers (chapter 10).
enum SpecialRow : Row {
  kThreadRow,                   // %tid.x, .y, .z
  kThreadsRow = kThreadRow + 3, // %ntid
  kBlockRow = kThreadsRow + 3,  // %ctaid
  kBlocksRow = kBlockRow + 3,   // %nctaid
  kLaneRow = kBlocksRow + 3,    // %laneid
  kWarpRow,                     // %warpid
  kWarpsRow,                    // %nwarpid
  kLanesEqualRow,               // %lanemask_eq, _le, _lt, _ge, _gt
  kLanesLessEqualRow,
  kLanesLessRow,
  kLanesGreaterEqualRow,
  kLanesGreaterRow,
  kDynamicSharedRow, // %dynamic_smem_size
  kTotalSharedRow,   // %total_smem_size
  kSinkRow,          // takes results that nobody wants
  kSpecialRows
};

/// Groups of instructions that are counted together.
enum class Class : uint8_t {
  Integer,
  Float,
  Approximation,
  Conversion,
  Move,
  Control,
  Memory,
  Atomic,
  Warp, // shuffles and votes
  Barrier,
  Matrix
};
constexpr unsigned kClasses = 11;

/// When an instruction may run.
enum class Rendezvous : uint8_t {
  None,
  Lanes, // all lanes of its mask are here
  Block  // all threads of the block are here
};

struct Instruction {
  using Execute = void (*)(Warp &, const Instruction &, uint32_t active);
  static constexpr unsigned kMaxOperands = 16;

  Execute execute = nullptr;
  Row operands[kMaxOperands] = {}; // results first
  uint8_t results = 0, operandCount = 0;
  bool hasGuard = false, isGuardNegated = false;
  Row guard = 0;
  Class group = Class::Move;
  Rendezvous rendezvous = Rendezvous::None;
  uint8_t multiplyAdds = 0; // of a thread
  uint8_t negated = 0;      // the operands that are negated predicates, a bit for each

  // The families' own.
  ptx::Space space = ptx::Space::Generic;
  uint8_t bytes = 0;       // of an element in memory
  bool isSigned = false;   // such an element
  bool isStrong = false;   // does not race with atomic operations: .volatile, .relaxed, ...
  bool isReadOnly = false; // .nc: nothing writes the bytes during the launch
  int64_t value = 0;       // the offset of an address, the target of a branch, or another number
  int line = 0;

  /// The row of the mask of Rendezvous::Lanes is the last operand.
  Row maskRow() const { return operands[operandCount - 1]; }
};

} // namespace tfc::gpu
