//===- SizeTensor.h - Integer tensors with known elements -----------------===//
//
// Graphs compute shapes with small integer tensors. Here the elements of such tensors are sizes:
// numbers, or expressions over named dimensions. Operations evaluate them through
// `SizeEvaluationOpInterface`, with the functions below.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/Types.h"

namespace tfc::dfg {

/// A tensor of integers (or bools, 0 and 1) whose elements are known, in row-major order.
struct SizeTensor {
  /// Larger tensors hold data rather than sizes.
  static constexpr int64_t kMaxElements = 4096;

  mlir::Type elementType;
  llvm::SmallVector<int64_t> shape;
  Shape values;

  int64_t getRank() const { return shape.size(); }
  mlir::RankedTensorType getType() const { return mlir::RankedTensorType::get(shape, elementType); }
  bool isSingle() const { return values.size() == 1; }
  /// Returns the elements if all of them are numbers.
  std::optional<llvm::SmallVector<int64_t>> getConstants() const;
  /// Returns the element if there is exactly one and it is a number.
  std::optional<int64_t> getConstant() const;
};

using SizeOperands = llvm::ArrayRef<const SizeTensor *>;

/// Returns a tensor with these elements, where numbers wrap as they would at run time; std::nullopt
/// if their number does not match the shape or is too large.
std::optional<SizeTensor> makeSizes(mlir::Type elementType, llvm::ArrayRef<int64_t> shape,
                                    Shape values);
/// A scalar.
std::optional<SizeTensor> makeSize(mlir::Type elementType, DimExpr value);
/// A tensor with one axis.
std::optional<SizeTensor> makeSizeVector(mlir::Type elementType, Shape values);
/// Returns the elements of an integer constant, if it is small; INT64_MIN is an overflowing size.
std::optional<SizeTensor> readSizes(mlir::ElementsAttr value);

/// Returns the number of elements; std::nullopt if a size is negative or there are too many for a
/// tensor of sizes.
std::optional<int64_t> countSizes(llvm::ArrayRef<int64_t> shape);
/// Returns the sizes as numbers, if all of them are.
std::optional<llvm::SmallVector<int64_t>> constantsOf(llvm::ArrayRef<DimExpr> sizes);

using CombineSizes =
    llvm::function_ref<std::optional<DimExpr>(const DimExpr &lhs, const DimExpr &rhs)>;

using CombineElements =
    llvm::function_ref<std::optional<DimExpr>(llvm::ArrayRef<const DimExpr *> elements)>;

/// Applies an elementwise operation to integer tensors, each of which has the shape of the result
/// or a single element.
std::optional<SizeTensor> combineElements(SizeOperands operands, mlir::Type resultType,
                                          CombineElements combine);
/// Applies an elementwise operation to two integer tensors of the same shape, or to one of them and
/// a single element.
std::optional<SizeTensor> combineSizes(SizeOperands operands, CombineSizes combine);
/// Returns the flags that a function of two known flags computes.
std::optional<SizeTensor> combineFlags(SizeOperands operands,
                                       llvm::function_ref<bool(bool, bool)> function);
/// Compares two tensors by a predicate on the sign of the differences, which it must decide for all
/// sizes.
std::optional<SizeTensor> compareSizes(SizeOperands operands,
                                       llvm::function_ref<bool(int64_t difference)> predicate);
/// Reduces a vector or a scalar; without `start`, there must be an element.
std::optional<SizeTensor> reduceSizes(const SizeTensor &x, mlir::DenseI64ArrayAttr axis,
                                      bool keepDims, std::optional<DimExpr> start,
                                      CombineSizes combine);
/// Returns the same elements in another shape; one size may be -1.
std::optional<SizeTensor> reshapeSizes(const SizeTensor &x, llvm::ArrayRef<int64_t> shape);
/// Returns the elements `starts + i * steps` along each axis.
std::optional<SizeTensor> sliceSizes(const SizeTensor &x, llvm::ArrayRef<int64_t> starts,
                                     llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> steps);
/// Permutes the axes: axis `i` of the result is axis `permutation[i]` of `x`.
std::optional<SizeTensor> transposeSizes(const SizeTensor &x, llvm::ArrayRef<int64_t> permutation);
/// Concatenates tensors along their first axis.
std::optional<SizeTensor> concatSizes(SizeOperands operands);
/// Stacks tensors of the same type along a new first axis.
std::optional<SizeTensor> stackSizes(SizeOperands operands);

/// Returns the result of `dfg.<op>` on these operands, or std::nullopt if it is unknown.
std::optional<SizeTensor> evaluateSizes(llvm::StringRef op, SizeOperands operands,
                                        mlir::DictionaryAttr attributes);
/// Returns the elements of a tensor, if they can be derived from the operations that compute it.
std::optional<SizeTensor> evaluateSizes(mlir::Value value);

} // namespace tfc::dfg
