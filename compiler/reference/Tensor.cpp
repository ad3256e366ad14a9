//===- Tensor.cpp - A tensor of the oracle --------------------------------===//
//
// Stores elements with their error bounds, and computes their positions. The arithmetic on bounds
// is in Number.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;

namespace tfc::reference {

Tensor::Tensor(Type elementType, ArrayRef<int64_t> shape)
    : elementType(elementType), shape(shape), count(elementCount(shape)) {
  if (isFloat())
    reals.resize(count);
  else
    integers.resize(count);
}

Real Tensor::stored(int64_t i) const {
  Real result{reals[i], error(i)};
  if (!least.empty())
    result.least = least[i];
  if (!most.empty())
    result.most = most[i];
  return result;
}

Real Tensor::real(int64_t i) const {
  Real result = asOperand(elementType, stored(i));
  // Denormal operands count as zeros of the same sign if a call flushes them.
  double size = std::fabs(result.value);
  if (result.isExact() && size > 0 && size < formatOf(elementType).smallest)
    return {result.value, size, std::min(result.value, 0.0), std::max(result.value, 0.0)};
  return result;
}

static void setLimit(std::vector<double> &limits, int64_t i, int64_t count, double limit,
                     double none) {
  if (limits.empty() && limit == none)
    return;
  if (limits.empty())
    limits.resize(count, none);
  limits[i] = limit;
}

void Tensor::setReal(int64_t i, Real value) {
  reals[i] = value.value;
  setError(i, value.error);
  if (value.isExact() || !value.isBounded())
    return;
  // Limits that are hardly tighter than the error are not worth their memory.
  auto isUseful = [&](double distance, bool tellsSign) {
    return distance < value.error / 2 || (tellsSign && std::fabs(value.value) < value.error);
  };
  if (isUseful(value.value - value.least, value.least >= 0))
    setLimit(least, i, count, value.least, -kUndetermined);
  if (isUseful(value.most - value.value, value.most <= 0))
    setLimit(most, i, count, value.most, kUndetermined);
}

void Tensor::setError(int64_t i, double error) {
  setLimit(least, i, count, -kUndetermined, -kUndetermined);
  setLimit(most, i, count, kUndetermined, kUndetermined);
  if (std::isnan(error)) // of special values
    error = kUndetermined;
  if (errors.empty() && error == 0)
    return;
  if (errors.empty())
    errors.resize(count, 0);
  errors[i] = error;
}

void Tensor::setUndetermined() {
  errors.assign(count, kUndetermined);
  least.clear();
  most.clear();
}

bool Tensor::isDetermined() const { return !llvm::is_contained(errors, kUndetermined); }

void Tensor::copy(int64_t i, const Tensor &other, int64_t j) {
  if (isFloat())
    reals[i] = other.reals[j];
  else
    integers[i] = other.integers[j];
  setError(i, other.error(j));
  if (!other.least.empty())
    setLimit(least, i, count, other.least[j], -kUndetermined);
  if (!other.most.empty())
    setLimit(most, i, count, other.most[j], kUndetermined);
}

void Tensor::setConstant(int64_t i, double value) {
  if (isFloat())
    setReal(i, rounded(elementType, {roundTo(elementType, value), 0}, 0));
  else
    setInteger(i, int64_t(value));
}

Tensor Tensor::reshaped(ArrayRef<int64_t> newShape) const {
  Tensor result = *this;
  result.shape.assign(newShape.begin(), newShape.end());
  return result;
}

int64_t elementCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

/// Returns true if elements of `bytes` bytes need more than `limit` bytes. In 128 bits no product
/// of two numbers of 64 bits overflows.
static bool needsMore(ArrayRef<int64_t> shape, int64_t bytes, int64_t limit) {
  __int128 product = bytes;
  for (int64_t size : shape) {
    product *= std::max<int64_t>(size, 1);
    if (product > limit)
      return true;
  }
  return false;
}

bool isBeyondMemory(ArrayRef<int64_t> shape) { return needsMore(shape, 1, kMostElements); }

bool isBeyondAddresses(ArrayRef<int64_t> shape, int64_t elementBytes) {
  return needsMore(shape, elementBytes, int64_t(1) << 56);
}

SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

void Positions::next() {
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (++place[axis] < shape[axis])
      return;
    place[axis] = 0;
  }
  isEnd = true;
}

int64_t broadcastOffset(ArrayRef<int64_t> place, ArrayRef<int64_t> operandShape) {
  ArrayRef<int64_t> own = place.take_back(operandShape.size());
  int64_t offset = 0;
  for (auto [position, size] : llvm::zip_equal(own, operandShape))
    offset = offset * size + (size == 1 ? 0 : position);
  return offset;
}

} // namespace tfc::reference
