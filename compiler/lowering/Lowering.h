//===- Lowering.h - Common code of the lowering patterns ------------------===//
//
// There is one pattern per structured operation, in the file of its family. A pattern takes shapes
// from the dfg operation, whose types name the sizes, and converted operands, whose types are plain
// tensors, from its adaptor.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tfc::lowering {

/// Drops the names of sizes, and makes unsigned elements signless.
struct TensorConverter : mlir::TypeConverter {
  TensorConverter();
};

/// Returns the type that represents `elementType` in kernels, which is signless.
mlir::Type storageType(mlir::Type elementType);

/// Returns the type in which kernels compute with `elementType`: f32 for f16 and bf16.
mlir::Type computeType(mlir::Type elementType);

/// Returns the `index` value of a size, computed from the size arguments of the kernel that
/// contains the insertion point.
mlir::Value buildSize(mlir::OpBuilder &b, mlir::Location loc, const dfg::DimExpr &size);

/// Builds a constant of a storage type.
mlir::Value buildNumber(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, double value);

/// Clamps `index` to [0, size - 1], so that disabled lanes read valid memory.
mlir::Value buildClamp(mlir::OpBuilder &b, mlir::Location loc, mlir::Value index, mlir::Value size);

/// Builds a `tensor.empty` of the given shape.
mlir::Value buildEmpty(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<dfg::DimExpr> shape,
                       mlir::Type elementType);

/// Builds a tensor of the given shape, filled with `value` (a scalar).
mlir::Value buildFill(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                      llvm::ArrayRef<dfg::DimExpr> shape);

using BodyBuilder = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>;

/// Builds a parallel generic over `shape`. `body` receives one scalar per input, in its compute
/// type if `widen` is set, and returns the element, which is rounded to `elementType`.
mlir::Value buildParallel(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange inputs,
                          llvm::ArrayRef<mlir::AffineMap> maps, llvm::ArrayRef<dfg::DimExpr> shape,
                          mlir::Type elementType, BodyBuilder body, bool widen = true);

/// A tensor and the map by which a loop nest reads it.
struct Read {
  mlir::Value tensor;
  mlir::AffineMap map;
  /// The operation that converts its elements, or null.
  mlir::Operation *conversion = nullptr;
};

/// Returns the same elements, read from the operands of views and casts instead of their results.
Read lookThrough(Read read);

/// Returns the map by which a loop nest over `to` reads an operand of shape `from`, with
/// broadcasting.
mlir::AffineMap broadcastMap(mlir::MLIRContext *context, llvm::ArrayRef<dfg::DimExpr> from,
                             llvm::ArrayRef<dfg::DimExpr> to);

/// Builds a reduction of `input` over `axes`, which are removed or kept with size 1. It computes in
/// the compute type of `elementType` and rounds at the end. `body` receives the element and the
/// accumulator.
mlir::Value buildReduction(mlir::OpBuilder &b, mlir::Location loc, mlir::Value input,
                           llvm::ArrayRef<dfg::DimExpr> shape, llvm::ArrayRef<int64_t> axes,
                           bool keepDims, mlir::TypedAttr neutral, mlir::Type elementType,
                           BodyBuilder body);

/// Builds the best elements over `axes`, of `elementType`, and their positions in row-major order,
/// of `indexType`: `isBetter` compares an element, in its compute type, with the best one of those
/// before it, which is `worst` at first.
std::pair<mlir::Value, mlir::Value> buildArgReduction(mlir::OpBuilder &b, mlir::Location loc,
                                                      mlir::Value input,
                                                      llvm::ArrayRef<dfg::DimExpr> shape,
                                                      llvm::ArrayRef<int64_t> axes, bool keepDims,
                                                      mlir::TypedAttr worst, mlir::Type elementType,
                                                      mlir::Type indexType, BodyBuilder isBetter);

/// Converts a scalar from its storage type to its compute type (floating point only).
mlir::Value widen(mlir::OpBuilder &b, mlir::Location loc, mlir::Value scalar);
mlir::Value narrow(mlir::OpBuilder &b, mlir::Location loc, mlir::Value scalar, mlir::Type to);

/// Reshapes a value from shape `from` to shape `to`. The shapes must have the same elements in
/// row-major order; shapes that differ only in unit dimensions are handled by an access map.
mlir::Value buildReshape(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                         llvm::ArrayRef<dfg::DimExpr> from, llvm::ArrayRef<dfg::DimExpr> to);

/// Returns the element type that represents the tensor's element type in kernels.
mlir::Type storedElement(mlir::Value tensor);

/// Returns the smallest or largest value in the compute type of an element type of the language: an
/// infinity or an extreme integer.
mlir::TypedAttr extremeValue(mlir::OpBuilder &b, mlir::Type elementType, bool isSmallest);

/// Returns the larger or smaller of two scalars of an element type of the language, in its compute
/// type, or NaN if one of them is NaN.
mlir::Value buildExtreme(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y,
                         bool isMax, mlir::Type elementType);

/// Adds a block with the given arguments to `region` of a linalg_ext operation; the block yields
/// what `body` returns.
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
