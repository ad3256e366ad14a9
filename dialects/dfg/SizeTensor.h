//===- SizeTensor.h - Integer tensors with known elements -----------------===//
//
// Graphs compute shapes with small integer tensors. Here their elements are
// sizes: numbers, or expressions over named dimensions. Operations evaluate
// them by `SizeEvaluationOpInterface`; the functions are what they share.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/Types.h"

namespace tfc::dfg {

/// A tensor of integers (or bools, 0 and 1) whose elements are known, in row-major order.
struct SizeTensor {
  /// Larger tensors hold data, not sizes.
  static constexpr int64_t kMaxElements = 4096;

  mlir::Type elementType;
  llvm::SmallVector<int64_t> shape;
  Shape values;

  int64_t getRank() const { return shape.size(); }
  mlir::RankedTensorType getType() const { return mlir::RankedTensorType::get(shape, elementType); }
  bool isSingle() const { return values.size() == 1; }
  /// The elements if they are all numbers.
  std::optional<llvm::SmallVector<int64_t>> getConstants() const;
  /// The element if there is one and it is a number.
  std::optional<int64_t> getConstant() const;
};

using SizeOperands = llvm::ArrayRef<const SizeTensor *>;

/// A tensor with these elements, where numbers wrap as they would at run time; nothing if the shape
/// does not hold them or is too large.
std::optional<SizeTensor> makeSizes(mlir::Type elementType, llvm::ArrayRef<int64_t> shape,
                                    Shape values);
/// A scalar.
std::optional<SizeTensor> makeSize(mlir::Type elementType, DimExpr value);
/// A tensor with one axis.
std::optional<SizeTensor> makeSizeVector(mlir::Type elementType, Shape values);
/// The elements of an integer constant, if it is small.
std::optional<SizeTensor> readSizes(mlir::ElementsAttr value);

/// The number of elements; nothing for more than a tensor of sizes has, or a negative size.
std::optional<int64_t> countSizes(llvm::ArrayRef<int64_t> shape);
/// The sizes as numbers, if all are.
std::optional<llvm::SmallVector<int64_t>> constantsOf(llvm::ArrayRef<DimExpr> sizes);

using CombineSizes =
    llvm::function_ref<std::optional<DimExpr>(const DimExpr &lhs, const DimExpr &rhs)>;

/// An elementwise operation on two integer tensors of one shape, or with a single element.
std::optional<SizeTensor> combineSizes(SizeOperands operands, CombineSizes combine);
/// A comparison, where the difference of all elements is a number.
std::optional<SizeTensor> compareSizes(SizeOperands operands,
                                       llvm::function_ref<bool(int64_t difference)> predicate);
/// A reduction of a vector or a scalar; without `start` there must be an element.
std::optional<SizeTensor> reduceSizes(const SizeTensor &x, mlir::DenseI64ArrayAttr axis,
                                      bool keepDims, std::optional<DimExpr> start,
                                      CombineSizes combine);
/// The same elements in another shape; one size may be -1.
std::optional<SizeTensor> reshapeSizes(const SizeTensor &x, llvm::ArrayRef<int64_t> shape);
/// The elements `starts + i * steps` along each axis.
std::optional<SizeTensor> sliceSizes(const SizeTensor &x, llvm::ArrayRef<int64_t> starts,
                                     llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> steps);
/// Tensors one after the other along their first axis.
std::optional<SizeTensor> concatSizes(SizeOperands operands);
/// Tensors of one type one after the other along a new first axis.
std::optional<SizeTensor> stackSizes(SizeOperands operands);

/// What `dfg.<op>` computes from these operands; nothing if that is not known.
std::optional<SizeTensor> evaluateSizes(llvm::StringRef op, SizeOperands operands,
                                        mlir::DictionaryAttr attributes);
/// The elements of a tensor, if they follow from the operations that compute it.
std::optional<SizeTensor> evaluateSizes(mlir::Value value);

} // namespace tfc::dfg
