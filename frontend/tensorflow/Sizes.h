// Integer tensors whose elements are known, as sizes are: what shapes are computed with.
#pragma once

#include "dialects/dfg/Types.h"

namespace tfc::tensorflow {

/// A small tensor of integers (or bools, 0 and 1), in row-major order, over named dimensions.
struct SizeTensor {
  mlir::Type elementType;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<dfg::DimExpr> values;

  int64_t rank() const { return shape.size(); }
  mlir::RankedTensorType type() const { return mlir::RankedTensorType::get(shape, elementType); }
  /// The elements if they are all numbers.
  std::optional<llvm::SmallVector<int64_t>> constants() const;
};

/// More elements than this are no sizes.
inline constexpr int64_t kMaxSizes = 4096;

class NodeBuilder;

/// Computes a node's outputs if its inputs are known; nothing otherwise, or for an operation that
/// is not computed here.
std::optional<llvm::SmallVector<SizeTensor>> evaluate(NodeBuilder &node);

/// The elements of an integer constant, if it is small.
std::optional<SizeTensor> sizesOf(mlir::ElementsAttr value);

/// The axes of a strided slice, after its masks.
struct StridedSlice {
  struct Axis {
    int64_t input; // -1: a new axis
    dfg::DimExpr start, size;
    int64_t step;
    bool isRemoved;
  };
  llvm::SmallVector<Axis> axes;
};

/// Resolves begin, end, strides (operands 1 to 3) and the masks for an input of this shape;
/// nothing where they are not known or contradict each other.
std::optional<StridedSlice>
resolveStridedSlice(NodeBuilder &node, llvm::ArrayRef<dfg::DimExpr> shape, unsigned firstOperand);

} // namespace tfc::tensorflow
