//===- Scalar.h - The types of instructions -------------------------------===//

#pragma once

#include "test/gpu/emulator/ptx/Module.h"
#include <string_view>

namespace tfc::gpu {

/// A type as a modifier of an instruction (5.2.1, 5.2.3).
enum class Scalar : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F32,
  F64,
  F16x2,
  BF16,
  BF16x2,
  TF32
};

/// Returns Scalar::None if there is no such type.
Scalar scalarNamed(std::string_view name);
std::string_view nameOf(Scalar type);
int bitsOf(Scalar type);
inline int bytesOf(Scalar type) { return bitsOf(type) / 8; }

inline bool isSigned(Scalar type) { return type >= Scalar::S8 && type <= Scalar::S64; }
inline bool isUnsigned(Scalar type) { return type >= Scalar::U8 && type <= Scalar::U64; }
inline bool isBits(Scalar type) { return type >= Scalar::B8 && type <= Scalar::B64; }
inline bool isInteger(Scalar type) { return isSigned(type) || isUnsigned(type); }
/// f32 and f64.
inline bool isFloat(Scalar type) { return type == Scalar::F32 || type == Scalar::F64; }
/// f16, bf16, and pairs of them.
inline bool isHalf(Scalar type) {
  return type == Scalar::F16 || type == Scalar::F16x2 || type == Scalar::BF16 ||
         type == Scalar::BF16x2;
}

/// Returns true if an operand of this type may be kept in a register of that type (9.4); a
/// wider register is allowed for loads, stores and conversions.
bool fits(Scalar type, const ptx::Type &reg, bool mayBeWider);

} // namespace tfc::gpu
