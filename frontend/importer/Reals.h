// Small tensors of floats that are known when a graph is read, such as the scales of a resizing.
#pragma once

#include "dialects/dfg/Types.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace tfc::importer {

/// Values whose elements the caller of the reader specifies.
using KnownValues = llvm::DenseMap<mlir::Value, mlir::ElementsAttr>;

/// A number as a ratio of integers that are sizes or numbers: `h / 2`, or 2 for `2 * h / h`.
struct Ratio {
  dfg::DimExpr numerator;
  /// Greater than 0.
  dfg::DimExpr denominator = 1;

  /// Returns the number if it is an integer in any call.
  std::optional<dfg::DimExpr> asInteger() const;
  /// Returns the largest integer that is not greater, and the smallest one that is not less, where
  /// a size can express them.
  std::optional<dfg::DimExpr> floor() const;
  std::optional<dfg::DimExpr> ceil() const;
  /// Returns the integer that is nearest on the side of 0.
  std::optional<dfg::DimExpr> truncate() const;
  /// Returns an integer that is not less than a number of which this is an upper bound, after a few
  /// operations in floats of 32 bits that round it.
  dfg::DimExpr limit() const;

  /// Returns a number of which floats hold the products with sizes, and an upper bound of another
  /// one that is not negative; std::nullopt for large numbers.
  static std::optional<Ratio> exact(double number);
  static std::optional<Ratio> above(double number);
};

Ratio operator+(const Ratio &a, const Ratio &b);
Ratio operator-(const Ratio &a, const Ratio &b);
Ratio operator*(const Ratio &a, const Ratio &b);
/// Returns std::nullopt if `b` is 0 or its sign is not known.
std::optional<Ratio> operator/(const Ratio &a, const Ratio &b);

/// Returns the elements of a tensor of floats or integers, in row-major order, if they can be
/// derived from the operations that compute it and do not depend on sizes.
std::optional<llvm::SmallVector<double>> evaluateReals(mlir::Value value,
                                                       const KnownValues &given = KnownValues());
/// The same for elements that may depend on sizes. Numbers are exact, or not known.
std::optional<llvm::SmallVector<Ratio>> evaluateRatios(mlir::Value value,
                                                       const KnownValues &given = KnownValues());
/// The same for a tensor of integers; std::nullopt for other types.
std::optional<dfg::Shape> evaluateIntegers(mlir::Value value,
                                           const KnownValues &given = KnownValues());
/// Returns the elements of a tensor of floats, rounded toward 0, if they are known and integers of
/// 64 or 32 bits hold them.
std::optional<dfg::Shape> truncateReals(mlir::Value value, bool isWide,
                                        const KnownValues &given = KnownValues());

/// Returns how many steps lead from `start` to `limit`, with a quotient that is computed in an
/// element type; negative if they lead away from it, and not finite for a step of 0.
double countSteps(double start, double limit, double step, mlir::Type type);

/// A number that depends on sizes alone, or only an upper bound of it because floats round it.
struct BoundedRatio {
  Ratio ratio;
  bool isBound;
};
/// The same for elements of which some are not exact; those are not negative.
std::optional<llvm::SmallVector<BoundedRatio>> evaluateBounds(mlir::Value value);
/// Describes how a tensor is computed from constants and sizes: equal texts mean equal elements.
/// Empty if it depends on other data.
std::string describeComputation(mlir::Value value);

/// Returns the element of a tensor of any size all of whose elements are the same constant, or
/// null.
mlir::Attribute evaluateUniform(mlir::Value value);

} // namespace tfc::importer
