//===- MessageOrder.h - Kernels that run before waits for messages --------===//

#pragma once

#include "compiler/fusion/Grouping.h"

namespace tfc::fusion {

/// The kernels of a partition that run before it waits for a message: those that begin before the
/// wait in the order of the block and need no later message. A kernel would otherwise run when its
/// first reader does, which may be long after a wait in which there was time for it.
class MessageOrder {
public:
  MessageOrder(mlir::Block &block, const Grouping &grouping);

  /// Visits an operation of each kernel that has to run before `wait`, in the order of the block,
  /// and after all earlier waits.
  void forEachBefore(mlir::Operation *wait,
                     llvm::function_ref<void(mlir::Operation *)> visit) const;

private:
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *>> before;
};

} // namespace tfc::fusion
