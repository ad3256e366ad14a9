//===- WinogradForm.h - Convolutions with fewer multiplications -----------===//
//
// Convolutions of 3 x 3 taps by F(4 x 4, 3 x 3): tiles of 6 x 6 elements and the weights are
// transformed, multiplied element by element, and summed over channels, which is a product of
// matrices for each of the 36 elements; the transposed transform makes 4 x 4 results of a tile.
// That takes a quarter of the multiplications (Lavin and Gray, "Fast algorithms for convolutional
// neural networks", 2016).
//
// Weights are transformed when a model is compiled. In the IR, a convolution multiplies with
// weights that are recovered from the transformed ones, so a kernel means the same before and
// after.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "compiler/cpu/Target.h"
#include "compiler/kernels/KernelShapes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <optional>

namespace tfc::cpu {

inline constexpr int64_t kTaps = 3, kTileResults = 4, kTileSize = kTaps + kTileResults - 1;
/// The number of elements of a tile.
inline constexpr int64_t kTileElements = kTileSize * kTileSize;

/// A convolution of 3 x 3 taps with steps of 1: result (n, y, x, f) is the sum over (a, b, c) of
/// image (n, y + a, x + b, c) times weights (a, b, c, f).
struct ImageConvolution {
  mlir::Value image, weights;
  int64_t imageRows, imageColumns;
  int64_t count, rows, columns; // images, and results in each
  int64_t channels, features;

  int64_t tileRows() const { return llvm::divideCeil(rows, kTileResults); }
  int64_t tileColumns() const { return llvm::divideCeil(columns, kTileResults); }
  int64_t tiles() const { return count * tileRows() * tileColumns(); }
};

/// Recognizes a convolution of f32 whose sizes are known.
std::optional<ImageConvolution> matchConvolution(mlir::linalg::GenericOp op);

/// Recognizes a convolution whose weights are recovered from transformed ones; `weights` are these.
std::optional<ImageConvolution> matchTransformed(mlir::linalg::GenericOp op);

/// Recovers 3 x 3 weights from transformed ones, [6, 6, channels, features].
mlir::Value recoverWeights(mlir::OpBuilder &b, mlir::Location loc, mlir::Value transformed);

/// Returns the transformed weights that `op` recovers, which are always constants, or null.
mlir::Value recoveredFrom(mlir::linalg::GenericOp op);

/// Returns true if `op` only recovers weights. Nothing computes it: emitters read the others.
bool recoversWeights(mlir::linalg::GenericOp op);

/// Transforms weights [3, 3, channels, features]; returns null if they are a single element that is
/// repeated.
mlir::ElementsAttr transformWeights(mlir::ElementsAttr weights);

/// How a convolution is divided. Tiles are numbered by rows of images; a unit computes some of
/// them, for a part of the features, one group of panels of the register tile after the other.
struct WinogradPlan {
  /// Tiles of a unit, channels that are transformed together, panels of a group, and groups of a
  /// unit.
  int64_t tiles = 0, channels = 0, panels = 0, groups = 0;
  /// The register tile: rows are tiles of the image, and vectors are features.
  int64_t rows = 1, vectors = 1;
  /// Estimated cycles of the whole convolution.
  double cycles = 0;

  int64_t columns(int64_t lanes) const { return vectors * lanes; }
  /// The name among the ways of a contraction; it begins with `kWinogradWay`.
  std::string name() const;
};

inline constexpr llvm::StringLiteral kWinogradWay = "winograd:";

/// Returns plans of a convolution for a target in the order of their estimated cycles, at most
/// `count`, each with another number of tiles.
llvm::SmallVector<WinogradPlan> rankWinograd(const Target &target,
                                             const ImageConvolution &convolution, size_t count);

/// Returns the weights of a convolution that can be transformed: a constant that only it reads.
/// Null for other operations.
mlir::BlockArgument transformableWeights(mlir::linalg::GenericOp op);

/// Returns true if what a unit keeps has room, and vectors are full.
bool canTransform(const Target &target, const ImageConvolution &convolution);

/// Returns true if the transforms are estimated to be faster than the definition.
bool isWinogradFaster(const Target &target, const ImageConvolution &convolution);

} // namespace tfc::cpu
