//===- Groups.h - Elements that are reduced together ----------------------===//

#pragma once

#include "compiler/reference/Tensor.h"

namespace tfc::reference {

/// For each element of a reduction's result, the offsets of the elements of `x` that it reduces, in
/// row-major order.
std::vector<std::vector<int64_t>> groupsOf(const Tensor &x, llvm::ArrayRef<int64_t> axes,
                                           int64_t resultCount);

/// Sets element i of the result to the largest element for a sign of 1, the smallest for -1.
void reduceExtreme(const Tensor &x, llvm::ArrayRef<int64_t> offsets, Tensor &result, int64_t i,
                   int sign);

/// Returns true if rounding may have determined which of two elements is larger.
bool mayExchange(const Tensor &x, int64_t a, int64_t b);

/// The index of that element, the first of equal ones, and whether it is determined.
std::pair<int64_t, bool> findExtreme(const Tensor &x, llvm::ArrayRef<int64_t> offsets, int sign);

/// Sets element i of the result to the sum of the elements divided by `count`, both in f32 at
/// least.
void reduceMean(const Tensor &x, llvm::ArrayRef<int64_t> offsets, int64_t count, Tensor &result,
                int64_t i);

/// A row of floats for a normalised exponential: the elements minus the largest one, and the sum of
/// their exponentials. An error of the largest element shifts all of them equally, so it does not
/// count.
struct ExponentialRow {
  double largest;
  llvm::SmallVector<Real> shifted, exponentials;
  Real total;
};

/// A row of only minus infinities, and rows with plus infinity or NaN, are NaN, unless
/// `shiftsFinite`: then an infinite largest element is not subtracted.
ExponentialRow exponentiate(const Tensor &x, llvm::ArrayRef<int64_t> offsets,
                            bool shiftsFinite = false);

/// log(sum(exp(x))) of a row.
Real logOfSum(const Tensor &x, llvm::ArrayRef<int64_t> offsets);

} // namespace tfc::reference
