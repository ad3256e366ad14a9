//===- LoopEmitter.h - Loops and branches ---------------------------------===//

#pragma once

#include "compiler/kernels/emit/IndexArithmetic.h"

namespace tfc::cpu {

/// Builds control flow around the code of an emitter, with a scope for each body.
class LoopEmitter : public kernels::IndexArithmetic {
public:
  using IndexArithmetic::IndexArithmetic;

  void forLoop(mlir::Value begin, mlir::Value end, int64_t step,
               llvm::function_ref<void(mlir::Value)> body);
  /// `otherwise` may be null.
  void ifElse(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise);

  /// Returns an integer as an index.
  mlir::Value toIndex(mlir::Value value);
  /// Returns a mask that enables the first `count` lanes.
  mlir::Value firstLanes(int64_t lanes, mlir::Value count);
};

} // namespace tfc::cpu
