// The schedule of a kernel: which operations have loops and memory, and which loops they share.
#pragma once

#include "compiler/kernels/AttentionForm.h"
#include "compiler/kernels/KernelShapes.h"

namespace tfc::kernels {

// Lanes are points of a loop that are computed together: the lanes of a vector on a CPU, the
// threads of a warp on a GPU. On both they should access neighbouring elements.

/// A memory read of a stage: `tensor` at `indices`, which are expressions over the stage's loops
/// (dims), the kernel's sizes (symbols) and, for data-dependent indices, further symbols.
struct Access {
  mlir::Value tensor;
  llvm::SmallVector<mlir::AffineExpr> indices;
};

/// A condition on the loops of a stage: `index` is at least 0 and, unless that is null, less than
/// `size`.
struct BoundsCheck {
  mlir::AffineExpr index, size;
};

/// The work at one point of a stage's loops, including that of producers computed in place.
struct Footprint {
  llvm::SmallVector<Access> reads;
  /// Loop expressions whose values the bodies use (linalg.index).
  llvm::SmallVector<mlir::AffineExpr> indexUses;
  /// Checks on which the bodies' values depend.
  llvm::SmallVector<BoundsCheck> checks;
  /// Tensors computed in place.
  llvm::SmallVector<Access> inlined;
  /// Arithmetic cost, in units of a simple operation.
  int64_t cost = 0;

  /// Adds the tensors that it reads and that are no scalars.
  void addTensors(llvm::DenseSet<mlir::Value> &tensors) const;
};

/// Independent stages share loops as long as they access at most this many tensors.
inline constexpr unsigned kMaxStreams = 24;

/// An operation whose results are materialized: a generic or an operation of linalg_ext.
struct LoopStage {
  mlir::Operation *op;
  Footprint footprint;
  /// Extents of its loops; empty for operations other than generics.
  llvm::SmallVector<mlir::AffineExpr> sizes;
  /// Loops in the order of the (first) result's dimensions.
  llvm::SmallVector<unsigned> parallelLoops;
  llvm::SmallVector<unsigned> reductionLoops;
  /// The loop along which lanes run, if any.
  std::optional<unsigned> laneLoop;
  /// True if it is a product that the target emits with a dedicated emitter.
  bool isProduct = false;
  /// Its loops as expressions over the nest's loops (dims), outermost first.
  llvm::SmallVector<mlir::AffineExpr> loops;

  mlir::linalg::GenericOp generic() const { return llvm::dyn_cast<mlir::linalg::GenericOp>(op); }
  bool isParallel() const { return generic() && reductionLoops.empty(); }
  /// Returns true if lanes run along a reduction loop, so that the lanes are combined at the
  /// end.
  bool isRowReduction() const { return laneLoop && llvm::is_contained(reductionLoops, *laneLoop); }
};

/// Stages that run in the same inner loops.
struct LoopSweep {
  enum class Kind {
    /// Parallel stages and row reductions, all at each point of the loops.
    Pointwise,
    /// Reductions over the same space, one accumulator per lane, followed by parallel stages on
    /// their results.
    Column,
    Contraction,
    /// All of an attention kernel.
    Attention,
    /// One linalg_ext operation.
    Special,
  };
  Kind kind;
  llvm::SmallVector<LoopStage *> stages;
  /// Inner loops, as numbers of the nest's loops. The first `numParallel` surround the accumulators
  /// of the reductions; the others are inside.
  llvm::SmallVector<unsigned> loops;
  unsigned numParallel = 0;
  /// Number of the nest's loop along which lanes run, if any.
  std::optional<unsigned> laneLoop;
  std::optional<ContractionNest> product;
  std::optional<AttentionForm> attention;

  /// The loops around the accumulators, and those inside.
  llvm::ArrayRef<unsigned> around() const {
    return llvm::ArrayRef<unsigned>(loops).take_front(numParallel);
  }
  llvm::ArrayRef<unsigned> inside() const {
    return llvm::ArrayRef<unsigned>(loops).drop_front(numParallel);
  }
};

/// Loops around one or more sweeps.
struct Nest {
  /// Extents of all loops used by the sweeps.
  llvm::SmallVector<mlir::AffineExpr> sizes;
  /// Loops around all sweeps.
  llvm::SmallVector<unsigned> outer;
  llvm::SmallVector<LoopStage *> stages;
  std::vector<LoopSweep> sweeps;
};

/// Where a materialized value lives.
enum class Storage {
  /// The kernel's result.
  Result,
  /// A register: one element at each point of the loops that its readers share.
  Register,
  /// The stack: what one iteration of the outer loops produces.
  Stack,
  Scratch,
};

/// The properties of the target that a schedule depends on.
struct ScheduleOptions {
  /// True if sums of products have a dedicated emitter.
  bool emitsProducts = true;
  /// Maximum number of elements of a value that is kept on the stack.
  int64_t stackElements = 4096;
  /// Says which sums of products the emitter takes; null if all.
  bool (*takesProduct)(mlir::linalg::GenericOp op, const ContractionForm &form) = nullptr;
  /// Says which attention kernels have an emitter; null if none.
  bool (*takesAttention)(const AttentionForm &form) = nullptr;
  /// Says which operations are not computed, because the emitter of the products that read their
  /// results reads their operands instead; null if none.
  bool (*isReadByProducts)(mlir::linalg::GenericOp op) = nullptr;
};

/// How a kernel is computed: which operations get loops and memory, and which loops they share.
class Schedule {
public:
  Schedule(KernelShapes &shapes, const ScheduleOptions &options);

  /// Returns true if the kernel could not be scheduled; the error has been reported.
  bool failed() const { return hasFailed; }

  const ScheduleOptions &getOptions() const { return options; }
  llvm::ArrayRef<Nest> nests() const { return allNests; }
  /// Returns true if the kernel is one sweep of an attention.
  bool isAttention() const {
    return !allNests.empty() && allNests.front().sweeps.front().attention.has_value();
  }
  /// Returns true if a nest reads what another nest writes. The nests then run one after the other
  /// and are not split among threads.
  bool isSerial() const { return serial; }
  /// The storage of a stage's result.
  Storage storage(mlir::Value value) const { return places.lookup(value); }
  /// Returns the stage that computes `op`, or null if `op` is computed in place.
  const LoopStage *stage(mlir::Operation *op) const { return stageOf.lookup(op); }
  /// Returns the numbers of the nest and of the sweep in it that compute a stage.
  std::pair<unsigned, unsigned> position(const LoopStage *stage) const {
    return positions.lookup(stage);
  }
  /// Returns the dimensions of a stack value for which memory is allocated; the other dimensions
  /// are fixed by the loops around the sweeps that write and read it.
  llvm::ArrayRef<unsigned> innerDims(mlir::Value value) const {
    return innerDimsOf.find(value)->second;
  }
  /// Returns the indices at which a stage writes result `number`, over its nest's loops.
  static llvm::SmallVector<mlir::AffineExpr> resultIndices(const LoopStage &stage, unsigned number);
  /// Returns the indices of a read, over the loops of the stage's nest.
  static llvm::SmallVector<mlir::AffineExpr> readIndices(const LoopStage &stage,
                                                         const Access &access);

private:
  // Defined in Schedule.cpp.
  bool formAttention();
  bool isReadByProducts(mlir::Operation *op) const;
  void chooseStages();
  bool addCostlyProducer();
  void addStage(mlir::Operation *op);
  void findInnerDims();
  void chooseStorage();
  mlir::LogicalResult checkShapes();

  // Defined in Nests.cpp.
  bool hasEmitter(mlir::linalg::GenericOp op) const;
  void placeStage(LoopStage &stage);
  std::optional<unsigned> nestOf(mlir::Value value) const;
  bool join(Nest &nest, LoopStage &stage);
  bool joinSibling(Nest &nest, LoopStage &stage);
  void formSweeps(Nest &nest);
  bool formFullSweep(Nest &nest);
  void formProduct(LoopSweep &sweep);
  bool joinSweep(Nest &nest, LoopSweep &sweep, LoopStage &stage, llvm::ArrayRef<unsigned> inner);
  void addSweep(Nest &nest, LoopStage &stage, llvm::ArrayRef<unsigned> inner);
  void chooseLaneLoop(Nest &nest, LoopSweep &sweep);
  void dropUnitLoops(Nest &nest);
  void collapseLoops(Nest &nest);
  bool collapsible(llvm::ArrayRef<LoopStage *> users, const Nest &nest, unsigned outer,
                   unsigned inner);

  KernelShapes &shapes;
  ScheduleOptions options;
  llvm::SmallVector<std::unique_ptr<LoopStage>> stages;
  llvm::DenseMap<mlir::Operation *, LoopStage *> stageOf;
  std::vector<Nest> allNests;
  llvm::DenseMap<const LoopStage *, std::pair<unsigned, unsigned>> positions;
  llvm::DenseMap<mlir::Value, Storage> places;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned>> innerDimsOf;
  bool serial = false;
  bool hasFailed = false;
};

/// Returns the combiners of a sweep's reductions if all of them are sums that round, else nothing.
llvm::SmallVector<mlir::Operation *> sumsOf(const LoopSweep &sweep);

/// Computes what `op` reads at a point of its loops; `isStage` says which producers are
/// materialized.
Footprint footprintOf(mlir::linalg::GenericOp op,
                      llvm::function_ref<bool(mlir::Operation *)> isStage);

/// Returns a rough cost of one operation in units of a simple one; loads are not counted.
int64_t costOf(mlir::Operation *op);

/// Returns true for quotients and remainders, which are expensive, and trap if an integer is
/// divided by zero.
bool isDivision(mlir::Operation *op);

/// Returns the offset of an element in a dense row-major tensor.
mlir::AffineExpr denseOffset(KernelShapes &shapes, mlir::Value tensor,
                             llvm::ArrayRef<mlir::AffineExpr> indices);

/// Rates how suitable a loop of a stage is for lanes; contiguous accesses raise the score.
int64_t laneScore(KernelShapes &shapes, const LoopStage &stage, unsigned loop);

/// The same as footprintOf for an operation of linalg_ext, which may read any element of its
/// operands.
Footprint specialFootprint(mlir::Operation *op,
                           llvm::function_ref<bool(mlir::Operation *)> isStage);

/// Returns the operation that combines the accumulator of result `number` of `op` with a new value,
/// or null if the result is not computed in this form.
mlir::Operation *combinerOf(mlir::linalg::GenericOp op, unsigned number);

} // namespace tfc::kernels
