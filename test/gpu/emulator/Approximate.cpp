//===- Approximate.cpp - Approximations with an error ---------------------===//
//
// The errors are those of the ISA: 9.7.3.13 to 9.7.3.22 for f32, 9.7.4.10 and 9.7.4.11 for f16.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/Approximate.h"
#include "test/gpu/emulator/FloatFormats.h"
#include <algorithm>
#include <cmath>

namespace tfc::gpu {

double exactValue(Function function, double a, double b) {
  switch (function) {
  case Function::Reciprocal:
    return 1 / a;
  case Function::SquareRoot:
    return std::sqrt(a);
  case Function::ReciprocalRoot:
    return 1 / std::sqrt(a);
  case Function::Sine:
    return std::sin(a);
  case Function::Cosine:
    return std::cos(a);
  case Function::Logarithm:
    return std::log2(a);
  case Function::Exponential:
    return std::exp2(a);
  case Function::Tangent:
    return std::tanh(a);
  case Function::Division:
    return a / b;
  }
  return NAN;
}

/// The distance of the floats around a number.
static double ulpOf(double value) {
  int exponent;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, std::max(exponent, -125) - 24);
}

double errorBound(Function function, double a, double exact) {
  constexpr double kPi = 3.14159265358979323846;
  double magnitude = std::fabs(exact);
  switch (function) {
  case Function::Reciprocal:
    return ulpOf(exact);
  case Function::SquareRoot:
    return magnitude * 0x1p-23;
  case Function::ReciprocalRoot:
    return magnitude * std::exp2(-22.9);
  case Function::Sine:
  case Function::Cosine:
    // The error is not documented for larger angles; an error of 1 makes the result useless.
    return std::fabs(a) <= 2 * kPi     ? std::exp2(-20.5)
           : std::fabs(a) <= 100 * kPi ? std::exp2(-14.7)
                                       : 1;
  case Function::Logarithm:
    return a > 0.5 && a < 2 ? std::exp2(-22.6) : magnitude * std::exp2(-22.6);
  case Function::Exponential:
    return std::max(magnitude * std::exp2(-22.5), ulpOf(exact));
  case Function::Tangent:
    return magnitude * 0x1p-11;
  case Function::Division:
    return 2 * ulpOf(exact);
  }
  return 0;
}

/// A number from -1 to 1 that depends on all arguments (the finaliser of splitmix64).
static double noise(Function function, uint64_t operands, uint64_t seed) {
  uint64_t x = operands + seed * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(function) * 0x1000193;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  x ^= x >> 31;
  return static_cast<double>(static_cast<int64_t>(x)) * 0x1p-63;
}

/// Results that the ISA states exactly keep their value.
static bool isExact(Function function, double a, double exact) {
  bool isOneAtZero = function == Function::Exponential || function == Function::Cosine;
  bool isOneAtInfinity = function == Function::Tangent && std::isinf(a);
  return exact == 0 || !std::isfinite(exact) || (isOneAtZero && a == 0) || isOneAtInfinity;
}

uint32_t approximate(Function function, uint32_t a, uint32_t b, uint64_t seed) {
  double x = floatOf(a), exact = exactValue(function, x, floatOf(b));
  if (!isExact(function, x, exact)) {
    // Rounding adds half of a place to the error.
    double room = std::max(errorBound(function, x, exact) - ulpOf(exact) / 2, 0.0);
    bool isAtMostOne =
        function == Function::Sine || function == Function::Cosine || function == Function::Tangent;
    exact += room * noise(function, uint64_t(b) << 32 | a, seed);
    if (isAtMostOne)
      exact = std::clamp(exact, -1.0, 1.0);
  }
  return static_cast<uint32_t>(encode(exact, kSingle, Rounding::Nearest)); // NaN is canonical
}

/// A relative error of 2^-9.9 for ex2.f16, an absolute one of 2^-10.987 for tanh.f16.
uint16_t approximateHalf(Function function, uint16_t a, uint64_t seed) {
  double x = halfToFloat(a), exact = exactValue(function, x, 0);
  if (!isExact(function, x, exact)) {
    bool isExponential = function == Function::Exponential;
    double bound = isExponential ? std::fabs(exact) * std::exp2(-9.9) : std::exp2(-10.987);
    int exponent;
    std::frexp(exact, &exponent);
    double ulp = std::ldexp(1.0, std::max(exponent, -13) - 11);
    exact += std::max(bound - ulp / 2, 0.0) * noise(function, a, seed);
  }
  return static_cast<uint16_t>(encode(exact, kHalf, Rounding::Nearest));
}

} // namespace tfc::gpu
