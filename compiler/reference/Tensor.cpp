//===- Tensor.cpp - A tensor of the oracle --------------------------------===//

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

Real Tensor::real(int64_t i) const {
  Real result{reals[i], error(i)};
  bool mayOverflow = std::isfinite(result.value) && elementType.isF16() &&
                     std::fabs(result.value) + result.error >= 65520;
  if (mayOverflow)
    result.error = kUndetermined;
  return result;
}

void Tensor::setError(int64_t i, double error) {
  if (errors.empty() && error == 0)
    return;
  if (errors.empty())
    errors.resize(count, 0);
  errors[i] = error;
}

bool Tensor::isDetermined() const { return !llvm::is_contained(errors, kUndetermined); }

void Tensor::copy(int64_t i, const Tensor &other, int64_t j) {
  if (isFloat())
    reals[i] = other.reals[j];
  else
    integers[i] = other.integers[j];
  setError(i, other.error(j));
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
