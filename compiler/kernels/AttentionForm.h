// Recognizes kernels whose products multiply scores: values computed from other products.
#pragma once

#include "compiler/kernels/ContractionForm.h"

namespace tfc::kernels {

/// A product of an attention kernel, with its loops in terms of the dimensions of the scores.
/// Factor a belongs to the rows of the scores: it is the scores themselves where the product reads
/// them.
struct AttentionProduct {
  mlir::linalg::GenericOp op;
  ContractionForm form;
  /// The loop over each dimension of the scores; none where that has one element.
  llvm::SmallVector<std::optional<unsigned>> loopOf;
  /// The loops that the scores do not have: along which a product that makes them sums, or the
  /// columns of one that reads them.
  llvm::SmallVector<unsigned> others;
  /// True if a product that reads the scores sums along their rows in place of the terms.
  bool sumsRows = false;

  /// The loops over some dimensions of the scores.
  llvm::SmallVector<unsigned> loops(llvm::ArrayRef<unsigned> dims) const;
};

/// A kernel that computes the scores, which it does not store, sums or maxima of their rows, and
/// products with them as a factor. Each dimension of the scores is of the batch, of the rows, or of
/// the terms, along which they are summed.
struct AttentionForm {
  llvm::SmallVector<mlir::AffineExpr> sizes;
  llvm::SmallVector<unsigned> batch, rows, terms;
  /// Products from which the scores are computed.
  std::vector<AttentionProduct> scores;
  /// Products that read the scores, each with the operations on its result.
  std::vector<AttentionProduct> results;
  std::vector<ContractionNest> nests;
  /// Reductions of rows, with the loop over each dimension of the scores. If `isSoftmax`, they are
  /// a maximum and the sum of exponentials of differences from it. Otherwise none reads another.
  llvm::SmallVector<mlir::linalg::GenericOp> rowOps;
  std::vector<llvm::SmallVector<std::optional<unsigned>>> rowLoops;
  bool isSoftmax = false;
  /// If the scores of a row count only for the terms before one, the number of that less that of
  /// the row, at least 1: all of causal attention have 1. None if all count.
  std::optional<int64_t> endOfTerms;

  /// Returns true if some products sum along rows, and all of these are needed at once.
  bool sumsRows() const {
    return llvm::any_of(results, [](const AttentionProduct &product) { return product.sumsRows; });
  }
  mlir::AffineExpr extentOf(llvm::ArrayRef<unsigned> dims) const;
};

/// Recognizes the form if the products divide by the sum of a softmax once, so that the division
/// can wait for the end of the rows.
std::optional<AttentionForm> matchAttention(KernelShapes &shapes);

/// Finds the end of the terms of a form that is complete otherwise.
std::optional<int64_t> findEndOfTerms(const AttentionForm &form);

} // namespace tfc::kernels
