//===- Build.h - Small expressions for gradients and passes ---------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc::dfg {

/// A scalar constant, rounded to `elementType`, which is any element type of
/// the language.
mlir::Value scalar(mlir::OpBuilder &b, mlir::Location loc, mlir::Type elementType, double value);

/// A scalar constant of the element type of `like`.
mlir::Value scalarLike(mlir::OpBuilder &b, mlir::Value like, double value);

/// `value` in every element of a tensor of type `type`.
mlir::Value filled(mlir::OpBuilder &b, mlir::Location loc, mlir::RankedTensorType type,
                   double value);

/// The size `expr` as a scalar of `elementType`.
mlir::Value sizeAs(mlir::OpBuilder &b, mlir::Location loc, const DimExpr &expr,
                   mlir::Type elementType);

/// i32 if it holds all positions along an axis of the size in every call, else i64.
mlir::Type positionType(mlir::OpBuilder &b, const DimExpr &size);

/// `value` reshaped to the shape by `dfg.reshape`, or `value` itself if it has the shape.
mlir::Value reshapeTo(mlir::OpBuilder &b, mlir::Value value, llvm::ArrayRef<DimExpr> shape);

/// `value` broadcast to the shape, or `value` itself if it has the shape.
mlir::Value broadcastTo(mlir::OpBuilder &b, mlir::Value value, llvm::ArrayRef<DimExpr> shape);

/// The transpose of broadcasting from `shape`: sums `value` over the broadcast axes.
mlir::Value sumTo(mlir::OpBuilder &b, mlir::Value value, llvm::ArrayRef<DimExpr> shape);

/// `value` reduced over `axes`, with the removed axes restored with size 1.
llvm::SmallVector<DimExpr> keptShape(llvm::ArrayRef<DimExpr> shape, llvm::ArrayRef<int64_t> axes);

} // namespace tfc::dfg
