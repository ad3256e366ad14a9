#pragma once

#include "compiler/kernels/ContractionForm.h"
#include "compiler/kernels/KernelShapes.h"

namespace tfc::kernels {

/// A read of memory by a stage: `tensor` at `indices`, which are over the stage's loops (dims), the
/// kernel's sizes (symbols) and, where computed from data, further symbols.
struct Access {
  mlir::Value tensor;
  llvm::SmallVector<mlir::AffineExpr> indices;
};

/// What happens at one point of a stage's loops, producers computed in place included.
struct Footprint {
  llvm::SmallVector<Access> reads;
  /// Loop expressions whose value the bodies use (linalg.index).
  llvm::SmallVector<mlir::AffineExpr> indexUses;
  /// Tensors computed in place.
  llvm::SmallVector<Access> inlined;
  /// Arithmetic, in units of a simple operation.
  int64_t cost = 0;
};

/// An operation whose results are materialised: a generic, or one of linalg_ext.
struct Stage {
  mlir::Operation *op;
  Footprint footprint;
  /// Its loops' extents; empty for others than generics.
  llvm::SmallVector<mlir::AffineExpr> sizes;
  /// Loops in the order of the (first) result's dimensions.
  llvm::SmallVector<unsigned> parallelLoops;
  llvm::SmallVector<unsigned> reductionLoops;
  /// The loop that runs along the lanes, or none.
  std::optional<unsigned> vectorLoop;
  /// Whether it is a product that the target emits by code of its own.
  bool isProduct = false;
  /// Its loops as expressions over the nest's loops (dims), outer ones first.
  llvm::SmallVector<mlir::AffineExpr> loops;

  mlir::linalg::GenericOp generic() const { return llvm::dyn_cast<mlir::linalg::GenericOp>(op); }
  bool isParallel() const { return generic() && reductionLoops.empty(); }
  /// Whether the lanes run along a reduction: lanes are combined at the end.
  bool isRowReduction() const {
    return vectorLoop && llvm::is_contained(reductionLoops, *vectorLoop);
  }
};

/// Stages that run in the same inner loops.
struct Sweep {
  enum class Kind {
    /// Parallel stages and row reductions at each point of the loops.
    Pointwise,
    /// Reductions of one space, each lane for itself, then parallel stages on what they give.
    Column,
    Contraction,
    /// One linalg_ext operation.
    Special,
  };
  Kind kind;
  llvm::SmallVector<Stage *> stages;
  /// Inner loops: numbers of the nest's loops. The first `numParallel` are around the accumulators
  /// of the reductions, the others run with them.
  llvm::SmallVector<unsigned> loops;
  unsigned numParallel = 0;
  /// Number of the nest's loop along the lanes, or none.
  std::optional<unsigned> vectorLoop;
  std::optional<ContractionNest> product;
};

/// Loops around one or more sweeps.
struct Nest {
  /// Extents of all loops that its sweeps use.
  llvm::SmallVector<mlir::AffineExpr> sizes;
  /// Loops around all sweeps.
  llvm::SmallVector<unsigned> outer;
  llvm::SmallVector<Stage *> stages;
  std::vector<Sweep> sweeps;
};

/// Where a materialised value lives.
enum class Storage {
  /// The kernel's result.
  Result,
  /// A register: one element per iteration of the outer loops.
  Register,
  /// The stack: what one iteration of the outer loops makes.
  Stack,
  Scratch,
};

/// What a schedule depends on of the target.
struct ScheduleOptions {
  /// Whether sums of products have an emitter of their own.
  bool emitsProducts = true;
  /// Elements up to which a value of a unit lives on the stack.
  int64_t stackElements = 4096;
};

/// How a kernel is computed: which operations get loops and memory, and which loops they share.
class Schedule {
public:
  Schedule(KernelShapes &shapes, const ScheduleOptions &options);

  /// Whether the kernel could not be scheduled; it was reported.
  bool failed() const { return hasFailed; }

  llvm::ArrayRef<Nest> nests() const { return allNests; }
  /// Whether a nest reads what another one makes: then they run one after the other, uncut.
  bool isSerial() const { return serial; }
  /// The storage of a stage's result.
  Storage storage(mlir::Value value) const { return places.lookup(value); }
  /// The stage that computes `op`, or null where it is computed in place.
  const Stage *stage(mlir::Operation *op) const { return stageOf.lookup(op); }
  /// The nest and the sweep in it that computes a stage.
  std::pair<unsigned, unsigned> position(const Stage *stage) const {
    return positions.lookup(stage);
  }
  /// The dimensions of a stack value that its memory has: the loops around the sweeps that make and
  /// read it fix the others.
  llvm::ArrayRef<unsigned> innerDims(mlir::Value value) const {
    return innerDimsOf.find(value)->second;
  }
  /// The indices at which a stage writes result `number`, over its nest's loops.
  static llvm::SmallVector<mlir::AffineExpr> resultIndices(const Stage &stage, unsigned number);
  /// The indices of a read, over the loops of the stage's nest.
  static llvm::SmallVector<mlir::AffineExpr> readIndices(const Stage &stage, const Access &access);

private:
  // In Schedule.cpp.
  void chooseStages();
  bool addCostlyProducer();
  void addStage(mlir::Operation *op);
  void findInnerDims();
  void chooseStorage();
  mlir::LogicalResult checkShapes();

  // In Nests.cpp.
  void placeStage(Stage &stage);
  std::optional<unsigned> nestOf(mlir::Value value) const;
  bool join(Nest &nest, Stage &stage);
  bool joinSibling(Nest &nest, Stage &stage);
  void formSweeps(Nest &nest);
  bool formFullSweep(Nest &nest);
  void formProduct(Sweep &sweep);
  bool joinSweep(Nest &nest, Sweep &sweep, Stage &stage, llvm::ArrayRef<unsigned> inner);
  void addSweep(Nest &nest, Stage &stage, llvm::ArrayRef<unsigned> inner);
  void chooseVectorLoop(Nest &nest, Sweep &sweep);
  void dropUnitLoops(Nest &nest);
  void collapseLoops(Nest &nest);
  bool collapsible(llvm::ArrayRef<Stage *> users, const Nest &nest, unsigned outer, unsigned inner);

  KernelShapes &shapes;
  ScheduleOptions options;
  llvm::SmallVector<std::unique_ptr<Stage>> stages;
  llvm::DenseMap<mlir::Operation *, Stage *> stageOf;
  std::vector<Nest> allNests;
  llvm::DenseMap<const Stage *, std::pair<unsigned, unsigned>> positions;
  llvm::DenseMap<mlir::Value, Storage> places;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned>> innerDimsOf;
  bool serial = false;
  bool hasFailed = false;
};

/// Walks what `op` reads at a point of its loops; `isStage` says which producers have memory.
Footprint footprintOf(mlir::linalg::GenericOp op,
                      llvm::function_ref<bool(mlir::Operation *)> isStage);

/// The offset of an element in a dense row-major tensor.
mlir::AffineExpr denseOffset(KernelShapes &shapes, mlir::Value tensor,
                             llvm::ArrayRef<mlir::AffineExpr> indices);

/// How well a loop of a stage runs along the lanes: contiguous accesses count for it.
int64_t laneScore(KernelShapes &shapes, const Stage &stage, unsigned loop);

/// The same for an operation of linalg_ext, which may read any element of its operands.
Footprint specialFootprint(mlir::Operation *op,
                           llvm::function_ref<bool(mlir::Operation *)> isStage);

/// The operation that combines an accumulator of `op`'s result `number` with the rest, or null
/// where the result is not of this form.
mlir::Operation *combinerOf(mlir::linalg::GenericOp op, unsigned number);

} // namespace tfc::kernels
