//===- Instruction.h - Instructions as they are executed ------------------===//
//
// A decoded instruction: a function that executes it for some lanes of a warp,
// and its operands as rows of a warp's register file. Rows are untyped cells of
// 64 bits, one per lane. A predicate is a mask of lanes in the first cell.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "test/gpu/emulator/ptx/Module.h"

namespace tfc::gpu {

class Warp;

constexpr unsigned kLanes = 32;
constexpr uint32_t kAllLanes = ~0u;

/// The number of a row: a register, a special register, or a constant if the highest bit is set.
using Row = uint32_t;
constexpr Row kConstantRow = 1u << 31;

/// Rows that every warp has. Those up to `Sink` are special registers (chapter 10).
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
  kGridRow,           // %gridid
  kMultiprocessorRow, // %smid, %nsmid
  kMultiprocessorsRow,
  kDynamicSharedRow, // %dynamic_smem_size
  kTotalSharedRow,   // %total_smem_size
  kZeroRow,          // of special registers that are always 0
  kSinkRow,          // takes results that nobody wants
  kCarryRow,         // CC.CF, a predicate (9.7.2)
  kFirstRegisterRow
};

/// Groups of instructions that are counted together.
enum class Class : uint8_t {
  Integer,
  Float,
  Special, // approximations
  Conversion,
  Move,
  Control,
  Global,
  Shared,
  Local,
  Constant, // constants and parameters
  Atomic,
  Warp, // shuffles and votes
  Barrier,
  Tensor
};
constexpr unsigned kClasses = 14;

/// The bytes that an instruction accesses.
struct AccessForm {
  ptx::Space space = ptx::Space::Generic;
  uint8_t bytes = 0;                  // of an element
  uint8_t count = 1;                  // of elements
  uint64_t resultMask = ~uint64_t(0); // the bits of the registers that take elements
  bool isSigned = false;
  bool isStrong = false;   // .volatile, .relaxed, .acquire, .release: does not race with its like
  bool isReadOnly = false; // .nc: nothing writes the bytes during the launch
  bool isOfCall = false;   // parameters of functions that are no kernels, kept in local memory
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
  uint8_t flags = 0;         // of a family
  uint16_t multiplyAdds = 0; // of a thread; of a warp in Class::Tensor
  AccessForm access;
  uint32_t target = 0;    // of a branch, a list of branches, or a call
  int64_t value = 0;      // the offset of an address, or what else a family keeps
  int64_t otherValue = 0; // a second one
  int line = 0;
};

} // namespace tfc::gpu
