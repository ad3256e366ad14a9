// The matrices of Winograd's algorithm, from the points at which polynomials are evaluated.

#include "dialects/dfg/WinogradMatrices.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cassert>
#include <cmath>

using namespace tfc::dfg;
using llvm::SmallVector;

/// Values at which polynomials are evaluated; infinity is the last one. With these the errors of
/// the largest size are a third of those with 4 and -4, and half of those with 3 and -3.
static constexpr double kPoints[] = {0, 1, -1, 2, -2, 0.5, -0.5, 0.75, -0.75};
static_assert(std::size(kPoints) + 1 == WinogradMatrices::kMostSize);

/// The coefficients of the product of x - p over the first `count` points p except for `without`.
static SmallVector<double> productOfRoots(int64_t count, int64_t without) {
  SmallVector<double> polynomial{1};
  for (int64_t i = 0; i < count; ++i) {
    if (i == without)
      continue;
    polynomial.insert(polynomial.begin(), 0);
    for (size_t k = 0; k + 1 < polynomial.size(); ++k)
      polynomial[k] -= kPoints[i] * polynomial[k + 1];
  }
  return polynomial;
}

/// Returns a left inverse of the transform of taps, which reads as many elements as there are taps:
/// the first ones, and that of infinity.
static SmallVector<double> leftInverse(llvm::ArrayRef<double> ofTaps, int64_t taps, int64_t size) {
  // Gauss and Jordan's elimination of (S | I), where S has the rows that are read. Its leading
  // minors are those of Vandermonde's matrix, which are not 0.
  int64_t width = 2 * taps;
  SmallVector<double> both(taps * width);
  auto element = [&](int64_t row) { return row < taps - 1 ? row : size - 1; };
  for (int64_t i = 0; i < taps; ++i) {
    llvm::copy(ofTaps.slice(element(i) * taps, taps), both.begin() + i * width);
    both[i * width + taps + i] = 1;
  }
  for (int64_t pivot = 0; pivot < taps; ++pivot) {
    double divisor = both[pivot * width + pivot];
    for (int64_t k = 0; k < width; ++k)
      both[pivot * width + k] /= divisor;
    for (int64_t i = 0; i < taps; ++i)
      if (double factor = both[i * width + pivot]; i != pivot && factor != 0)
        for (int64_t k = 0; k < width; ++k)
          both[i * width + k] -= factor * both[pivot * width + k];
  }
  SmallVector<double> inverse(taps * size);
  for (int64_t i = 0; i < taps; ++i)
    for (int64_t k = 0; k < taps; ++k)
      inverse[i * size + element(k)] = both[i * width + taps + k];
  return inverse;
}

WinogradMatrices::WinogradMatrices(int64_t taps, int64_t results)
    : taps(taps), results(results), size(taps + results - 1) {
  assert(taps > 0 && results > 0 && size <= kMostSize);
  int64_t finite = size - 1;
  for (int64_t i = 0; i < size; ++i) {
    SmallVector<double> polynomial = productOfRoots(finite, i);
    polynomial.resize(size);
    llvm::append_range(ofElements, polynomial);
    double scale = 1;
    for (int64_t k = 0; i < finite && k < finite; ++k)
      scale *= k == i ? 1 : kPoints[i] - kPoints[k];
    for (int64_t k = 0; k < taps; ++k)
      ofTaps.push_back(i < finite ? std::pow(kPoints[i], k) / scale : k == taps - 1);
  }
  for (int64_t r = 0; r < results; ++r)
    for (int64_t i = 0; i < size; ++i)
      ofResults.push_back(i < finite ? std::pow(kPoints[i], r) : r == results - 1);
  toTaps = leftInverse(ofTaps, taps, size);
}

/// The most results of a tile along each of two axes, and its largest size there.
static constexpr int64_t kMostResultsOfTwo = 4, kMostSizeOfTwo = 8;

static SmallVector<int64_t> tileResults(const WinogradAxis &axis, bool isOfTwo) {
  if (axis.tileResults > 0)
    return {axis.tileResults};
  if (axis.taps == 1)
    return {1};
  int64_t most = WinogradMatrices::kMostSize + 1 - axis.taps;
  if (isOfTwo)
    most = std::min(kMostResultsOfTwo, kMostSizeOfTwo + 1 - axis.taps);
  SmallVector<int64_t> all;
  for (int64_t results = 2; results <= most; results += 2)
    all.push_back(results);
  return all;
}

SmallVector<SmallVector<int64_t, 2>> tfc::dfg::winogradTilings(llvm::ArrayRef<WinogradAxis> axes) {
  bool isOfTwo = llvm::count_if(axes, [](const WinogradAxis &axis) { return axis.taps > 1; }) > 1;
  SmallVector<SmallVector<int64_t, 2>> tilings(1);
  for (const WinogradAxis &axis : axes) {
    SmallVector<SmallVector<int64_t, 2>> longer;
    for (const SmallVector<int64_t, 2> &tiling : tilings)
      for (int64_t results : tileResults(axis, isOfTwo)) {
        longer.push_back(tiling);
        longer.back().push_back(results);
      }
    tilings = std::move(longer);
  }
  return tilings;
}
