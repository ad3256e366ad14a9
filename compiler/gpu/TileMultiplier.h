// Emits the multiplication of panels in shared memory, by the lanes of warps or by matrix units.
#pragma once

#include "compiler/gpu/ThreadGroup.h"
#include "compiler/gpu/Tiles.h"
#include "compiler/kernels/emit/IndexArithmetic.h"
#include "compiler/kernels/emit/KernelEmitter.h"

namespace tfc::gpu {

/// How the threads of a block multiply a step of both factors. A panel holds the elements of one:
/// `kTile` of them across for each of `kTileDepth` positions along the sum.
class TileMultiplier : protected kernels::IndexArithmetic {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  /// The multiplier for a product: matrix units if it has a type for them.
  static std::unique_ptr<TileMultiplier> create(kernels::KernelEmitter &emitter,
                                                const TiledProduct &product, ThreadGroup &group);
  virtual ~TileMultiplier() = default;

  /// The type of elements in panels, and the number of them for which a panel has memory.
  virtual mlir::Type elementType() const = 0;
  virtual int64_t panelElements() const = 0;
  /// The extents of the elements that a warp loads at once, along the direction in which they are
  /// neighbours in memory and across it: their places in a panel are in different banks.
  virtual std::pair<int64_t, int64_t> warpExtents(bool isAlongK) const = 0;
  /// Returns a factor as an element of a panel.
  virtual mlir::Value toElement(mlir::Value factor);
  /// The position of an element in a panel, both of type index.
  virtual mlir::Value positionInPanel(mlir::Value across, mlir::Value along) = 0;
  /// Adds the products of two panels to the sums of this thread.
  virtual Values multiply(mlir::Value a, mlir::Value b, Values sums) = 0;
  /// Stores the sums of this thread in memory of the tile, whose rows are `kSumPitch` apart.
  virtual void storeSums(mlir::Value memory, llvm::ArrayRef<mlir::Value> sums) = 0;

protected:
  TileMultiplier(kernels::KernelEmitter &emitter, const TiledProduct &product)
      : IndexArithmetic(emitter), form(product.form) {}

  /// Stores neighbours in a row of the tile.
  void storeInRow(mlir::Value memory, mlir::Value row, mlir::Value column,
                  llvm::ArrayRef<mlir::Value> sums);

  const kernels::ContractionForm &form;
};

/// The address of an element in memory of a block.
mlir::Value elementAt(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memory, mlir::Type type,
                      mlir::Value position);

/// The sums of a tile for each thread, and the distance of their rows where threads pass them on.
inline constexpr int64_t kSumsOfThread = kTile * kTile / kBlockThreads, kSumPitch = kTile + 8;

} // namespace tfc::gpu
