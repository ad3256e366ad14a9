// Emits the loops of a schedule's nests, and operations of linalg_ext, around KernelEmitter.
#pragma once

#include "compiler/cpu/KernelEmitter.h"
#include "compiler/cpu/KernelPlan.h"
#include "dialects/linalg_ext/LinalgExt.h"

namespace tfc::cpu {

/// Emits the loops of a scheduled nest.
class NestEmitter {
public:
  NestEmitter(KernelEmitter &emitter, const KernelPlan &plan, const Nest &nest);

  /// Number of units into which the nest can be split, over the kernel's sizes; 1 if it cannot be
  /// split.
  mlir::AffineExpr units() const;
  /// Arithmetic and memory traffic of one unit, in units of a simple operation.
  int64_t unitCost() const;
  /// Emits units [begin, end).
  void emit(mlir::Value begin, mlir::Value end);

private:
  using Values = llvm::SmallVector<mlir::Value>;
  using LoopBody = llvm::function_ref<Values(LoopDim, Values)>;
  using Body = llvm::function_ref<Values(Values)>;

  /// How a sweep is vectorized.
  struct Lanes {
    /// Lanes per vector and vectors per block.
    int64_t width = 1, unroll = 1;
    /// Rows that are computed per block (of the last parallel loop that is not vectorized).
    int64_t rows = 1;
    std::optional<unsigned> rowLoop;
    /// A loop that runs in tiles inside the vectorized loop, because reads are contiguous along it.
    std::optional<unsigned> tileLoop;
    int64_t block() const { return width * unroll; }
  };
  /// Emits one block along the lanes: `unroll` vectors, the last of them masked.
  using LaneBody = llvm::function_ref<Values(int64_t unroll, Values)>;

  Lanes lanesOf(const LoopSweep &sweep) const;
  void tileRows(const LoopSweep &sweep, Lanes &lanes) const;
  void tileTransposed(const LoopSweep &sweep, Lanes &lanes) const;
  std::optional<unsigned> unitLoop() const;
  llvm::SmallVector<unsigned> loopOrder(const LoopSweep &sweep) const;

  Values emitFor(mlir::Value lower, mlir::Value upper, int64_t step, Values carried, LoopBody body);
  Values emitLoops(llvm::ArrayRef<unsigned> loops, Values carried, Body body);
  Values emitSums(llvm::ArrayRef<unsigned> loops, llvm::ArrayRef<mlir::Operation *> combiners,
                  Values carried, Body body);
  Values emitLanes(const LoopSweep &sweep, const Lanes &lanes, Values carried, LaneBody body);
  void emitRows(const Lanes &lanes, llvm::ArrayRef<unsigned> loops,
                llvm::function_ref<void(int64_t)> body);
  std::pair<mlir::Value, mlir::Value> bounds(unsigned loop);

  void emitSweep(const LoopSweep &sweep);
  void emitPointwise(const LoopSweep &sweep);
  void emitTiles(const LoopSweep &sweep, const Lanes &lanes, llvm::SmallVector<unsigned> around);
  Values pointwiseBlock(const LoopSweep &sweep, const Lanes &lanes, int64_t unroll, Values carried);
  void finishRowReductions(const LoopSweep &sweep, const Lanes &lanes, Values carried);
  void emitColumn(const LoopSweep &sweep);
  void columnBlock(const LoopSweep &sweep, int64_t rows, int64_t unroll);
  void emitContractionSweep(const LoopSweep &sweep);

  llvm::SmallVector<mlir::AffineExpr> loopsAt(const LoopStage &stage);
  llvm::SmallVector<mlir::AffineExpr> resultAt(const LoopStage &stage, unsigned number);
  void evaluateParallel(const LoopStage &stage);
  void storeStage(const LoopStage &stage);

  KernelEmitter &e;
  mlir::OpBuilder &b;
  mlir::Location loc;
  const Schedule &schedule;
  const Nest &nest;
  /// How the nest is emitted if it is a product; null for other nests.
  const ContractionPlan *product;
  /// The nest's open loops as expressions of the emitter's dims.
  llvm::SmallVector<mlir::AffineExpr> loops;
  mlir::Value unitBegin, unitEnd;
};

/// Combines vectors, and then their lanes, by `combiner` in a fixed tree.
mlir::Value combineTree(mlir::OpBuilder &b, mlir::Location loc, mlir::Operation *combiner,
                        llvm::SmallVector<mlir::Value> vectors);
/// Applies `combiner` to two values of its operands' type, or to vectors of it.
mlir::Value combine(mlir::OpBuilder &b, mlir::Location loc, mlir::Operation *combiner,
                    mlir::Value lhs, mlir::Value rhs);

/// Emits `body` at each point of an index space; the indices of the point are appended to
/// `indices`.
void forEachPoint(KernelEmitter &emitter, llvm::ArrayRef<mlir::AffineExpr> sizes,
                  llvm::SmallVector<mlir::AffineExpr> &indices, llvm::function_ref<void()> body);

void emitSort(KernelEmitter &emitter, linalg_ext::SortOp op);

/// Temporary memory for the code of an operation: `count` elements, over the kernel's sizes.
struct Workspace {
  mlir::Type elementType;
  mlir::AffineExpr count;
};
llvm::SmallVector<Workspace> workspaceOf(KernelShapes &shapes, mlir::Operation *op);

/// Emits an operation of linalg_ext whose results have buffers.
mlir::LogicalResult emitSpecial(KernelEmitter &emitter, mlir::Operation *op);

} // namespace tfc::cpu
