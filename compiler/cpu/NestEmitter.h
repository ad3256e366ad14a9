// Emits the loops of a schedule's nests around KernelEmitter.
#pragma once

#include "compiler/cpu/KernelPlan.h"
#include "compiler/kernels/emit/SpecialEmitter.h"
#include "compiler/kernels/emit/StageEmitter.h"

namespace tfc::cpu {

/// Emits the loops of a scheduled nest.
class NestEmitter : StageEmitter {
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
    /// True if whole tiles are transposed in registers.
    bool transposes = false;
    /// True if the rows are points of a reduction over windows, whose taps are unrolled.
    bool unrollsTaps = false;
    /// The loop around rows of a few elements along which lanes run in place of the lane loop.
    std::optional<unsigned> interleaved;
    int64_t block() const { return width * unroll; }
  };
  /// Emits one block along the lanes: `unroll` vectors, the last of them masked.
  using LaneBody = llvm::function_ref<Values(int64_t unroll, Values)>;

  Lanes lanesOf(const LoopSweep &sweep) const;
  bool tileRows(const LoopSweep &sweep, Lanes &lanes) const;
  void widenColumns(const LoopSweep &sweep, Lanes &lanes, std::optional<int64_t> size) const;
  /// Tiles a sweep that reads across cache lines.
  void tileTransposed(const LoopSweep &sweep, Lanes &lanes) const;
  void interleaveRows(const LoopSweep &sweep, Lanes &lanes) const;
  bool tileWindows(const LoopSweep &sweep, Lanes &lanes) const;
  int64_t periodOf(const LoopSweep &sweep, unsigned loop) const;
  llvm::SmallVector<int64_t> cutsOf(const LoopSweep &sweep, unsigned loop, int64_t step) const;
  std::optional<unsigned> unitLoop() const;
  int64_t pointsPerUnit(unsigned loop) const;
  llvm::SmallVector<unsigned> loopOrder(const LoopSweep &sweep) const;

  Values emitLoops(llvm::ArrayRef<unsigned> loops, Values carried, Body body);
  Values emitSums(llvm::ArrayRef<unsigned> loops, llvm::ArrayRef<mlir::Operation *> combiners,
                  Values carried, Body body);
  llvm::SmallVector<int64_t> changesAlong(const LoopSweep &sweep, unsigned loop, int64_t first,
                                          int64_t last) const;
  Values emitLanes(const LoopSweep &sweep, const Lanes &lanes, Values carried, LaneBody body);
  void emitRows(const Lanes &lanes, llvm::ArrayRef<unsigned> loops,
                llvm::function_ref<void(int64_t)> body);
  void emitWindows(const LoopSweep &sweep, const Lanes &lanes);
  void emitWindowRows(const LoopSweep &sweep, const Lanes &lanes, llvm::ArrayRef<unsigned> loops,
                      int64_t rows, llvm::function_ref<void(int64_t)> body);
  Values unrollLoops(llvm::ArrayRef<unsigned> loops, Values carried, Body body);
  std::pair<mlir::Value, mlir::Value> bounds(unsigned loop);

  void emitSweep(const LoopSweep &sweep);
  void emitPointwise(const LoopSweep &sweep);
  void emitTiles(const LoopSweep &sweep, const Lanes &lanes, llvm::SmallVector<unsigned> around);
  Values rowByRow(const LoopSweep &sweep, const Lanes &lanes, mlir::Value from, mlir::Value to);
  mlir::Value emitTransposed(const LoopSweep &sweep, const Lanes &lanes, mlir::Value lower,
                             mlir::Value upper);
  void transposedTile(const LoopSweep &sweep, const Lanes &lanes, LoopDim tile);
  void emitInterleaved(const LoopSweep &sweep, const Lanes &lanes);
  void emitRowsAlongLanes(const LoopSweep &sweep, mlir::Value from, mlir::Value to,
                          std::optional<IndexRange> range);
  Values pointwiseBlock(const LoopSweep &sweep, const Lanes &lanes, int64_t unroll, Values carried);
  void finishRowReductions(const LoopSweep &sweep, const Lanes &lanes, Values carried);
  void emitColumn(const LoopSweep &sweep);
  void columnBlock(const LoopSweep &sweep, int64_t rows, int64_t unroll);
  void emitContractionSweep(const LoopSweep &sweep);

  const Target &target;
  const Schedule &schedule;
  /// How the nest is emitted if it is a product; null for other nests.
  const ContractionPlan *product;
  /// The blocks of an attention kernel; null for other kernels.
  const AttentionPlan *attention;
  mlir::Value unitBegin, unitEnd;
  /// The block along the lanes that is being emitted, of a sweep in tiles.
  std::optional<std::pair<mlir::Value, mlir::Value>> laneBlock;
  /// The block of rows of windows that is being emitted.
  std::optional<std::pair<mlir::Value, mlir::Value>> rowBlock;
};

} // namespace tfc::cpu
