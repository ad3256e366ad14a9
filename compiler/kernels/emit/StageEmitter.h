// Emits the elements of a schedule's stages at a point of the loops around them.
#pragma once

#include "compiler/kernels/Schedule.h"
#include "compiler/kernels/emit/KernelEmitter.h"

namespace tfc::kernels {

/// Emits the stages of a nest inside loops that the derived class builds.
class StageEmitter {
public:
  StageEmitter(KernelEmitter &emitter, const Nest &nest)
      : e(emitter), b(emitter.builder()), loc(emitter.loc()), nest(nest), loops(nest.sizes.size()) {
  }

protected:
  /// The loops of a stage, and the indices of a result, at the current point.
  llvm::SmallVector<mlir::AffineExpr> loopsAt(const LoopStage &stage);
  llvm::SmallVector<mlir::AffineExpr> resultAt(const LoopStage &stage, unsigned number);

  /// Computes a parallel stage's elements at the current point, for its store and later readers.
  void evaluateParallel(const LoopStage &stage);
  /// Stores the elements of a stage that are bound at the current point.
  void storeStage(const LoopStage &stage);

  KernelEmitter &e;
  mlir::OpBuilder &b;
  mlir::Location loc;
  const Nest &nest;
  /// The nest's open loops as expressions of the emitter's dims.
  llvm::SmallVector<mlir::AffineExpr> loops;
};

/// Assigns buffers to the arguments and results of a kernel: `tensors` are the addresses of its
/// tensor arguments, `results` those of its results that overwrite none.
void placeOperands(KernelEmitter &emitter, llvm::ArrayRef<mlir::Value> tensors,
                   llvm::ArrayRef<mlir::Value> results);

} // namespace tfc::kernels
