//===- FloatFormats.h - Floating-point formats and their rounding ---------===//

#pragma once

#include <bit>
#include <cstdint>

namespace tfc::gpu {

/// To nearest even, toward zero, down, up (5.2.1, 9.7.3), and to nearest, ties away from zero.
enum class Rounding : uint8_t { Nearest, Zero, Down, Up, Away };

/// A binary format: the bits of its exponent and of its fraction.
struct Format {
  int exponentBits, fractionBits;

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  int bits() const { return 1 + exponentBits + fractionBits; }
};

constexpr Format kHalf = {5, 10}, kBrain = {8, 7}, kSingle = {8, 23}, kTensor = {8, 10},
                 kDouble = {11, 52};

/// NaN results have one value (9.7.3).
constexpr uint32_t kNanSingle = 0x7fffffff;
constexpr uint16_t kNanHalf = 0x7fff;
constexpr uint64_t kNanDouble = 0xfff8000000000000; // the bits that hosts and devices compute

/// Rounds a number to a format and returns its bits. Overflow is infinity, or the largest number
/// where the rounding goes toward zero.
uint64_t encode(double value, const Format &format, Rounding rounding);
/// The same for an integer, given by its magnitude and sign.
uint64_t encodeInteger(uint64_t magnitude, bool isNegative, const Format &format,
                       Rounding rounding);
/// The number of a format's bits; exact.
double decode(uint64_t bits, const Format &format);

inline float floatOf(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }
inline double doubleOf(uint64_t bits) { return std::bit_cast<double>(bits); }
inline uint64_t bitsOf(double value) { return std::bit_cast<uint64_t>(value); }

inline float brainToFloat(uint16_t bits) { return floatOf(uint32_t(bits) << 16); }
inline float halfToFloat(uint16_t bits) {
  uint32_t magnitude = bits & 0x7fff, sign = uint32_t(bits & 0x8000) << 16;
  if (magnitude >= 0x7c00) // infinity or NaN
    return floatOf(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  // The exponent is shifted to its place, and its bias corrected by a product that is exact.
  return floatOf(sign | bitsOf(floatOf(magnitude << 13) * 0x1p112f));
}

/// The value with denormal numbers replaced by zeros of their sign (.ftz).
inline uint32_t flushed(uint32_t bits) { return bits & 0x7f800000 ? bits : bits & 0x80000000; }

inline bool isNan(uint32_t single) { return (single & 0x7fffffff) > 0x7f800000; }

/// a + b as a double whose last bit is set if it is not exact, so that rounding it to a format of
/// fewer than 52 bits rounds the exact sum.
double addToOdd(double a, double b);
/// a * b + c in the same way, for numbers of at most 26 bits.
double fmaToOdd(double a, double b, double c);

} // namespace tfc::gpu
