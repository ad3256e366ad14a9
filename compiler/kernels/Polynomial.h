// The normal form in which addresses and sizes of kernels are compared.
#pragma once

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"

namespace tfc::kernels {

/// A sum of products of atoms: the normal form in which addresses and sizes are compared.
///
/// Atoms are dimensions, symbols, and floordiv, ceildiv and mod expressions. Unlike MLIR's
/// simplification, this form also handles products of symbols and dimensions.
class Polynomial {
public:
  struct Term {
    llvm::SmallVector<mlir::AffineExpr, 2> atoms;
    int64_t coefficient;
  };

  explicit Polynomial(mlir::AffineExpr expr);

  llvm::ArrayRef<Term> terms() const { return sum; }
  bool isZero() const { return sum.empty(); }
  mlir::AffineExpr toExpr() const;

  /// Splits the polynomial into `coefficient * dim + rest`. Returns false if `dim` occurs with a
  /// higher power or inside a floordiv, ceildiv or mod.
  bool split(mlir::AffineDimExpr dim, mlir::AffineExpr &coefficient, mlir::AffineExpr &rest) const;

private:
  Polynomial(mlir::MLIRContext *context) : context(context) {}
  void add(Term term);
  void subtract(Term term);
  bool contains(const Term &term) const;
  void addProduct(const Polynomial &lhs, const Polynomial &rhs);
  void mergeDivisions();

  mlir::MLIRContext *context;
  llvm::SmallVector<Term> sum;
};

/// Returns `expr` in normal form; expressions that are equal as polynomials become identical.
mlir::AffineExpr normalize(mlir::AffineExpr expr);

/// Returns true if `dim` occurs anywhere in `expr`.
bool usesDim(mlir::AffineExpr expr, mlir::AffineDimExpr dim);

} // namespace tfc::kernels
