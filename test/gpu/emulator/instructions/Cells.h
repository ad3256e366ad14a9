//===- Cells.h - Typed values in cells of registers -----------------------===//

#pragma once

#include "test/gpu/emulator/decode/Form.h"
#include "test/gpu/emulator/execute/Warp.h"
#include <cmath>
#include <limits>
#include <type_traits>

namespace tfc::gpu {

template <typename T> inline T fromCell(uint64_t cell) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<uint32_t>(cell));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(cell);
  else
    return static_cast<T>(cell);
}

template <typename T> inline uint64_t toCell(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(value);
  else
    return static_cast<std::make_unsigned_t<T>>(value);
}

/// Sets the result of each lane to `value(lane, cells)` of the cells of its sources.
template <int sources, typename Value>
void setResults(Warp &warp, const Instruction &instruction, uint32_t active, Value value) {
  uint64_t *result = warp.cells(instruction.operands[0]);
  const uint64_t *rows[sources];
  for (int i = 0; i < sources; ++i)
    rows[i] = warp.cells(instruction.operands[i + 1]);
  forEachLane(active, [&](unsigned lane) {
    uint64_t cells[sources];
    for (int i = 0; i < sources; ++i)
      cells[i] = rows[i][lane];
    result[lane] = value(lane, cells);
  });
}

/// Instructions with one to three sources of one type, whose result `Op::apply` computes.
template <typename T, typename Op>
void unary(Warp &warp, const Instruction &instruction, uint32_t active) {
  setResults<1>(warp, instruction, active,
                [](unsigned, const uint64_t *x) { return toCell(Op::apply(fromCell<T>(x[0]))); });
}

template <typename T, typename Op>
void binary(Warp &warp, const Instruction &instruction, uint32_t active) {
  setResults<2>(warp, instruction, active, [](unsigned, const uint64_t *x) {
    return toCell(Op::apply(fromCell<T>(x[0]), fromCell<T>(x[1])));
  });
}

template <typename T, typename Op>
void ternary(Warp &warp, const Instruction &instruction, uint32_t active) {
  setResults<3>(warp, instruction, active, [](unsigned, const uint64_t *x) {
    return toCell(Op::apply(fromCell<T>(x[0]), fromCell<T>(x[1]), fromCell<T>(x[2])));
  });
}

/// Calls `use` with a value of the C++ type for integers of 16 to 64 bits; returns null for other
/// types.
template <typename Use> Instruction::Execute withInteger(Scalar type, Use use) {
  switch (type) {
  case Scalar::U16:
  case Scalar::B16:
    return use(uint16_t());
  case Scalar::U32:
  case Scalar::B32:
    return use(uint32_t());
  case Scalar::U64:
  case Scalar::B64:
    return use(uint64_t());
  case Scalar::S16:
    return use(int16_t());
  case Scalar::S32:
    return use(int32_t());
  case Scalar::S64:
    return use(int64_t());
  default:
    return nullptr;
  }
}

template <typename Op> Instruction::Execute unaryOf(Scalar type) {
  return withInteger(type, [](auto t) { return &unary<decltype(t), Op>; });
}
template <typename Op> Instruction::Execute binaryOf(Scalar type) {
  return withInteger(type, [](auto t) { return &binary<decltype(t), Op>; });
}
template <typename Op> Instruction::Execute ternaryOf(Scalar type) {
  return withInteger(type, [](auto t) { return &ternary<decltype(t), Op>; });
}

/// Sets what executes the instruction, if there is something, and its group.
inline bool setExecute(Form &form, Instruction::Execute execute, Class group) {
  form.out.execute = execute;
  form.out.group = group;
  return execute || form.unknown();
}

} // namespace tfc::gpu
