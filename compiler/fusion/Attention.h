// Finds the attention of a block, and arranges that no kernel stores its scores.
#pragma once

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"
#include <limits>

namespace tfc::fusion {

/// The operations that attention kernels compute, each with the number of its kernel.
using AttentionKernels = llvm::DenseMap<mlir::Operation *, unsigned>;

/// Returns true for a maximum or sum of rows that keeps their axis.
bool isOfRows(mlir::Operation *op);

/// Which attention a target computes in kernels of its own.
struct AttentionLimits {
  /// Fewer scores are stored: memory takes them faster than they are computed again.
  int64_t leastScores = 1 << 20;
  /// The same if there is a gradient, or a mask that follows from positions, which excludes some.
  int64_t leastOfMany = 1 << 20;
  /// The same for the scores of one matrix, if its size is known.
  int64_t leastOfMatrix = 0;
  /// A kernel computes so many products with scores, of at most so many columns together.
  size_t mostProducts = 2;
  int64_t mostColumns = 128;
  /// The most terms of the sums that are scores; those of more, or of unknown numbers, are stored.
  int64_t mostDepth = std::numeric_limits<int64_t>::max();
  /// True if f64 is a type for scores.
  bool takesDouble = false;
  /// True if one kernel computes the products of a gradient that sum along rows and those that sum
  /// along columns.
  bool joinsGradients = false;
  /// True if masks that follow from positions are computed in each kernel that reads them.
  bool repeatsMasks = false;

  static AttentionLimits ofGpu() { return {}; }
  static AttentionLimits ofCpu();
};

/// Attention is a product whose factor is a softmax of another product, the scores. Its kernel
/// computes the scores block by block, with a running maximum and sum of their rows, and returns
/// these with the result. The products of its gradient become kernels that compute the scores
/// again from the maximum and the sum (Dao et al., "FlashAttention", 2022): their operations are
/// copied. Attention whose scores something else reads, or whose scores are few, stays as it is.
void formAttention(mlir::Block &block, const AttentionLimits &limits, AttentionKernels &kernels);

} // namespace tfc::fusion
