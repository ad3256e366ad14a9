//===- Lowering.h - What the lowering patterns share ----------------------===//
//
// One pattern per structured operation, in the file of its family. A pattern
// reads the shapes from the dfg operation, whose types name the sizes, and the
// converted operands from its adaptor, whose types are plain tensors.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tfc::lowering {

/// Strips the names of sizes and the sign of u8.
struct TensorConverter : mlir::TypeConverter {
  TensorConverter();
};

/// `elementType` as kernels hold it: signless.
mlir::Type storageType(mlir::Type elementType);

/// `elementType` as kernels compute with it: f32 for f16 and bf16.
mlir::Type computeType(mlir::Type elementType);

/// The `index` value of a size, from the size arguments of the kernel around the insertion point.
mlir::Value buildSize(mlir::OpBuilder &b, mlir::Location loc, const dfg::DimExpr &size);

/// A number of a storage type.
mlir::Value buildNumber(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, double value);

/// `index` moved into 0 to size - 1, so that a lane that is not enabled reads valid memory.
mlir::Value buildClamp(mlir::OpBuilder &b, mlir::Location loc, mlir::Value index, mlir::Value size);

/// A `tensor.empty` of this shape.
mlir::Value buildEmpty(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<dfg::DimExpr> shape,
                       mlir::Type elementType);

/// A tensor of this shape with `value` (a scalar) in every element.
mlir::Value buildFill(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                      llvm::ArrayRef<dfg::DimExpr> shape);

using BodyBuilder = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>;

/// A parallel generic over `shape`: `body` gets one scalar per input, in its compute type if
/// `widen`, and returns the element, which is rounded to `elementType`.
mlir::Value buildParallel(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange inputs,
                          llvm::ArrayRef<mlir::AffineMap> maps, llvm::ArrayRef<dfg::DimExpr> shape,
                          mlir::Type elementType, BodyBuilder body, bool widen = true);

/// A tensor and where a loop nest reads it.
struct Read {
  mlir::Value tensor;
  mlir::AffineMap map;
};

/// The same elements read where views take them from.
Read lookThrough(Read read);

/// The map by which an operand of shape `from` is read in a loop nest over `to`, with broadcasting.
mlir::AffineMap broadcastMap(mlir::MLIRContext *context, llvm::ArrayRef<dfg::DimExpr> from,
                             llvm::ArrayRef<dfg::DimExpr> to);

/// A reduction of `input` over `axes`, which are removed or stay with size 1, in the compute type
/// of `elementType`, rounded at the end. `body` gets the element and the accumulator.
mlir::Value buildReduction(mlir::OpBuilder &b, mlir::Location loc, mlir::Value input,
                           llvm::ArrayRef<dfg::DimExpr> shape, llvm::ArrayRef<int64_t> axes,
                           bool keepDims, mlir::TypedAttr neutral, mlir::Type elementType,
                           BodyBuilder body);

/// Converts a scalar between storage and compute type (floating point only).
mlir::Value widen(mlir::OpBuilder &b, mlir::Location loc, mlir::Value scalar);
mlir::Value narrow(mlir::OpBuilder &b, mlir::Location loc, mlir::Value scalar, mlir::Type to);

/// A value of the shape `from` read in the shape `to`, where they differ in sizes of 1 alone or
/// hold their elements in the same row-major order.
mlir::Value buildReshape(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                         llvm::ArrayRef<dfg::DimExpr> from, llvm::ArrayRef<dfg::DimExpr> to);

/// The element type of a tensor as kernels hold it.
mlir::Type storedElement(mlir::Value tensor);

/// The smallest or largest value in the compute type of an element type of the language: an
/// infinity, or an extreme integer.
mlir::TypedAttr extremeValue(mlir::OpBuilder &b, mlir::Type elementType, bool isSmallest);

/// The larger or smaller of two scalars of an element type of the language, in its compute type;
/// NaN if one is.
mlir::Value buildExtreme(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y,
                         bool isMax, mlir::Type elementType);

/// Gives `region` of a linalg_ext operation a block with these arguments, whose end is what `body`
/// returns.
void buildRegion(mlir::OpBuilder &b, mlir::Location loc, mlir::Region &region,
                 mlir::TypeRange arguments, BodyBuilder body);

void populateContractionPatterns(TensorConverter &, mlir::RewritePatternSet &);
void populateElementwisePatterns(TensorConverter &, mlir::RewritePatternSet &);
void populateGatherPatterns(TensorConverter &, mlir::RewritePatternSet &);
void populatePositionPatterns(TensorConverter &, mlir::RewritePatternSet &);
void populateReductionPatterns(TensorConverter &, mlir::RewritePatternSet &);
void populateScanPatterns(TensorConverter &, mlir::RewritePatternSet &);
void populateShapePatterns(TensorConverter &, mlir::RewritePatternSet &);
void populateSortPatterns(TensorConverter &, mlir::RewritePatternSet &);
void populateViewPatterns(TensorConverter &, mlir::RewritePatternSet &);
void populateWindowPatterns(TensorConverter &, mlir::RewritePatternSet &);

} // namespace tfc::lowering
