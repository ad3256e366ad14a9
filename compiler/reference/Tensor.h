//===- Tensor.h - A tensor of the oracle ----------------------------------===//

#pragma once

#include "compiler/reference/Number.h"
#include <vector>

namespace tfc::reference {

/// A dense tensor of a concrete shape, its elements in row-major order. Floats are doubles with an
/// error bound; integers and bool are exact or undetermined.
class Tensor {
public:
  Tensor() = default;
  /// Exact zeros.
  Tensor(mlir::Type elementType, llvm::ArrayRef<int64_t> shape);

  mlir::Type getElementType() const { return elementType; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return shape.size(); }
  int64_t size() const { return count; }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(elementType); }

  /// The element with its error and limits.
  Real stored(int64_t i) const;
  /// The element as an operand, see `asOperand`.
  Real real(int64_t i) const;
  void setReal(int64_t i, Real value);
  /// Stores the result of an operation accurate to `ulps` with the exact result `value`, see
  /// `rounded`.
  void setRounded(int64_t i, Real value, double ulps) {
    setReal(i, rounded(elementType, value, ulps));
  }

  int64_t integer(int64_t i) const { return integers[i]; }
  /// The element as a number in the order of its type.
  int64_t key(int64_t i) const { return orderKey(elementType, integers[i]); }
  void setInteger(int64_t i, int64_t value, bool isDetermined = true) {
    integers[i] = wrap(elementType, value);
    setError(i, isDetermined ? 0 : kUndetermined);
  }

  double error(int64_t i) const { return errors.empty() ? 0 : errors[i]; }
  /// Sets the error and removes the limits of an element.
  void setError(int64_t i, double error);
  bool isDetermined(int64_t i) const { return error(i) != kUndetermined; }
  /// Returns true if all elements are determined.
  bool isDetermined() const;
  void setUndetermined();

  /// The element as a double, for any type.
  double number(int64_t i) const {
    return isFloat() ? reals[i] : toDouble(elementType, integers[i]);
  }
  /// Copies element `j` of a tensor of the same dtype, error and all.
  void copy(int64_t i, const Tensor &other, int64_t j);
  /// Sets an element to a constant, rounded to the dtype.
  void setConstant(int64_t i, double value);

  /// The same elements in another shape.
  Tensor reshaped(llvm::ArrayRef<int64_t> newShape) const;

private:
  mlir::Type elementType;
  std::vector<int64_t> shape;
  int64_t count = 0;
  std::vector<double> reals;
  std::vector<int64_t> integers;
  std::vector<double> errors; // empty: all exact
  /// Limits, if they are much tighter than the error; empty: none.
  std::vector<double> least, most;
};

/// Number of elements.
int64_t elementCount(llvm::ArrayRef<int64_t> shape);

/// The largest number of elements of a tensor or list in the oracle, which needs some 30 bytes for
/// each.
inline constexpr int64_t kMostElements = int64_t(1) << 27;

/// Returns true if the oracle has no memory for a tensor, or 64 bits do not hold its number of
/// elements.
bool isBeyondMemory(llvm::ArrayRef<int64_t> shape);

/// Returns true if a tensor of elements of this many bytes has more than 2^56 bytes, which no
/// memory holds. An empty axis counts as one element.
bool isBeyondAddresses(llvm::ArrayRef<int64_t> shape, int64_t elementBytes);

/// The distance in memory of neighbours along each axis.
llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<int64_t> shape);

/// Positions of the elements of a shape, one after the other in row-major order.
class Positions {
public:
  explicit Positions(llvm::ArrayRef<int64_t> shape)
      : shape(shape), place(shape.size(), 0), isEnd(elementCount(shape) == 0) {}

  bool done() const { return isEnd; }
  void next();
  /// The position along each axis.
  llvm::ArrayRef<int64_t> operator*() const { return place; }
  int64_t operator[](int64_t axis) const { return place[axis]; }

private:
  llvm::SmallVector<int64_t> shape, place;
  bool isEnd;
};

/// The offset in an operand of the element at `place` of a broadcast result.
int64_t broadcastOffset(llvm::ArrayRef<int64_t> place, llvm::ArrayRef<int64_t> operandShape);

} // namespace tfc::reference
