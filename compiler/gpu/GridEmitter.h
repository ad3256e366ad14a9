// Emits what a thread of a launch computes.
#pragma once

#include "compiler/gpu/GridPlan.h"
#include "compiler/gpu/Specials.h"
#include "compiler/gpu/ThreadGroup.h"
#include "compiler/kernels/emit/SpecialEmitter.h"
#include "compiler/kernels/emit/StageEmitter.h"

namespace tfc::gpu {

/// Emits the loops of a thread, around KernelEmitter.
class GridEmitter : StageEmitter {
public:
  /// `partMemory` is memory for the parts of a sum of products or of reductions, if there are
  /// several, and for the links of a scatter.
  GridEmitter(KernelEmitter &emitter, const Grid &grid, ThreadGroup &group, mlir::Value partMemory)
      : StageEmitter(emitter, *grid.nest), grid(grid), group(group), partMemory(partMemory) {}

  /// The bytes of `partMemory` for reductions in parts.
  static mlir::AffineExpr partBytes(const Grid &end);

  /// Emits the work at a point of the grid's index space.
  void emit(llvm::ArrayRef<mlir::AffineExpr> point);

private:
  using Values = llvm::SmallVector<mlir::Value>;
  using Body = llvm::function_ref<Values(Values)>;

  /// A point that each thread computes.
  struct HeldPoint {
    mlir::AffineExpr index;
    mlir::Value isInside; // null if all threads have such a point
  };

  void makePoints();
  Values emitPoints(unsigned number, Values carried, Body body);
  Values emitLoops(llvm::ArrayRef<unsigned> numbers, Values carried, Body body);
  std::pair<mlir::Value, mlir::Value> boundsOf(unsigned number);
  Values emitReductions(const LoopSweep &sweep, Values carried, Body body);
  mlir::Value partAt(mlir::AffineExpr number, size_t accumulator);
  void storePart(const Values &accumulators);
  Values combineParts(const LoopSweep &sweep);
  Values emitSums(llvm::ArrayRef<unsigned> numbers, llvm::ArrayRef<mlir::Operation *> combiners,
                  Values carried, Body body);
  void emitEither(mlir::Value usesAll, bool isForAll, llvm::function_ref<void()> work);
  void emitSort(linalg_ext::SortOp op, llvm::ArrayRef<mlir::AffineExpr> point);
  void emitScatter(linalg_ext::ScatterOp op, llvm::ArrayRef<mlir::AffineExpr> point);
  void emitNeighbours(mlir::AffineExpr number);
  void emitSweep(const LoopSweep &sweep);
  void emitPointwise(const LoopSweep &sweep);
  Values accumulate(const LoopSweep &sweep, Values carried, bool withParallel);
  Values emitPoint(const LoopSweep &sweep, Values carried);
  void emitColumn(const LoopSweep &sweep);
  mlir::Value neutral(mlir::Operation *combiner);
  void wait();
  bool overwritesReads(const LoopStage &stage);
  bool isOwn(llvm::ArrayRef<unsigned> open);
  llvm::SmallDenseSet<mlir::Operation *> leftToFirst(const LoopSweep &sweep,
                                                     llvm::ArrayRef<unsigned> open);
  void store(const LoopStage &stage, llvm::ArrayRef<unsigned> open);
  void storeIf(mlir::Value condition, const LoopStage &stage);
  void storeAll(const LoopSweep &sweep, llvm::ArrayRef<unsigned> open, bool withReductions);

  const Grid &grid;
  ThreadGroup &group;
  mlir::Value partMemory;
  mlir::AffineExpr part; // the number of the part of reductions at hand, if they have parts
  /// The loop of the sweep at hand whose points are divided among the threads of the group.
  std::optional<unsigned> divided;
  llvm::SmallVector<HeldPoint> points;
  /// The point at hand, if its elements are held.
  const HeldPoint *point = nullptr;
  /// Stages to store at held points when all threads have read theirs.
  llvm::SmallVector<std::pair<const LoopStage *, const HeldPoint *>> postponed;
  /// Where the threads of the group have waited for each other; null if they have not.
  mlir::Operation *lastWait = nullptr;
};

} // namespace tfc::gpu
