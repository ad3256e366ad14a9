//===- LinearCode.h - Constant matrices as straight-line code -------------===//
//
// A product of a small constant matrix with a vector of values, as code without multiplications by
// 0 and 1. Terms whose factors differ in signs only, as those of the points x and -x in Winograd's
// algorithm, are summed once: pairs of columns before all rows, and in pairs of rows the terms of
// either sign.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "compiler/cpu/Target.h"
#include "mlir/IR/Builders.h"

namespace tfc::cpu {

class LinearCode {
public:
  /// Compiles a matrix with rows of `columns` elements.
  LinearCode(llvm::ArrayRef<double> matrix, int64_t columns);

  /// The number of instructions, where a multiplication and an addition are one.
  int64_t operations() const { return int64_t(steps.size()); }

  /// Emits the rows of the product with `terms`, vectors of floats.
  llvm::SmallVector<mlir::Value> emit(mlir::OpBuilder &b, mlir::Location loc, const Target &target,
                                      llvm::ArrayRef<mlir::Value> terms) const;

private:
  /// A term, or the result of a step, by number; the terms are first.
  using Number = int;
  static constexpr Number kZero = -1;
  /// Computes factor * x + y, or factor * x without y.
  struct Step {
    double factor;
    Number x, y;
  };
  struct Product {
    double factor;
    Number value;
  };
  using Products = llvm::SmallVector<Product>;

  void pairColumns(llvm::MutableArrayRef<Products> rows);
  Number add(double factor, Number x, Number y);
  Product sum(llvm::ArrayRef<Product> products);
  Number scaled(Product product);
  void addPair(llvm::ArrayRef<Product> equal, llvm::ArrayRef<Product> opposite, size_t row,
               size_t other);

  int64_t columns;
  llvm::SmallVector<Step> steps;
  llvm::SmallVector<Number> results;
};

} // namespace tfc::cpu
