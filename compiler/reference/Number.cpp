//===- Number.cpp - Values with error bounds ------------------------------===//
//
// Implements arithmetic on error bounds: rounding, sums and products. It knows single numbers; how
// tensors store them is in Tensor.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Number.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>

using namespace mlir;

namespace tfc::reference {

const Format &formatOf(Type elementType) {
  // f16 keeps denormals, so rounding loses at most half of the smallest; the others are flushed.
  static const Format f64{53, 0x1p-52, 0x1p-52, 0x1.fffffffffffffp1023, 0x1p-1022, 0x1p-1022};
  static const Format f32{24, 0x1p-23, 0x1p-23, 0x1.fffffep127, 0x1p-126, 0x1p-126};
  static const Format f16{11, 0x1p-10, 0x1p-23, 65504, 0x1p-25, 0x1p-14};
  static const Format bf16{8, 0x1p-7, 0x1p-23, 0x1.fep127, 0x1p-126, 0x1p-126};
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

/// Returns true if every evaluation results in exactly `value`. A double that uses its last bits
/// may have been rounded itself.
static bool isStoredExactly(const Format &format, double value) {
  int exponent;
  double bits = std::ldexp(std::frexp(value, &exponent), std::min(format.precision, 32));
  if (bits != std::trunc(bits))
    return false;
  if (value == 0 || std::fabs(value) >= format.normal)
    return true;
  bool keepsDenormals = format.smallest < format.normal;
  return keepsDenormals && std::fmod(value, 2 * format.smallest) == 0;
}

/// The largest number that arithmetic can return.
static double computeLimit(Type elementType) {
  Type computed = elementType.isF16() ? Float32Type::get(elementType.getContext()) : elementType;
  return formatOf(computed).largest;
}

/// The relative error of operations that are accurate to `ulps`.
static double relativeError(Type elementType, double ulps) {
  const Format &format = formatOf(elementType);
  double share = ulps * format.computeUlp;
  if (format.ulp != format.computeUlp)
    share += 0.5 * format.ulp;
  if (elementType.isF64()) // the oracle rounds too
    share += format.ulp;
  return share;
}

/// Rounding is monotone, so limits that are numbers of the dtype remain limits.
static void roundLimits(Type elementType, Real &y, double ulps) {
  const Format &format = formatOf(elementType);
  double share = relativeError(elementType, ulps);
  auto stays = [&](double end) { return ulps <= 0.5 && isStoredExactly(format, end); };
  if (!stays(y.least))
    y.least -= share * std::fabs(y.least);
  if (!stays(y.most))
    y.most += share * std::fabs(y.most);
}

/// Numbers too small to keep may be zero, and denormal ones lose their last bits.
static void flush(const Format &format, Real &y) {
  y.error += format.smallest;
  auto isSmall = [&](double end) { return end != 0 && std::fabs(end) < format.normal; };
  if (isSmall(y.least))
    y.least = y.least > 0 ? std::max(0.0, y.least - format.smallest) : y.least - format.smallest;
  if (isSmall(y.most))
    y.most = y.most < 0 ? std::min(0.0, y.most + format.smallest) : y.most + format.smallest;
}

Real rounded(Type elementType, Real y, double ulps) {
  const Format &format = formatOf(elementType);
  if (!y.isBounded())
    return {y.value, y.error};
  double size = std::fabs(y.value);
  bool isExact = y.isExact() && (ulps == 0 || (ulps <= 0.5 && isStoredExactly(format, y.value)));
  if (!isExact && ulps != 0) {
    y.error += relativeError(elementType, ulps) * y.size();
    roundLimits(elementType, y, ulps);
  }
  bool isSmall =
      y.low() < format.normal && y.high() > -format.normal && !(size == 0 && y.isExact());
  bool isKept = elementType.isF16() && (isExact || ulps == 0);
  if (isSmall && !isKept)
    flush(format, y);
  double most = computeLimit(elementType);
  double limit = most * (1 + 0.5 * format.ulp); // f64 has no numbers beyond its largest one
  if (limit > most && std::max(y.low(), -y.high()) >= limit)
    return {std::copysign(INFINITY, y.value), 0};
  if (y.size() > most)
    return {y.value, kUndetermined};
  if (!y.isExact())
    y.error = std::min(y.error, std::max(y.value - y.least, y.most - y.value));
  return y;
}

Real asOperand(Type elementType, Real result) {
  bool mayOverflow = elementType.isF16() && std::isfinite(result.value) && result.size() >= 65520;
  return mayOverflow ? Real{result.value, kUndetermined} : result;
}

Real asSummand(Real product, Real lhs, Real rhs) {
  if (std::isinf(product.value) && std::isfinite(lhs.value) && std::isfinite(rhs.value))
    product.error = kUndetermined;
  return product;
}

Real multiply(Real lhs, Real rhs) {
  double value = lhs.value * rhs.value;
  if (lhs.isExact() && rhs.isExact())
    return {value, value == 0 ? std::max(lhs.error, rhs.error) : 0};
  if (!lhs.isBounded() || !rhs.isBounded() || !std::isfinite(value))
    return {value, kUndetermined};
  if (!lhs.hasLimits() && !rhs.hasLimits())
    return {value, std::fabs(lhs.value) * rhs.error + std::fabs(rhs.value) * lhs.error +
                       lhs.error * rhs.error};
  auto [least, most] = std::minmax({lhs.low() * rhs.low(), lhs.low() * rhs.high(),
                                    lhs.high() * rhs.low(), lhs.high() * rhs.high()});
  return {value, std::max(value - least, most - value), least, most};
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

int64_t orderKey(Type elementType, int64_t value) {
  return elementType.isUnsignedInteger(64) ? value ^ INT64_MIN : value;
}

double toDouble(Type elementType, int64_t value) {
  return elementType.isUnsignedInteger(64) ? double(uint64_t(value)) : double(value);
}

//===----------------------------------------------------------------------===//
// Sum
//===----------------------------------------------------------------------===//

void Sum::add(Real term) {
  total += term.value;
  absolute += term.isExact() ? std::fabs(term.value) : term.size();
  low += term.low();
  high += term.high();
  mayBeNegative |= !(term.low() >= 0);
  mayBePositive |= !(term.high() <= 0);
  if (std::isfinite(term.value))
    finite += std::fabs(term.value);
  if (!term.isExact())
    error += term.error;
  areNegativeZeros &= mayBeNegativeZero(term);
  areIntegers &= term.isExact() && term.value == std::trunc(term.value);
  ++terms;
}

void Sum::addProduct(Real lhs, Real rhs) {
  Real product = asSummand(multiply(lhs, rhs), lhs, rhs);
  if (product.value == 0 && product.isExact() && (mayBeNegativeZero(lhs) || mayBeNegativeZero(rhs)))
    product.error = kEitherZero;
  double smallest = formatOf(elementType).smallest;
  if (product.value != 0 && std::fabs(product.value) < smallest)
    product.widen(smallest);
  add(product);
}

/// A sum of n terms has (n - 1) roundings of partial sums, each of which is at most the sum of the
/// magnitudes; one more rounds a product, and another two cover second-order terms.
Real Sum::get() const {
  const Format &format = formatOf(elementType);
  // Sums may start from 0 or from their first term.
  Real result{total, error == 0 && areNegativeZeros && terms > 0 ? kEitherZero : error, low, high};
  // A number that is finite in f64 may overflow, and be added to the opposite infinity.
  if (!std::isfinite(total) && finite > 0.5 * computeLimit(elementType))
    return {total, kUndetermined};
  if (!result.isBounded())
    return {total, error};
  // Partial sums may overflow in some order of the terms.
  if (absolute > 0.5 * computeLimit(elementType))
    return {total, kUndetermined};
  // Integers add up exactly, and may only be rounded when they are stored.
  if (areIntegers && absolute <= 1 / format.computeUlp)
    return rounded(elementType, {total, error}, format.ulp == format.computeUlp ? 0 : 0.5);
  double share = 0;
  if (terms > 1)
    share += double(terms + 2) * 0.5 * format.computeUlp;
  if (elementType.isF64()) // the oracle rounds too
    share += double(terms + 2) * 0.5 * format.ulp;
  result.error += share * absolute;
  // Each partial sum of terms of one sign has a bounded relative error.
  result.least -= share * (mayBeNegative ? absolute : low);
  result.most += share * (mayBePositive ? absolute : -high);
  // Those of terms of both signs may be denormal. Those of f16 are computed in f32.
  if (mayBeNegative && mayBePositive && !elementType.isF16()) {
    double flushed = double(terms - 1) * format.smallest;
    result.error += flushed;
    result.least -= flushed;
    result.most += flushed;
  }
  return rounded(elementType, result, 0.5);
}

} // namespace tfc::reference
