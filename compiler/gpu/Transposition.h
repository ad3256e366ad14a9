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

  unsigned readLoop, storeLoop;
  int64_t tile;
  llvm::SmallVector<Read> reads; // of different elements

  /// The distance of rows of a square in shared memory, in elements. Neighbours in a column are in
  /// different banks, of 4 bytes.
  int64_t pitch(int64_t elementBytes) const {
    return tile + std::max<int64_t>(1, 4 / elementBytes);
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
