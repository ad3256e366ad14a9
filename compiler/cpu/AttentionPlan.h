// How a CPU computes an attention kernel: by blocks of scores that stay in the second-level cache.
#pragma once

#include "compiler/cpu/ContractionTiles.h"
#include "compiler/kernels/AttentionForm.h"

namespace tfc::cpu {

/// A unit computes a block of rows, or all rows if products sum along them, block by block along
/// the terms. All operands of a block are copied to the stack, so that the products run at the
/// speed of the cache, whatever the layout in memory.
struct AttentionPlan {
  /// `form` outlives this.
  const AttentionForm *form = nullptr;
  int64_t lanes = 1;
  /// Rows, and terms, of a block: a multiple of the lanes.
  int64_t block = 1;
  /// The register tile of each product; its vectors divide those of the columns.
  std::vector<RegisterTile> scores, results;
  /// Number of units, over the kernel's size symbols, and the operations of one.
  mlir::AffineExpr units;
  int64_t unitOperations = 1;

  AttentionPlan(const Target &target, const AttentionForm &form);

  mlir::Type type() const { return form->scores.front().form.computeType; }
  /// The elements between the rows of a copy of so many columns. They are an odd number of vectors,
  /// which spreads them over the sets of a cache.
  int64_t strideOf(int64_t columns) const;
  /// The vectors of so many columns.
  int64_t vectorsOf(int64_t columns) const { return (columns + lanes - 1) / lanes; }
};

/// The number of terms of a product that makes scores, or of columns of one that reads them.
int64_t othersOf(const AttentionProduct &product);

/// Returns true if there is code for an attention kernel.
bool takesAttention(const AttentionForm &form);

} // namespace tfc::cpu
