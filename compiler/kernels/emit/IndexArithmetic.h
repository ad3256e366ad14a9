// Folded arithmetic on index values, for emitters of loops.
#pragma once

#include "compiler/kernels/emit/IndexEmitter.h"

namespace tfc::kernels {

/// The index arithmetic of an emitter's loops, at its insertion point.
class IndexArithmetic {
public:
  explicit IndexArithmetic(IndexEmitter &indices)
      : b(indices.builder()), loc(indices.loc()), indices(indices) {}

  mlir::Value constant(int64_t value) { return indices.indexConstant(value); }
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value add(mlir::Value lhs, int64_t rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, int64_t rhs);
  mlir::Value minimum(mlir::Value lhs, mlir::Value rhs);
  /// Returns the quotient and the remainder of non-negative numbers.
  std::pair<mlir::Value, mlir::Value> divide(mlir::Value lhs, mlir::Value rhs);
  std::pair<mlir::Value, mlir::Value> divide(mlir::Value lhs, int64_t rhs);

protected:
  mlir::OpBuilder &b;
  mlir::Location loc;
  IndexEmitter &indices;
};

} // namespace tfc::kernels
