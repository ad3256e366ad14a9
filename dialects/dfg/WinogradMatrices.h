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

#include "llvm/ADT/SmallVector.h"

namespace tfc::dfg {

/// The matrices of F(results, taps), row by row. An axis of one tap and one result has the matrices
/// (1).
struct WinogradMatrices {
  /// `size` is at most `kMostSize`.
  WinogradMatrices(int64_t taps, int64_t results);

  /// The largest size whose rounding errors in f32 are as small as those of smaller ones.
  static constexpr int64_t kMostSize = 10;

  /// The numbers of results of a tile that are worth a comparison, along the only axis with several
  /// taps or along one of two: there 6 x 6 were not measured to be faster than 4 x 4, and the
  /// errors of both axes multiply.
  static llvm::SmallVector<int64_t> tileResults(int64_t taps, bool isOfTwo);

  int64_t taps, results, size;
  llvm::SmallVector<double> ofElements; // B', size x size
  llvm::SmallVector<double> ofTaps;     // G, size x taps
  llvm::SmallVector<double> ofResults;  // A', results x size
  llvm::SmallVector<double> toTaps;     // a left inverse of G, taps x size
};

} // namespace tfc::dfg
