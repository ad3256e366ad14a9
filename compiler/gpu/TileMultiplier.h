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

  /// The multiplier for a product: matrix units for floats of 16 bits.
  static std::unique_ptr<TileMultiplier> create(kernels::KernelEmitter &emitter,
                                                const TiledProduct &product, ThreadGroup &group);
  virtual ~TileMultiplier() = default;

  /// The type of elements in panels, and the number of them for which a panel has memory.
  virtual mlir::Type elementType() const = 0;
  virtual int64_t panelElements() const = 0;
  /// The position of an element in a panel, both of type index.
  virtual mlir::Value positionInPanel(mlir::Value across, mlir::Value along) = 0;
  /// Adds the products of two panels to the sums of this thread.
  virtual Values multiply(mlir::Value a, mlir::Value b, Values sums) = 0;
  /// The position in the tile, row by row, of a sum of this thread.
  virtual mlir::Value positionOfSum(int64_t number) = 0;

protected:
  TileMultiplier(kernels::KernelEmitter &emitter, const TiledProduct &product)
      : IndexArithmetic(emitter), form(product.form) {}

  const kernels::ContractionForm &form;
};

/// The address of an element in memory of a block.
mlir::Value elementAt(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memory, mlir::Type type,
                      mlir::Value position);

/// The sums of a tile for each thread.
inline constexpr int64_t kSumsOfThread = kTile * kTile / kBlockThreads;

} // namespace tfc::gpu
