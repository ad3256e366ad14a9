//===- FloatFormats.cpp - Floating-point formats and their rounding -------===//
//
// Rounds doubles to narrow formats by their bits, so that no mode of the host is needed.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/FloatFormats.h"
#include <algorithm>
#include <bit>
#include <cmath>

namespace tfc::gpu {

/// Returns true if a magnitude is rounded up, given what is cut off: half of its last place, or
/// what is on the sides of that.
static bool isRoundedUp(uint64_t kept, uint64_t cut, uint64_t half, bool isNegative,
                        Rounding rounding) {
  switch (rounding) {
  case Rounding::Nearest:
    return cut > half || (cut == half && (kept & 1));
  case Rounding::Away:
    return cut >= half;
  case Rounding::Zero:
    return false;
  case Rounding::Down:
    return isNegative && cut != 0;
  case Rounding::Up:
    return !isNegative && cut != 0;
  }
  return false;
}

/// Rounds mantissa * 2^(leading - 63), whose highest bit is set and whose last one is sticky.
static uint64_t encodeParts(bool isNegative, uint64_t mantissa, int leading, const Format &format,
                            Rounding rounding) {
  uint64_t sign = uint64_t(isNegative) << (format.bits() - 1);
  uint64_t infinity = ((uint64_t(1) << format.exponentBits) - 1) << format.fractionBits;
  int lowest = 1 - format.bias();
  int cutBits = 63 - format.fractionBits + std::max(lowest - leading, 0);
  if (int excess = cutBits - 63; excess > 0) {
    // Below the lowest place; the last bit stays sticky.
    mantissa = excess > 62 ? 1 : mantissa >> excess | ((mantissa << (64 - excess)) != 0);
    cutBits = 63;
  }
  uint64_t kept = mantissa >> cutBits, cut = mantissa & ((uint64_t(1) << cutBits) - 1);
  kept += isRoundedUp(kept, cut, uint64_t(1) << (cutBits - 1), isNegative, rounding);
  // A carry out of the fraction runs into the exponent, which is right. Normal numbers have the
  // leading bit, which counts as one in the exponent.
  uint64_t magnitude = kept;
  if (leading >= lowest)
    magnitude += static_cast<uint64_t>(leading + format.bias() - 1) << format.fractionBits;
  if (leading <= format.bias() && magnitude < infinity)
    return sign | magnitude;
  bool isToInfinity = rounding == Rounding::Nearest || rounding == Rounding::Away ||
                      rounding == (isNegative ? Rounding::Down : Rounding::Up);
  return sign | (isToInfinity ? infinity : infinity - 1);
}

uint64_t encode(double value, const Format &format, Rounding rounding) {
  uint64_t bits = bitsOf(value);
  bool isNegative = bits >> 63;
  int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
  if (exponent == 0x7ff) {
    if (fraction)
      return (uint64_t(1) << (format.bits() - 1)) - 1;
    return uint64_t(isNegative) << (format.bits() - 1) | ((uint64_t(1) << format.exponentBits) - 1)
                                                             << format.fractionBits;
  }
  if (exponent == 0 && fraction == 0)
    return uint64_t(isNegative) << (format.bits() - 1);
  uint64_t mantissa = fraction << 11 | uint64_t(exponent != 0) << 63;
  int leading = exponent - 1023;
  if (exponent == 0) {
    int shift = std::countl_zero(mantissa);
    mantissa <<= shift;
    leading = -1022 - shift;
  }
  return encodeParts(isNegative, mantissa, leading, format, rounding);
}

uint64_t encodeInteger(uint64_t magnitude, bool isNegative, const Format &format,
                       Rounding rounding) {
  if (magnitude == 0)
    return 0;
  int shift = std::countl_zero(magnitude);
  return encodeParts(isNegative, magnitude << shift, 63 - shift, format, rounding);
}

double decode(uint64_t bits, const Format &format) {
  uint64_t fraction = bits & ((uint64_t(1) << format.fractionBits) - 1);
  int exponent = static_cast<int>(bits >> format.fractionBits & ((1 << format.exponentBits) - 1));
  double magnitude;
  if (exponent == (1 << format.exponentBits) - 1)
    magnitude = fraction ? NAN : INFINITY;
  else if (exponent == 0)
    magnitude = std::ldexp(static_cast<double>(fraction), 1 - format.bias() - format.fractionBits);
  else
    magnitude = std::ldexp(1 + std::ldexp(static_cast<double>(fraction), -format.fractionBits),
                           exponent - format.bias());
  return bits >> (format.bits() - 1) & 1 ? -magnitude : magnitude;
}

/// Sets the last bit of a sum whose error is not zero, toward the exact value if that is between.
static double toOdd(double sum, double error) {
  if (error == 0 || !std::isfinite(sum) || (bitsOf(sum) & 1))
    return sum;
  bool isAway = (error > 0) == (sum > 0);
  return doubleOf(bitsOf(sum) + (isAway ? 1 : -1));
}

double addToOdd(double a, double b) {
  double sum = a + b, part = sum - a;
  return toOdd(sum, (a - (sum - part)) + (b - part));
}

double fmaToOdd(double a, double b, double c) { return addToOdd(a * b, c); }

} // namespace tfc::gpu
