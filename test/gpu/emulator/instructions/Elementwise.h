//===- Elementwise.h - Instructions that compute each lane alone ----------===//
//
// Runs a function of typed values for all active lanes. The functions are
// template arguments, so that each instruction is one loop.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "test/gpu/emulator/decode/Decoder.h"
#include "test/gpu/emulator/execute/Warp.h"
#include <cstring>
#include <type_traits>
#include <utility>

namespace tfc::gpu {

/// The value of type T in the lowest bits of a cell.
template <typename T> inline T fromCell(uint64_t cell) {
  T value;
  memcpy(&value, &cell, sizeof value);
  return value;
}

/// A cell whose other bits are zero.
template <typename T> inline uint64_t toCell(T value) {
  uint64_t cell = 0;
  memcpy(&cell, &value, sizeof value);
  return cell;
}

template <auto Function, typename Result, typename... Sources, size_t... Is>
inline void runElementwise(Warp &warp, const Instruction &instruction, uint32_t active,
                           std::index_sequence<Is...>) {
  uint64_t *result = warp.cells(instruction.operands[0]);
  const uint64_t *sources[] = {warp.cells(instruction.operands[1 + Is])...};
  forEachLane(active, [&](unsigned lane) {
    result[lane] = toCell(static_cast<Result>(Function(fromCell<Sources>(sources[Is][lane])...)));
  });
}

/// Executes `result = Function(sources...)`.
template <auto Function, typename Result, typename... Sources>
void elementwise(Warp &warp, const Instruction &instruction, uint32_t active) {
  runElementwise<Function, Result, Sources...>(warp, instruction, active,
                                               std::index_sequence_for<Sources...>());
}

/// One type for the result and `Count` sources.
template <auto Function, typename T, unsigned Count> constexpr Instruction::Execute same() {
  if constexpr (Count == 1)
    return elementwise<Function, T, T>;
  else if constexpr (Count == 2)
    return elementwise<Function, T, T, T>;
  else
    return elementwise<Function, T, T, T, T>;
}

/// Chooses the instance for an integer type; types of bits count as unsigned.
template <auto Function, unsigned Count> Instruction::Execute forInteger(Scalar type) {
  switch (type) {
  case Scalar::U16:
  case Scalar::B16:
    return same<Function, uint16_t, Count>();
  case Scalar::U32:
  case Scalar::B32:
    return same<Function, uint32_t, Count>();
  case Scalar::U64:
  case Scalar::B64:
    return same<Function, uint64_t, Count>();
  case Scalar::S16:
    return same<Function, int16_t, Count>();
  case Scalar::S32:
    return same<Function, int32_t, Count>();
  case Scalar::S64:
    return same<Function, int64_t, Count>();
  default:
    return nullptr;
  }
}

/// Chooses the instance for the unsigned type of the same size.
template <auto Function, unsigned Count> Instruction::Execute forBits(Scalar type) {
  switch (bitsOf(type)) {
  case 16:
    return same<Function, uint16_t, Count>();
  case 32:
    return same<Function, uint32_t, Count>();
  case 64:
    return same<Function, uint64_t, Count>();
  default:
    return nullptr;
  }
}

} // namespace tfc::gpu
