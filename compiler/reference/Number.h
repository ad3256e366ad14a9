//===- Number.h - A value and how far a correct evaluation may be off -----===//
//
// The oracle computes floats in f64 and keeps, for each, a bound on how far any
// correct evaluation in the tensor's dtype may be from it (running error
// analysis). So what a comparison tolerates follows from the operations that
// led to a value, and is never chosen.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace tfc::reference {

/// The bound of what may be anything: a comparison of numbers that rounding may exchange.
inline constexpr double kUndetermined = std::numeric_limits<double>::infinity();

/// The bound of a zero of which it is open whether it is 0 or -0.
inline constexpr double kEitherZero = std::numeric_limits<double>::denorm_min();

/// A float, and the most by which a correct evaluation may differ from it.
struct Real {
  double value = 0, error = 0;
  /// What every correct evaluation keeps to besides: a sum of squares is not negative, however
  /// large its error. Of numbers that are not determined nothing is known.
  double least = -kUndetermined, most = kUndetermined;

  /// All but the sign of a zero is known.
  bool isExact() const { return error <= kEitherZero; }
  bool isDetermined() const { return error < kUndetermined; }
  /// Whether the ends of what evaluations may give are numbers.
  bool isBounded() const { return isDetermined() && std::isfinite(value); }
  bool hasLimits() const { return least != -kUndetermined || most != kUndetermined; }
  double low() const { return std::max(value - error, least); }
  double high() const { return std::min(value + error, most); }
  /// The largest absolute value.
  double size() const { return std::max(-low(), high()); }

  /// Evaluations may be off by so much more.
  void widen(double by) {
    error += by;
    least -= by;
    most += by;
  }
};

/// What a floating-point dtype can hold. f16 and bf16 are stored: arithmetic is that of f32, and
/// where a value is rounded is not defined, since a fused chain rounds once.
struct Format {
  int precision;     // significant bits
  double ulp;        // relative distance of neighbours as stored
  double computeUlp; // the same as computed
  double largest;    // finite
  double smallest;   // positive and not flushed to zero by a call
  double normal;     // the smallest one; those below are off by up to `smallest`
};
const Format &formatOf(mlir::Type elementType);

/// The number of the dtype nearest to `value`, ties to even.
double roundTo(mlir::Type elementType, double value);

/// What evaluations of an operation store whose exact result for the operands at hand is `y`, with
/// an error that follows from those of the operands, if it is right up to `ulps` units in the last
/// place (0: moves or chooses, and rounds nothing; 0.5: correctly rounded). Adds rounding, the
/// flush of denormals and overflow.
Real rounded(mlir::Type elementType, Real y, double ulps);

/// The exact product of two inexact numbers.
Real multiply(Real lhs, Real rhs);

/// How far `other` is from `value`: 0 for two NaN or equal infinities, infinite where only one is.
double distance(double value, double other);

/// Whether a number is -0, or may be.
bool mayBeNegativeZero(Real number);

/// `value` modulo the integer type's range; bool counts as one bit.
int64_t wrap(mlir::Type elementType, int64_t value);

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
