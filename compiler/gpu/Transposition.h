// Tensors that a GPU reads along another loop than it writes.
#pragma once

#include "compiler/kernels/Schedule.h"

namespace tfc::gpu {

/// Reads of a sweep whose neighbours in memory are neighbours along `readLoop`, while those of the
/// results are neighbours along `storeLoop`. A block brings a square of `tile` points along both to
/// shared memory, in the order of the one, and computes it in the order of the other.
struct Transposition {
  struct Read {
    mlir::Value tensor;
    llvm::SmallVector<mlir::AffineExpr> indices; // over the loops of the nest
  };

  /// The lines of the narrowest tensor of a side.
  struct Lines {
    mlir::AffineExpr offset; // over the loops of the nest
    int64_t elementBytes = 0;
    /// The elements of a sector, if lines may begin within one and a warp accesses less than 128
    /// bytes at once, so that each access should begin at a sector; otherwise one.
    int64_t sector = 1;
  };

  unsigned readLoop, storeLoop;
  int64_t tile;
  llvm::SmallVector<Read> reads; // of different elements
  Lines readLines, storeLines;

  /// The points that threads visit for each line of a square: where lines begin within a sector,
  /// some of them are before the square or after it.
  int64_t pointsOf(const Lines &lines) const {
    return tile + (lines.sector > 1 ? lines.sector : 0);
  }
  /// The room for such points of reads on each side of a row in shared memory, in elements.
  int64_t margin() const { return pointsOf(readLines) - tile; }
  /// The distance of rows of a square in shared memory, in elements. Neighbours in a column are in
  /// different banks, of 4 bytes.
  int64_t pitch(int64_t elementBytes) const {
    return tile + 2 * margin() + std::max<int64_t>(1, 4 / elementBytes);
  }
  /// The shared memory for a read of such elements.
  int64_t bytes(int64_t elementBytes) const { return tile * pitch(elementBytes) * elementBytes; }
};

/// Returns the transposition of a sweep over the nest's `loops`, at whose points only elements are
/// computed; none if it reads as it writes, or only short lines along another loop.
std::optional<Transposition> findTransposition(kernels::KernelShapes &shapes,
                                               const kernels::Nest &nest,
                                               const kernels::LoopSweep &sweep,
                                               llvm::ArrayRef<unsigned> loops);

} // namespace tfc::gpu
