// Emits the tiles of a sum of products.
#pragma once

#include "compiler/gpu/TileMultiplier.h"
#include "compiler/kernels/emit/ProductEmitter.h"

namespace tfc::gpu {

/// Memory of a kernel for the parts of a sum of products, by part and element.
class PartSums {
public:
  PartSums(kernels::KernelEmitter &emitter, const TiledProduct &product, mlir::Value memory)
      : e(emitter), product(product), memory(memory) {}

  /// The address of an element of a part; the indices are those of the batch, m and n.
  mlir::Value at(mlir::AffineExpr part, llvm::ArrayRef<mlir::AffineExpr> element);

private:
  kernels::KernelEmitter &e;
  const TiledProduct &product;
  mlir::Value memory;
};

/// Emits the sum of the parts of an element, and what is computed from it.
void emitPartSum(kernels::KernelEmitter &emitter, const kernels::ContractionNest &nest,
                 const TiledProduct &product, PartSums &parts,
                 llvm::ArrayRef<mlir::AffineExpr> element);

/// Emits what a thread does for a tile, the threads of whose block are a group. Steps of both
/// factors go to shared memory, from where each thread multiplies rows by columns in registers; the
/// sums go through shared memory to the threads that compute and store the results.
class TileEmitter : kernels::IndexArithmetic {
public:
  /// Sums in parts go to `parts`.
  TileEmitter(kernels::KernelEmitter &emitter, const kernels::ContractionNest &nest,
              const TiledProduct &product, ThreadGroup &group, PartSums parts);

  /// Emits the tile at a point of the grid.
  void emit(llvm::ArrayRef<mlir::AffineExpr> point);

private:
  using Values = llvm::SmallVector<mlir::Value>;

  /// A factor's part of a step, in shared memory.
  struct Panel {
    bool isA = false, isAlongK = false;
    mlir::Value memory;
    /// The first index across, and the last valid one of the whole factor.
    mlir::Value first, last;
  };

  Panel makePanel(bool isA, mlir::AffineExpr tile, mlir::Value memory);
  Values load(const Panel &panel, mlir::Value k0);
  void store(const Panel &panel, const Values &values);
  void finish(const Values &sums);

  std::pair<mlir::Value, mlir::Value> placeOf(const Panel &panel, int64_t round);
  mlir::Value isLess(mlir::Value lhs, mlir::Value rhs);

  kernels::KernelEmitter &e;
  const kernels::ContractionNest &nest;
  const TiledProduct &product;
  ThreadGroup &group;
  PartSums parts;
  mlir::AffineExpr part; // null if there is one
  std::unique_ptr<TileMultiplier> multiplier;
  mlir::Type type; // in which products are accumulated
  llvm::SmallVector<mlir::AffineExpr> inBatch;
  mlir::Value mSize, nSize, kSize;
  mlir::Value memory;
  Panel a, bPanel;
};

} // namespace tfc::gpu
