// Recognizes generics that are sums of products, for schedules and for emitters of products.
#pragma once

#include "compiler/kernels/KernelShapes.h"
#include <optional>

namespace tfc::kernels {

/// One factor of the products that a contraction sums, as the body computes it from its inputs.
struct ContractionFactor {
  /// The multiplied value in the body.
  mlir::Value root;
  /// The inputs of the generic that `root` depends on.
  llvm::SmallVector<unsigned, 2> inputs;
};

/// A contraction in the form `out[outer, m, n] += a(outer, m, k) * b(outer, k, n)`.
///
/// `n` is the loop over the innermost dimension of the output, and `a` is the factor that does not
/// depend on it. The loops of `m` and those of `k` are merged into one counter each. Loops that
/// cannot be merged surround them: parallel loops that only `a` depends on are in `mOuter`,
/// reduction loops in `kOuter`.
struct ContractionForm {
  ContractionFactor a, b;
  /// Element type of the factors, and the type in which products are accumulated.
  mlir::Type factorType, computeType;
  llvm::SmallVector<unsigned> outer, mOuter, m, kOuter, k;
  unsigned n = 0;
  llvm::SmallVector<mlir::AffineExpr> loopSizes;

  /// Returns true if the elements of a factor's input are converted before the multiplication.
  bool converts(const ContractionFactor &factor) const {
    return !llvm::isa<mlir::BlockArgument>(factor.root) || factorType != computeType;
  }

  mlir::AffineExpr mSize() const { return extentOf(m); }
  mlir::AffineExpr nSize() const { return loopSizes[n]; }
  mlir::AffineExpr kSize() const { return extentOf(k); }
  mlir::AffineExpr mOuterSize() const { return extentOf(mOuter); }
  mlir::AffineExpr kOuterSize() const { return extentOf(kOuter); }
  mlir::AffineExpr outerSize() const { return extentOf(outer); }
  /// The number of points of some loops.
  mlir::AffineExpr extentOf(llvm::ArrayRef<unsigned> loops) const;

  /// Returns the indices of all loops at a point given by the merged counters. `fixed` has an entry
  /// for every loop and is used for the loops that are not merged; a null entry means 0.
  llvm::SmallVector<mlir::AffineExpr> point(llvm::ArrayRef<mlir::AffineExpr> fixed,
                                            mlir::AffineExpr mIndex, mlir::AffineExpr nIndex,
                                            mlir::AffineExpr kIndex) const;
  /// Sets the indices of loops that are counted as one, the outermost first, from their counter.
  void split(llvm::ArrayRef<unsigned> loops, mlir::AffineExpr counter,
             llvm::MutableArrayRef<mlir::AffineExpr> indices) const;
};

/// Sets the indices of loops or dimensions that are counted as one, the outermost first, from their
/// counter; `sizes` has the extents of all.
void splitCounter(llvm::ArrayRef<mlir::AffineExpr> sizes, llvm::ArrayRef<unsigned> loops,
                  mlir::AffineExpr counter, llvm::MutableArrayRef<mlir::AffineExpr> indices);

/// Returns the loops that the inputs of a factor depend on.
llvm::BitVector loopsOf(mlir::linalg::GenericOp op, const ContractionFactor &factor);

/// Recognizes a sum of products whose output has a loop for lanes; returns std::nullopt for other
/// generics.
std::optional<ContractionForm> matchContraction(mlir::linalg::GenericOp op, KernelShapes &shapes);

/// A matrix product (a generic that multiplies two operands and sums over its reduction loops) with
/// the parallel generics that are fused into it.
struct ContractionNest {
  mlir::linalg::GenericOp op;
  /// Generics whose results are stored; each reads the product only at the point that it computes.
  llvm::SmallVector<mlir::linalg::GenericOp> epilogues;
  /// For each loop of each epilogue, the index into the product's tensor that it corresponds to.
  llvm::SmallVector<llvm::SmallVector<unsigned>> epilogueLoops;
  /// True if the product itself is stored, too.
  bool storesProduct = true;
};

/// The address of element (across, k) of a factor is base + across index * across + k index * k, in
/// elements. `across` belongs to m for factor a and to n for factor b. Each loop of kOuter adds its
/// index times its stride.
struct LinearAccess {
  mlir::AffineExpr base, across, k;
  llvm::SmallVector<mlir::AffineExpr> kOuter;
};

/// Returns how a factor accesses its input with the given strides, or std::nullopt if addresses are
/// not linear in the counters. `base` depends only on the `fixed` indices of outer and mOuter.
std::optional<LinearAccess> linearAccess(mlir::linalg::GenericOp op, const ContractionForm &form,
                                         bool isA, llvm::ArrayRef<mlir::AffineExpr> strides,
                                         llvm::ArrayRef<mlir::AffineExpr> fixed);

/// The same for a dense row-major tensor.
std::optional<LinearAccess> denseAccess(KernelShapes &shapes, mlir::linalg::GenericOp op,
                                        const ContractionForm &form, bool isA);

/// Returns the value of a constant expression, or std::nullopt if `expr` is not constant.
std::optional<int64_t> constantOf(mlir::AffineExpr expr);

} // namespace tfc::kernels
