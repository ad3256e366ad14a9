//===- Half.cpp - Numbers of 16 bits --------------------------------------===//
//
// Converts by the definition of the formats: an integer times a power of two.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Half.h"
#include <algorithm>
#include <cmath>

namespace tfc::gpu {

uint16_t toHalf(double value, const HalfFormat &format, bool isTowardZero) {
  if (std::isnan(value))
    return 0x7fff;
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double size = std::fabs(value);
  if (std::isinf(size))
    return sign | format.infinity;
  if (size == 0)
    return sign;
  int exponent = std::max(std::ilogb(size), format.leastExponent);
  double scaled = std::ldexp(size, format.mantissa() - exponent);
  double whole = isTowardZero ? std::floor(scaled) : std::nearbyint(scaled);
  if (std::ldexp(whole, exponent - format.mantissa()) > format.largest)
    return sign | (isTowardZero ? format.infinity - 1 : format.infinity);
  // A carry out of the mantissa moves into the exponent, which is right.
  int field = exponent - format.leastExponent;
  return sign | static_cast<uint16_t>((field << format.mantissa()) + static_cast<int>(whole));
}

double fromHalf(uint16_t bits, const HalfFormat &format) {
  int size = bits & 0x7fff, field = size >> format.mantissa();
  double sign = bits & 0x8000 ? -1 : 1;
  if (size > format.infinity)
    return NAN;
  if (size == format.infinity)
    return sign * HUGE_VAL;
  int whole = size & ((1 << format.mantissa()) - 1);
  if (field > 0)
    whole += 1 << format.mantissa();
  return sign *
         std::ldexp(whole, std::max(field, 1) - 1 + format.leastExponent - format.mantissa());
}

} // namespace tfc::gpu
