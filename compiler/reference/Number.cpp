//===- Number.cpp - A value and how far a correct evaluation may be off ---===//

#include "compiler/reference/Number.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>

using namespace mlir;

namespace tfc::reference {

const Format &formatOf(Type elementType) {
  // f16 keeps denormals, half of the smallest of which is what rounding loses; the others are
  // flushed.
  static const Format f64{53, 0x1p-52, 0x1p-52, 0x1.fffffffffffffp1023, 0x1p-1022};
  static const Format f32{24, 0x1p-23, 0x1p-23, 0x1.fffffep127, 0x1p-126};
  static const Format f16{11, 0x1p-10, 0x1p-23, 65504, 0x1p-25};
  static const Format bf16{8, 0x1p-7, 0x1p-23, 0x1.fep127, 0x1p-126};
  if (elementType.isF64())
    return f64;
  if (elementType.isF32())
    return f32;
  return elementType.isF16() ? f16 : bf16;
}

double roundTo(Type elementType, double value) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(cast<FloatType>(elementType).getFloatSemantics(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

/// Whether every evaluation gets just `value`. A double that fills its last bits may itself have
/// been rounded.
static bool isStoredExactly(const Format &format, double value) {
  int exponent;
  double bits = std::ldexp(std::frexp(value, &exponent), std::min(format.precision, 32));
  return bits == std::trunc(bits) && (value == 0 || std::fabs(value) >= format.smallest);
}

/// The largest number that arithmetic gives.
static double computeLimit(Type elementType) {
  Type computed = elementType.isF16() ? Float32Type::get(elementType.getContext()) : elementType;
  return formatOf(computed).largest;
}

Real rounded(Type elementType, Real y, double ulps) {
  const Format &format = formatOf(elementType);
  if (!std::isfinite(y.value) || !y.isDetermined())
    return y;
  double size = std::fabs(y.value);
  bool isExact = y.isExact() && (ulps == 0 || (ulps <= 0.5 && isStoredExactly(format, y.value)));
  if (!isExact && ulps != 0) {
    y.error += ulps * format.computeUlp * size;
    if (format.ulp != format.computeUlp)
      y.error += 0.5 * format.ulp * size;
    if (elementType.isF64()) // the oracle rounds too
      y.error += format.ulp * size;
  }
  bool mayVanish = size - y.error < format.smallest && !(size == 0 && y.isExact());
  if (mayVanish && !(isExact && elementType.isF16()))
    y.error += format.smallest;
  double most = computeLimit(elementType);
  double limit = most * (1 + 0.5 * format.ulp); // f64 has none beyond its largest number
  if (limit > most && size - y.error >= limit)
    return {std::copysign(INFINITY, y.value), 0};
  if (size + y.error > most)
    y.error = kUndetermined;
  return y;
}

double distance(double value, double other) {
  if (std::isnan(value) || std::isnan(other))
    return std::isnan(value) == std::isnan(other) ? 0 : kUndetermined;
  return value == other ? 0 : std::fabs(value - other);
}

bool mayBeNegativeZero(Real number) {
  return number.value == 0 && (number.error == kEitherZero || std::signbit(number.value));
}

int64_t wrap(Type elementType, int64_t value) {
  unsigned bits = elementType.getIntOrFloatBitWidth();
  if (bits == 1)
    return value & 1;
  if (bits == 64)
    return value;
  uint64_t low = uint64_t(value) & llvm::maskTrailingOnes<uint64_t>(bits);
  return elementType.isUnsignedInteger() ? int64_t(low) : llvm::SignExtend64(low, bits);
}

//===----------------------------------------------------------------------===//
// Sum
//===----------------------------------------------------------------------===//

void Sum::add(Real term) {
  total += term.value;
  absolute += std::fabs(term.value);
  if (std::isfinite(term.value))
    finite += std::fabs(term.value);
  if (!term.isExact())
    error += term.error;
  areNegativeZeros &= mayBeNegativeZero(term);
  areIntegers &= term.isExact() && term.value == std::trunc(term.value);
  ++terms;
}

void Sum::addProduct(Real lhs, Real rhs) {
  double product = lhs.value * rhs.value;
  double change = 0;
  // Where it is fused, a product of finite numbers does not overflow by itself.
  bool overflows = std::isinf(product) && std::isfinite(lhs.value) && std::isfinite(rhs.value);
  if (!lhs.isDetermined() || !rhs.isDetermined() || overflows)
    change = kUndetermined;
  else if (lhs.isExact() && rhs.isExact())
    change = mayBeNegativeZero(lhs) || mayBeNegativeZero(rhs) ? kEitherZero : 0;
  else if (std::isfinite(product))
    change =
        std::fabs(lhs.value) * rhs.error + std::fabs(rhs.value) * lhs.error + lhs.error * rhs.error;
  else
    change = kUndetermined;
  add({product, change});
}

/// The sum of n terms is off by (n - 1) roundings of partial sums, each at most the sum of the
/// sizes; one more rounds a product, and second-order terms are covered by another two.
Real Sum::get() const {
  const Format &format = formatOf(elementType);
  // Sums may start from 0 or from their first term.
  Real result{total, error == 0 && areNegativeZeros && terms > 0 ? kEitherZero : error};
  // What is finite in f64 may overflow, and meet the infinity of the other sign.
  if (std::isinf(total) && finite > 0.5 * computeLimit(elementType))
    return {total, kUndetermined};
  if (!std::isfinite(total) || !result.isDetermined())
    return result;
  bool isExact = areIntegers && absolute <= 1 / format.computeUlp;
  double size = absolute + error;
  if (!isExact && terms > 1)
    result.error += double(terms + 2) * 0.5 * format.computeUlp * size;
  if (!isExact && elementType.isF64()) // the oracle rounds too
    result.error += double(terms + 2) * 0.5 * format.ulp * size;
  // Some order of the terms may overflow on the way.
  if (size > 0.5 * computeLimit(elementType))
    result.error = kUndetermined;
  return rounded(elementType, result, isExact ? 0 : 0.5);
}

} // namespace tfc::reference
