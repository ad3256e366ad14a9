//===- TileTransform.h - Products with small constants --------------------===//
//
// Sums of products with a constant that is small enough to become code, as the transforms of tiles
// in Winograd's algorithm: each lane reads all terms, and computes all sums without the products
// with 0 and 1.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "compiler/cpu/Contraction.h"

namespace tfc::cpu {

/// A contraction whose constant factor is a product of one or two small matrices: the result at (r,
/// s, x) is the sum over (a, b) of first(r, a) * second(s, b) * operand(a, b, x).
struct TileTransform {
  /// A matrix, row by row, with the loops of its rows and of its columns.
  struct Matrix {
    unsigned rowLoop, columnLoop;
    int64_t rows, columns;
    llvm::SmallVector<float> elements;

    float at(int64_t row, int64_t column) const { return elements[row * columns + column]; }
  };

  llvm::SmallVector<Matrix, 2> matrices;
  /// The number of the other factor's input.
  unsigned operand;
  /// The loops that are in no matrix, without that of the lanes.
  llvm::SmallVector<unsigned> points;

  int64_t terms() const;
  int64_t results() const;
};

/// Recognises a transform.
std::optional<TileTransform> matchTransform(mlir::linalg::GenericOp op,
                                            const ContractionForm &form);

/// Emits units [begin, end), which are points of a transform.
void emitTransform(KernelEmitter &emitter, const Target &target, const ContractionNest &nest,
                   const ContractionPlan &plan, const ContractionForm &form, mlir::Value begin,
                   mlir::Value end);

} // namespace tfc::cpu
