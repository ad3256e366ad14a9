//===- Half.h - Numbers of 16 bits ----------------------------------------===//

#pragma once

#include <cstdint>

namespace tfc::gpu {

/// A format of 16 bits: f16 or bf16.
struct HalfFormat {
  int precision;     // significant bits, with the leading one
  int leastExponent; // of normal numbers
  double largest;    // finite
  uint16_t infinity; // its bits
  int mantissa() const { return precision - 1; }
};
constexpr HalfFormat kF16 = {11, -14, 65504, 0x7c00};
constexpr HalfFormat kBF16 = {8, -126, 0x1.fep127, 0x7f80};

/// Rounds to nearest, ties to even, or towards zero. NaN becomes 0x7fff.
uint16_t toHalf(double value, const HalfFormat &format, bool isTowardZero = false);
double fromHalf(uint16_t bits, const HalfFormat &format);

} // namespace tfc::gpu
