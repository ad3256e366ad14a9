// Emits the tiles of a sum of products.
#pragma once

#include "compiler/gpu/PanelLoader.h"
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

/// The shared memory that a function may declare.
inline constexpr int64_t kMostSharedBytes = 48 << 10;

/// Emits the sum of the parts of an element, and what is computed from it.
void emitPartSum(kernels::KernelEmitter &emitter, const kernels::ContractionNest &nest,
                 const TiledProduct &product, PartSums &parts,
                 llvm::ArrayRef<mlir::AffineExpr> element);

/// Emits what a thread does for a tile, the threads of whose block are a group. Steps of both
/// factors go to shared memory, some ahead of the one that the threads multiply; the sums go
/// through shared memory to the threads that compute and store the results.
class TileEmitter : kernels::IndexArithmetic {
public:
  /// Sums in parts go to `parts`.
  TileEmitter(kernels::KernelEmitter &emitter, const kernels::ContractionNest &nest,
              const TiledProduct &product, ThreadGroup &group, PartSums parts);

  /// Emits the tile at a point of the grid.
  void emit(llvm::ArrayRef<mlir::AffineExpr> point);

  // The parts of `emit`, for kernels with several products.

  using Values = llvm::SmallVector<mlir::Value>;

  /// Chooses the tile, given the indices of the batch and the numbers along m and n.
  void place(llvm::ArrayRef<mlir::AffineExpr> inBatch, mlir::AffineExpr mTile,
             mlir::AffineExpr nTile);
  /// Gives the emitter shared memory for `stages` steps of both factors, or for sums.
  void setMemory(mlir::Value address, int64_t stages);
  int64_t stageBytes() const { return panelBytes(); }
  /// Returns this thread's sums of the products of the terms. No thread may use the memory.
  Values sumUp(mlir::Value from, mlir::Value to);
  /// Computes and stores the results from the sums. Threads may still read the memory, which has
  /// room for a slice of them.
  void store(const Values &sums);
  int64_t sliceBytes() const;
  TileMultiplier &getMultiplier() { return *multiplier; }
  /// The loader of a factor.
  PanelLoader &loaderOf(bool isA) { return isA ? *a : *bLoader; }

private:
  int64_t panelBytes() const {
    return multiplier->panelBytes(true) + multiplier->panelBytes(false);
  }
  bool anyCopies() const { return a->copies() || bLoader->copies(); }
  mlir::Value panelAt(bool isA, mlir::Value stage);
  mlir::Value nextStage(mlir::Value stage);
  void fillFirstStages(mlir::Value from, mlir::Value to);
  void storeSlice(mlir::Value slice);
  void storeElements(mlir::Value row, mlir::Value column, mlir::Value rowInSlice);

  kernels::KernelEmitter &e;
  const kernels::ContractionNest &nest;
  const TiledProduct &product;
  ThreadGroup &group;
  PartSums parts;
  mlir::AffineExpr part; // null if there is one
  std::unique_ptr<TileMultiplier> multiplier;
  mlir::Type type; // in which products are accumulated
  llvm::SmallVector<mlir::AffineExpr> inBatch;
  std::optional<PanelLoader> a, bLoader;
  mlir::Value memory;
  int64_t numStages = 0;
};

} // namespace tfc::gpu
