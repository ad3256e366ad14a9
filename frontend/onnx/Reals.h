// Small tensors of floats that are known when a graph is read, such as the scales of a resizing.
#pragma once

#include "mlir/IR/Value.h"
#include <optional>

namespace tfc::onnx {

/// Returns the elements of a tensor of floats or integers, in row-major order, if they can be
/// derived from the operations that compute it.
std::optional<llvm::SmallVector<double>> evaluateReals(mlir::Value value);

} // namespace tfc::onnx
