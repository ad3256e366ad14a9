//===- WinogradForm.h - Convolutions with fewer multiplications -----------===//
//
// Convolutions along one or two axes by Winograd's algorithm (dialects/dfg/WinogradMatrices.h):
// tiles of the image and the weights are transformed, multiplied element by element, and summed
// over channels, which is a product of matrices for each element of a tile; the transposed
// transform makes the results of a tile. With 3 x 3 taps, 4 x 4 results of a tile take a quarter of
// the multiplications.
//
// Weights are transformed when a model is compiled. In the IR, a convolution multiplies with
// weights that are recovered from the transformed ones, so a kernel means the same before and
// after.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "compiler/cpu/Target.h"
#include "compiler/kernels/KernelShapes.h"
#include "dialects/dfg/WinogradMatrices.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

namespace tfc::cpu {

struct ImageAxis : dfg::WinogradAxis {
  int64_t size = 1; // of the image
};

/// A convolution: result (n, y, x, f) is the sum over (a, b, c) of image (n, y + a, x + b, c) times
/// weights (a, b, c, f). One along a single axis has no y and a; `rows` is then an axis of size 1.
struct ImageConvolution {
  mlir::Value image, weights;
  bool hasRows = true;
  ImageAxis rows, columns;
  int64_t count; // images
  int64_t channels, features;

  int64_t taps() const { return rows.taps * columns.taps; }
  int64_t tiles() const { return count * rows.tiles() * columns.tiles(); }
  int64_t tileElements() const { return rows.tileSize() * columns.tileSize(); }
  /// The axes that images have.
  llvm::SmallVector<ImageAxis, 2> axes() const;
  /// The shape of the transformed weights: the sizes of a tile, channels and features.
  llvm::SmallVector<int64_t> transformedShape() const;
};

/// Recognizes a convolution of f32 whose sizes are known. Its tiles are not chosen.
std::optional<ImageConvolution> matchConvolution(mlir::linalg::GenericOp op);

/// Recognizes a convolution whose weights are recovered from transformed ones; `weights` are these.
std::optional<ImageConvolution> matchTransformed(mlir::linalg::GenericOp op);

/// Recovers the weights of a convolution from transformed ones.
mlir::Value recoverWeights(mlir::OpBuilder &b, mlir::Location loc,
                           const ImageConvolution &convolution, mlir::Value transformed);

/// Returns the transformed weights that `op` recovers, which are always constants, or null.
mlir::Value recoveredFrom(mlir::linalg::GenericOp op);

/// Returns true if `op` only recovers weights. Nothing computes it: emitters read the others.
bool recoversWeights(mlir::linalg::GenericOp op);

/// Transforms the weights of a convolution; returns null if they are a single element that is
/// repeated.
mlir::ElementsAttr transformWeights(const ImageConvolution &convolution,
                                    mlir::ElementsAttr weights);

/// How a convolution is divided. Tiles are numbered by rows of images; a unit computes some of
/// them, for a part of the features, one group of panels of the register tile after the other.
struct WinogradPlan {
  /// The results of a tile along both axes.
  int64_t rowResults = 1, columnResults = 1;
  /// Tiles of a unit, channels that are transformed together, panels of a group, and groups of a
  /// unit.
  int64_t tiles = 0, channels = 0, panels = 0, groups = 0;
  /// The register tile: rows are tiles of the image, and vectors are features.
  int64_t rows = 1, vectors = 1;
  /// Estimated cycles of the whole convolution, and these with the time in which threads wait for
  /// the one that computes the last unit. Plans are compared by the latter.
  double cycles = 0, waiting = 0;

  int64_t columns(int64_t lanes) const { return vectors * lanes; }
  /// The name among the ways of a contraction; it begins with `kWinogradWay`.
  std::string name() const;
};

inline constexpr llvm::StringLiteral kWinogradWay = "winograd:";

/// Returns plans of a convolution for a target in the order of their estimated time, at most
/// `count`, which differ in the results of a tile, if these are not chosen, or in the number of
/// tiles. There are none if what a unit keeps has no room.
llvm::SmallVector<WinogradPlan> rankWinograd(const Target &target,
                                             const ImageConvolution &convolution, size_t count);

/// Returns the weights of a convolution that can be transformed: a constant that only it reads.
/// Null for other operations.
mlir::BlockArgument transformableWeights(mlir::linalg::GenericOp op);

/// Chooses the tiles of a convolution: those of the plan `way`, if there is one of that name, or of
/// the fastest plan. Returns std::nullopt if what a unit keeps has no room, or vectors are not
/// full.
std::optional<ImageConvolution>
chooseTiles(const Target &target, const ImageConvolution &convolution, llvm::StringRef way);

/// Returns true if the transforms of a convolution whose tiles are chosen are estimated to be
/// faster than the definition.
bool isWinogradFaster(const Target &target, const ImageConvolution &convolution);

} // namespace tfc::cpu
