//===- Number.h - Values with error bounds --------------------------------===//
//
// The oracle computes floats in f64 and keeps, for each, a bound on how far any
// correct evaluation in the tensor's dtype may be from it (running error
// analysis). The tolerance of a comparison therefore follows from the
// operations that computed a value, and is never chosen.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace tfc::reference {

/// The error of an undetermined value, such as a comparison of numbers whose order depends on
/// rounding.
inline constexpr double kUndetermined = std::numeric_limits<double>::infinity();

/// The error of a zero that may be 0 or -0.
inline constexpr double kEitherZero = std::numeric_limits<double>::denorm_min();

/// A float, and the most by which a correct evaluation may differ from it.
struct Real {
  double value = 0, error = 0;
  /// Additional limits of every correct evaluation: a sum of squares is not negative, however large
  /// its error. Nothing is known about undetermined numbers.
  double least = -kUndetermined, most = kUndetermined;

  /// Everything is known except possibly the sign of a zero.
  bool isExact() const { return error <= kEitherZero; }
  bool isDetermined() const { return error < kUndetermined; }
  /// Returns true if the ends of the interval are finite.
  bool isBounded() const { return isDetermined() && std::isfinite(value); }
  bool hasLimits() const { return least != -kUndetermined || most != kUndetermined; }
  double low() const { return std::max(value - error, least); }
  double high() const { return std::min(value + error, most); }
  /// The largest absolute value.
  double size() const { return std::max(-low(), high()); }

  /// Increases the error.
  void widen(double by) {
    error += by;
    least -= by;
    most += by;
  }
};

/// The format of a floating-point dtype. f16 and bf16 are storage types: arithmetic is done in f32,
/// and it is undefined where a value is rounded, since a fused chain rounds once.
struct Format {
  int precision;     // significant bits
  double ulp;        // relative distance of neighbours as stored
  double computeUlp; // the same in computations
  double largest;    // finite
  double smallest;   // positive and not flushed to zero by a call
  double normal;     // the smallest one; numbers below have an error of up to `smallest`
};
const Format &formatOf(mlir::Type elementType);

/// The number of the dtype nearest to `value`, ties to even.
double roundTo(mlir::Type elementType, double value);

/// The stored result of an operation with the exact result `y`, whose error follows from those of
/// the operands, if the operation is accurate to `ulps` units in the last place (0: moves or
/// chooses without rounding; 0.5: correctly rounded). Adds rounding, the flush of denormals and
/// overflow.
Real rounded(mlir::Type elementType, Real y, double ulps);

/// A result as an operand of the next operation. An f16 beyond the largest one is undetermined: it
/// is infinite if it was stored.
Real asOperand(mlir::Type elementType, Real result);

/// A product as a summand, with which it may be fused: then a product of finite numbers does not
/// overflow on its own.
Real asSummand(Real product, Real lhs, Real rhs);

/// The exact product of two inexact numbers.
Real multiply(Real lhs, Real rhs);

/// The distance of `other` from `value`: 0 for two NaN or equal infinities, infinite if only one
/// is.
double distance(double value, double other);

/// Returns true if a number is -0, or may be.
bool mayBeNegativeZero(Real number);

/// `value` modulo the integer type's range; bool counts as one bit.
int64_t wrap(mlir::Type elementType, int64_t value);
/// A number for each integer of the type, in their order: elements of u64 are stored as their bits.
/// The key of a key is the integer.
int64_t orderKey(mlir::Type elementType, int64_t value);
/// The integer as a double.
double toDouble(mlir::Type elementType, int64_t value);

/// Adds numbers in any order: the error covers every one.
class Sum {
public:
  explicit Sum(mlir::Type elementType) : elementType(elementType) {}

  void add(Real term);
  /// Adds the product of two; fused into the addition or not.
  void addProduct(Real lhs, Real rhs);
  Real get() const;

private:
  mlir::Type elementType;
  double total = 0, absolute = 0, finite = 0, error = 0;
  double low = 0, high = 0; // sums of the ends
  bool mayBeNegative = false, mayBePositive = false;
  int64_t terms = 0;
  bool areIntegers = true, areNegativeZeros = true;
};

} // namespace tfc::reference
