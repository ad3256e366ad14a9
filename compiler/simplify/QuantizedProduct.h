// A product of quantised factors of which one is constant: its axes, channels and constants.
#pragma once

#include "compiler/simplify/Quantized.h"

namespace tfc {

/// A product with a constant factor, in terms of the axes of its result.
struct Product {
  mlir::Operation *op;
  unsigned weightsOperand;
  /// For each axis of the weights, the axis of the result that indexes it; -1 for those summed.
  llvm::SmallVector<int64_t> axes;
  /// True if the innermost axis of the result is one of the weights alone.
  bool isMatrix = false;

  static std::optional<Product> match(mlir::Operation *op, unsigned weightsOperand);
};

/// Numbers for the channels of a product: the shape has the rank of its result, and size 1 along
/// the axes that the weights do not have.
struct Channels {
  llvm::SmallVector<int64_t> shape;
  std::vector<int64_t> sums, magnitudes;
  std::vector<float> scales;

  static std::optional<Channels> of(const Product &product, const QuantizedWeights &weights);
};

/// A constant of the shape of channels, of f32 or i32.
template <typename T>
mlir::Value channelConstant(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<int64_t> shape,
                            mlir::Type element, const std::vector<T> &numbers);

/// The weights as a constant of i8 or f32.
mlir::Value weightsConstant(mlir::OpBuilder &b, mlir::Location loc, mlir::RankedTensorType type,
                            llvm::ArrayRef<int32_t> elements, bool isFloat);

/// Returns the bias in multiples of the scales, if it is one up to the rounding of f32.
std::optional<std::vector<int64_t>> levelsOf(llvm::ArrayRef<float> bias,
                                             llvm::ArrayRef<float> scales);

} // namespace tfc
