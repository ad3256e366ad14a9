// Emits the multiplication of panels in shared memory, by the lanes of warps or by matrix units.
#pragma once

#include "compiler/gpu/ThreadGroup.h"
#include "compiler/gpu/Tiles.h"
#include "compiler/kernels/emit/IndexArithmetic.h"
#include "compiler/kernels/emit/KernelEmitter.h"

namespace tfc::gpu {

/// How the threads of a block multiply a step of both factors. A panel holds the elements of one:
/// those of the tile across the sum, for each of the step's positions along it.
class TileMultiplier : protected kernels::IndexArithmetic {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  /// The multiplier for a product: matrix units if it has a type for them.
  static std::unique_ptr<TileMultiplier> create(kernels::KernelEmitter &emitter,
                                                const TiledProduct &product, ThreadGroup &group);
  virtual ~TileMultiplier() = default;

  /// The memory of a panel of factor a or b, a multiple of 16.
  virtual int64_t panelBytes(bool isA) const = 0;
  /// The extents, in pieces, of what a warp brings at once: along the direction in which elements
  /// are neighbours in memory, of which there are `fastPieces`, and across it. Their places in a
  /// panel are in different banks.
  virtual std::pair<int64_t, int64_t> warpExtents(bool isA, int64_t fastPieces) const;
  /// The position of an element in a panel, both of type index.
  virtual mlir::Value positionInPanel(bool isA, mlir::Value across, mlir::Value along) = 0;
  /// Returns true if the elements of a piece are neighbours in a panel.
  virtual bool keepsPieces(bool isA) const { return true; }

  /// The sums of a thread.
  int64_t numSums() const { return product.tile.m * product.tile.n / kBlockThreads; }
  mlir::Type sumType() const { return product.form.computeType; }
  /// Adds the products of two panels to the sums of this thread.
  virtual void multiply(mlir::Value a, mlir::Value b, Values &sums) = 0;

  /// The rows and columns of the tile in which this thread has sums: all combinations of its own
  /// ones, whose places in the tile differ from thread to thread.
  virtual int64_t ownRows() const = 0;
  virtual int64_t ownColumns() const = 0;
  /// Own columns of which this many, from a multiple of it on, are neighbours.
  virtual int64_t columnPiece() const = 0;
  virtual mlir::Value ownRow(int64_t number) = 0;
  virtual mlir::Value ownColumn(int64_t number) = 0;
  /// The place among the sums of this thread of that in an own row and column.
  virtual int64_t sumAt(int64_t row, int64_t column) const = 0;
  /// Neighbouring lanes that have sums of the same rows, and the warps that have.
  virtual int64_t lanesOfRow() const = 0;
  virtual int64_t warpsOfRow() const = 0;
  /// The number of this thread's warp among those.
  virtual mlir::Value warpOfRow() = 0;

  /// The number of slices in which the tile passes to the threads that store it, and their rows.
  virtual int64_t numSlices() const = 0;
  int64_t sliceRows() const { return product.tile.m / numSlices(); }
  /// The row of the tile that is a row of a slice.
  virtual mlir::Value rowInTile(mlir::Value slice, mlir::Value row) = 0;
  /// Stores the sums of this thread that are in a slice, in memory of its rows, `sumPitch` apart.
  void storeSums(mlir::Value memory, mlir::Value slice, llvm::ArrayRef<mlir::Value> sums);
  int64_t sumPitch() const { return product.tile.n + 8; }

protected:
  TileMultiplier(kernels::KernelEmitter &emitter, const TiledProduct &product)
      : IndexArithmetic(emitter), product(product) {}

  /// Stores the sums that are in a slice with a known number.
  virtual void storeSlice(mlir::Value memory, int64_t slice, llvm::ArrayRef<mlir::Value> sums) = 0;
  /// Stores neighbours in a row of a slice.
  void storeInRow(mlir::Value memory, mlir::Value row, mlir::Value column,
                  llvm::ArrayRef<mlir::Value> sums);

  const TiledProduct &product;
};

std::unique_ptr<TileMultiplier> createLaneMultiplier(kernels::KernelEmitter &emitter,
                                                     const TiledProduct &product,
                                                     ThreadGroup &group);
std::unique_ptr<TileMultiplier> createMatrixMultiplier(kernels::KernelEmitter &emitter,
                                                       const TiledProduct &product,
                                                       ThreadGroup &group);

/// The address of an element in memory of a block.
mlir::Value elementAt(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memory, mlir::Type type,
                      mlir::Value position);
/// Loads and stores neighbours there, at a position that is a multiple of their number.
llvm::SmallVector<mlir::Value> loadPiece(mlir::OpBuilder &b, mlir::Location loc,
                                         mlir::Value address, mlir::Type type, int64_t count);
void storePiece(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address,
                llvm::ArrayRef<mlir::Value> values);

} // namespace tfc::gpu
