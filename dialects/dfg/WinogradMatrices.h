//===- WinogradMatrices.h - Convolutions with fewer multiplications -------===//
//
// Winograd's algorithm F(results, taps) along one axis, as the construction of Toom and Cook: with
// d, `size` elements of an image, w, the taps, and y, the results, it is y = A' ((G w) * (B' d)),
// where ' is a transpose and * multiplies element by element, so `size` multiplications take the
// place of results * taps (Lavin and Gray, "Fast algorithms for convolutional neural networks",
// 2016). Along two axes, the matrices are multiplied from both sides.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

namespace tfc::dfg {

/// The matrices of F(results, taps), row by row. An axis of one tap and one result has the matrices
/// (1).
struct WinogradMatrices {
  /// `size` is at most `kMostSize`.
  WinogradMatrices(int64_t taps, int64_t results);

  /// The largest size whose rounding errors in f32 are as small as those of smaller ones.
  static constexpr int64_t kMostSize = 10;

  int64_t taps, results, size;
  llvm::SmallVector<double> ofElements; // B', size x size
  llvm::SmallVector<double> ofTaps;     // G, size x taps
  llvm::SmallVector<double> ofResults;  // A', results x size
  llvm::SmallVector<double> toTaps;     // a left inverse of G, taps x size
};

/// An axis along which the windows of a convolution move by steps of 1.
struct WinogradAxis {
  int64_t results = 1, taps = 1;
  /// The results of a tile; 0 if tiles are not chosen yet.
  int64_t tileResults = 1;

  int64_t tileSize() const { return taps + tileResults - 1; }
  int64_t tiles() const { return llvm::divideCeil(results, tileResults); }
  WinogradMatrices matrices() const { return {taps, tileResults}; }
};

/// Returns the results of a tile along each axis that are worth a comparison, where they are not
/// chosen yet. Along two axes 6 x 6 were not measured to be faster than 4 x 4, and the errors of
/// both multiply.
llvm::SmallVector<llvm::SmallVector<int64_t, 2>> winogradTilings(llvm::ArrayRef<WinogradAxis> axes);

} // namespace tfc::dfg
