//===- LoopEmitter.h - Loops, branches and index arithmetic ---------------===//

#pragma once

#include "compiler/kernels/emit/IndexEmitter.h"

namespace tfc::cpu {

/// Builds control flow around the code of an emitter, with a scope for each body, and folds the
/// index arithmetic that it needs.
class LoopEmitter {
public:
  explicit LoopEmitter(kernels::IndexEmitter &indices)
      : b(indices.builder()), loc(indices.loc()), indices(indices) {}

  void forLoop(mlir::Value begin, mlir::Value end, int64_t step,
               llvm::function_ref<void(mlir::Value)> body);
  /// `otherwise` may be null.
  void ifElse(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise);

  mlir::Value constant(int64_t value) { return indices.indexConstant(value); }
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value add(mlir::Value lhs, int64_t rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, int64_t rhs);
  mlir::Value minimum(mlir::Value lhs, mlir::Value rhs);
  /// Returns the quotient and the remainder of non-negative numbers.
  std::pair<mlir::Value, mlir::Value> divide(mlir::Value lhs, mlir::Value rhs);

  /// Returns a mask that enables the first `count` lanes.
  mlir::Value firstLanes(int64_t lanes, mlir::Value count);

protected:
  mlir::OpBuilder &b;
  mlir::Location loc;

private:
  kernels::IndexEmitter &indices;
};

} // namespace tfc::cpu
