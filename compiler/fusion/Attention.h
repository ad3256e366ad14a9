// Finds the attention of a block, and arranges that no kernel stores its scores.
#pragma once

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"

namespace tfc::fusion {

/// The operations that attention kernels compute, each with the number of its kernel.
using AttentionKernels = llvm::DenseMap<mlir::Operation *, unsigned>;

/// Returns true for a maximum or sum of rows that keeps their axis.
bool isOfRows(mlir::Operation *op);

/// Attention is a product whose factor is a softmax of another product, the scores. Its kernel
/// computes the scores block by block, with a running maximum and sum of their rows, and returns
/// these with the result. The products of its gradient become kernels that compute the scores
/// again from the maximum and the sum (Dao et al., "FlashAttention", 2022): their operations are
/// copied. Attention whose scores something else reads, or whose scores are few, stays as it is.
void formAttention(mlir::Block &block, AttentionKernels &kernels);

} // namespace tfc::fusion
