// Emits what a block of an attention kernel computes.
#pragma once

#include "compiler/gpu/TileEmitter.h"
#include "compiler/gpu/TiledAttention.h"

namespace tfc::gpu {

/// Emits the loop over the tiles of scores of some rows. A thread has the scores of its rows and
/// columns of a tile in registers, where everything between the products is computed; they pass to
/// the next product through shared memory. With a softmax, the sums of products are those of
/// exp(x - m) for the largest score m so far: they are scaled when m grows, and divided by the sum
/// of the exponentials in the end.
class AttentionEmitter : kernels::IndexArithmetic {
public:
  AttentionEmitter(kernels::KernelEmitter &emitter, const TiledAttention &tiled,
                   ThreadGroup &group);

  /// Emits the work at a point of the grid.
  void emit(llvm::ArrayRef<mlir::AffineExpr> point);

private:
  using Values = llvm::SmallVector<mlir::Value>;
  using Indices = llvm::SmallVector<mlir::AffineExpr>;

  /// The values that a thread keeps from tile to tile.
  struct State {
    std::vector<Values> sums; // of each product with the scores
    std::vector<Values> rows; // of each reduction, for each own row
  };
  /// The own columns of a tile, and whether the scores have them.
  struct Columns {
    Indices indices;
    Values areInside;
  };

  TileMultiplier &layout() { return scoreTiles.front()->getMultiplier(); }
  void placeProducts(llvm::ArrayRef<mlir::AffineExpr> point);
  int64_t scoreBytes() const;
  int64_t chunkOf(size_t product) const;
  void placeMemory();
  Values flatten(const State &state) const;
  State unflatten(Values values) const;
  mlir::Value neutral(size_t op);
  State initialState();

  Indices inBatchOf(const kernels::AttentionProduct &product) const;
  Indices pointOf(llvm::ArrayRef<std::optional<unsigned>> loopOf, unsigned numLoops,
                  llvm::ArrayRef<mlir::AffineExpr> score);
  Indices scoreAt(int64_t row, const Columns &columns, int64_t column);
  Indices rowIndices(size_t op, int64_t row);

  State addTile(kernels::LoopDim tile, State state);
  void bindScores(const std::vector<Values> &sums, const Columns &columns);
  Values reduce(size_t op, const Columns &columns, Values accumulators);
  Values combineRows(size_t op, const Values &values);
  mlir::Value scaled(mlir::Value sum, mlir::Value scale);
  Values updateSoftmax(const Columns &columns, State &state);
  std::vector<Values> factors(const Columns &columns);
  void bringPanels(size_t product, mlir::Value term, int64_t first, int64_t count);
  void storeFactor(size_t product, const Values &values);
  void multiply(size_t product, int64_t first, int64_t count, Values &sums);
  void storeRowValues(const Values &values);
  void forSums(size_t product, Values &sums,
               llvm::function_ref<mlir::Value(mlir::Value sum, mlir::Value ofRow)> change);
  void storeRows(size_t op, const Values &values, mlir::AffineExpr columnTile);

  kernels::KernelEmitter &e;
  const TiledAttention &tiled;
  const kernels::AttentionForm &attention;
  ThreadGroup &group;
  std::vector<kernels::ContractionNest> scoreNests;
  std::vector<std::unique_ptr<TileEmitter>> scoreTiles, resultTiles;
  Indices inBatch, rows; // rows: the indices of own rows
  mlir::AffineExpr rowTile;
  Values areRowsInside;
  mlir::Value isLeader; // of the threads that have the same rows
  /// Shared memory: the panels of scores as a factor, stages of other factors, values of rows.
  mlir::Value scoreMemory, stageMemory, rowMemory, exchange;
};

} // namespace tfc::gpu
