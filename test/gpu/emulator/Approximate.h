//===- Approximate.h - Approximations with an error -----------------------===//
//
// The .approx instructions promise a largest error, not bits. Their results
// here are off by a part of it that depends on the operands and a seed, so that
// nothing relies on the bits of one device.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>

namespace tfc::gpu {

/// The functions of 9.7.3 and 9.7.4 that are approximated.
enum class Function : uint8_t {
  Reciprocal,
  SquareRoot,
  ReciprocalRoot,
  Sine,
  Cosine,
  Logarithm,
  Exponential,
  Tangent,
  Division,
};

/// The result of f32 as bits, within the documented error of the exact one. The second operand
/// belongs to a division.
uint32_t approximate(Function function, uint32_t a, uint32_t b, uint64_t seed);
/// The exact value, and the largest absolute error of the result.
double exactValue(Function function, double a, double b);
double errorBound(Function function, double a, double exact);

/// ex2 and tanh of f16.
uint16_t approximateHalf(Function function, uint16_t a, uint64_t seed);

} // namespace tfc::gpu
