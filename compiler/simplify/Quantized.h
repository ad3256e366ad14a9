// Recognizes tensors that stand for quantised ones: scale * (x - zero point) with x of 8 bits.
#pragma once

#include "dialects/dfg/Dfg.h"
#include <optional>

namespace tfc {

/// The number that all elements of a constant, or of what is computed from constants, have.
std::optional<double> splatOf(mlir::Value value);

/// The elements of a constant, or of a bias that is computed from constants, broadcast to a shape;
/// std::nullopt for other values.
template <typename T>
std::optional<std::vector<T>> constantElements(mlir::Value value, llvm::ArrayRef<int64_t> shape);

/// A quantised tensor, `scale * (x - zero)`, whose scale and zero point may differ between
/// channels.
struct Dequantized {
  mlir::Value x;
  /// Constants, or views and conversions of constants; `zero` is null if it is 0, `scale` if it
  /// is 1.
  mlir::Value scale, zero;

  static std::optional<Dequantized> match(mlir::Value value);
};

/// A constant quantised tensor in the order in which a product reads it.
struct QuantizedWeights {
  /// The elements minus their zero points, and the scale of each.
  std::vector<int32_t> elements;
  std::vector<float> scales;

  /// Matches transposes and reshapes of a dequantised constant.
  static std::optional<QuantizedWeights> match(mlir::Value value);
};

/// The operand of a quantisation, `cast(round(y / scale) + zero)`.
struct Quantized {
  mlir::Value y;
  float scale = 1;
  double zero = 0;

  static std::optional<Quantized> match(mlir::Value value);
};

/// Returns the least and the largest integer of a type.
std::pair<int64_t, int64_t> rangeOf(mlir::Type type);

} // namespace tfc
