#pragma once

#include "compiler/kernels/KernelShapes.h"
#include <optional>

namespace tfc::kernels {

/// One factor of the product that a contraction adds up, as the body computes it from its inputs.
struct ContractionFactor {
  /// The value in the body that is multiplied.
  mlir::Value root;
  /// The inputs of the generic that `root` depends on.
  llvm::SmallVector<unsigned, 2> inputs;
};

/// A contraction seen as `out[outer, m, n] += a(outer, m, k) * b(outer, k, n)`.
///
/// `n` is the loop that runs along the innermost dimension of the output, and factor `a` is the one
/// that does not depend on it. The loops of `m` and `k` are merged into one counter each; those
/// that cannot be stand around it: loops of a alone in `mOuter`, loops of the sum in `kOuter`.
struct ContractionForm {
  ContractionFactor a, b;
  /// Element type of the factors, and the type in which products are added up.
  mlir::Type factorType, computeType;
  llvm::SmallVector<unsigned> outer, mOuter, m, kOuter, k;
  unsigned n = 0;
  llvm::SmallVector<mlir::AffineExpr> loopSizes;

  /// Whether the elements of a factor's input are not what is multiplied.
  bool converts(const ContractionFactor &factor) const {
    return !llvm::isa<mlir::BlockArgument>(factor.root) || factorType != computeType;
  }

  mlir::AffineExpr mSize() const { return product(m); }
  mlir::AffineExpr nSize() const { return loopSizes[n]; }
  mlir::AffineExpr kSize() const { return product(k); }
  mlir::AffineExpr mOuterSize() const { return product(mOuter); }
  mlir::AffineExpr kOuterSize() const { return product(kOuter); }
  mlir::AffineExpr outerSize() const { return product(outer); }

  /// The indices of all loops at a point given by merged counters and, for the other loops, `fixed`
  /// (null: 0), which has a place for every loop.
  llvm::SmallVector<mlir::AffineExpr> point(llvm::ArrayRef<mlir::AffineExpr> fixed,
                                            mlir::AffineExpr mIndex, mlir::AffineExpr nIndex,
                                            mlir::AffineExpr kIndex) const;

private:
  mlir::AffineExpr product(llvm::ArrayRef<unsigned> loops) const;
};

/// Recognises a sum of products with a vectorisable output; nothing for all other generics.
std::optional<ContractionForm> matchContraction(mlir::linalg::GenericOp op, KernelShapes &shapes);

/// A matrix product (a generic that multiplies two operands and adds up along its reduction loops)
/// with the parallel generics that ride along.
struct ContractionNest {
  mlir::linalg::GenericOp op;
  /// Generics whose results are stored; each reads the product at its own point only.
  llvm::SmallVector<mlir::linalg::GenericOp> epilogues;
  /// For each epilogue, the index of the product's tensor that each of its loops is.
  llvm::SmallVector<llvm::SmallVector<unsigned>> epilogueLoops;
  /// Whether the product itself is stored as well.
  bool storesProduct = true;
};

/// Element (across, k) of a factor is at base + across * stride + k * stride, in elements; `across`
/// runs along m for factor a and along n for factor b. Each loop of kOuter adds its index times its
/// stride.
struct LinearAccess {
  mlir::AffineExpr base, across, k;
  llvm::SmallVector<mlir::AffineExpr> kOuter;
};

/// How a factor reads its input of the given strides, or nothing where addresses are not linear in
/// the counters. `base` depends on the `fixed` indices of outer and mOuter alone.
std::optional<LinearAccess> linearAccess(mlir::linalg::GenericOp op, const ContractionForm &form,
                                         bool isA, llvm::ArrayRef<mlir::AffineExpr> strides,
                                         llvm::ArrayRef<mlir::AffineExpr> fixed);

/// The same for a tensor that lies in memory row by row.
std::optional<LinearAccess> denseAccess(KernelShapes &shapes, mlir::linalg::GenericOp op,
                                        const ContractionForm &form, bool isA);

/// The value of a constant expression.
std::optional<int64_t> constantOf(mlir::AffineExpr expr);

} // namespace tfc::kernels
