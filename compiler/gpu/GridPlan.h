//===- GridPlan.h - How a GPU computes a kernel ---------------------------===//
//
// The launches of a kernel: what annotation and code generation depend on. The
// pass manager preserves it between the two passes.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "compiler/gpu/ScanEmitter.h"
#include "compiler/gpu/TiledAttention.h"
#include "compiler/gpu/Transposition.h"
#include "compiler/kernels/Schedule.h"
#include "mlir/Pass/AnalysisManager.h"

namespace tfc::gpu {

// Shapes, schedules and the code of elements are shared by all targets.
using namespace kernels;

/// A launch: what is computed for each point of an index space, by a thread or a group of threads.
/// Values pass from one group to another where a launch ends.
struct Grid {
  enum class Kind {
    /// Sweeps of a nest, one after the other.
    Sweeps,
    /// A sweep whose reductions another launch has computed in parts.
    PartEnd,
    /// A line of a scan or a sort.
    Line,
    /// A line of a scan, or a part of one, which a group of threads scans.
    Scan,
    /// A part of such a line, which a group adds up.
    ScanTotal,
    /// A tile of a sum of products.
    Tile,
    /// An element of such a sum whose parts other launches have computed.
    PartSum,
    /// Rows of the scores of an attention kernel.
    Attention,
    /// An element of a scatter's operand, copied to the result.
    Copy,
    /// An element of the rows that a scatter updates, by all updates in order.
    Update,
    /// An update, which looks for the next one of its row.
    Link,
    /// An element of an update, which makes those of all updates of its row if it is the first.
    Chain,
    /// A key of a sort, which looks for its place.
    Rank,
    /// A place of a sort, if there is no key for it.
    Rest,
  };
  Kind kind = Kind::Sweeps;
  const Nest *nest = nullptr;
  llvm::SmallVector<const LoopSweep *> sweeps;
  /// The loops of the nest that make the index space; those of other kinds have none.
  llvm::SmallVector<unsigned> loops;
  /// The extents of the index space. Neighbouring threads are neighbours in the last of them.
  llvm::SmallVector<mlir::AffineExpr> sizes;
  /// The number of threads that compute a point together.
  int64_t groupThreads = 1;
  /// The distance of these threads in their block, which computes as many points. They take turns
  /// along a reduction then, and neighbouring threads access neighbouring points.
  int64_t groupStride = 1;
  /// If set, groups compute parts of reductions: the index space begins with the number of a part.
  struct Parts {
    mlir::AffineExpr count;
    unsigned loop;  // the reduction loop that is cut
    int64_t extent; // in its points; the last part may have fewer
  };
  std::optional<Parts> parts;
  /// The number of points of a divided loop that each thread computes, if it keeps their elements
  /// in registers from one sweep to the next; else 0.
  int64_t heldPoints = 0;
  /// The number of neighbours along the last loop that a thread computes, whose elements it
  /// accesses together; 1 unless a point is a thread's. With held points, those among them.
  int64_t neighbours = 1;
  std::optional<TiledProduct> product;
  std::optional<TiledAttention> attention;
  std::optional<ScanShape> scan;
  /// If set, a point is a square along the last two loops, those of reads and of stores.
  std::optional<Transposition> transposition;

  /// The number of points of the index space.
  mlir::AffineExpr points() const;
  /// Returns the loop of a sweep whose points are divided among the threads of a group; none if
  /// each thread runs all of the sweep's loops.
  std::optional<unsigned> dividedLoop(const LoopSweep &sweep) const;
};

/// The analysis of a prepared `kernel.func`.
class GridPlan {
public:
  explicit GridPlan(mlir::Operation *kernel);
  GridPlan(const GridPlan &) = delete;

  bool isInvalidated(const mlir::AnalysisManager::PreservedAnalyses &preserved) const {
    return !preserved.isPreserved<kernel::BodyAnalyses>();
  }

  /// Returns true if the kernel could not be scheduled; the error has been reported.
  bool failed() const { return schedule.failed(); }

  KernelShapes &getShapes() { return shapes; }
  const Schedule &getSchedule() const { return schedule; }
  llvm::ArrayRef<Grid> getGrids() const { return grids; }

  /// The storage of a stage's result: that of the schedule, scratch memory if another launch reads
  /// it, or a register if a thread holds it. Of values on the stack each thread has its own.
  Storage storage(mlir::Value value) const;

private:
  void divide(const Nest &nest);
  void formGroups(Grid &grid);
  bool transpose(Grid &grid);
  int64_t neighboursAlong(const LoopSweep &sweep, unsigned loop);
  void joinHeldPoints(Grid &grid);
  void joinNeighbours(Grid &grid);
  void divideReductions(Grid &grid);
  void addSpecial(const Nest &nest, mlir::Operation *op);
  bool addScan(const Nest &nest, linalg_ext::ScanOp op);
  void addTiles(const Nest &nest);
  void addAttention(const Nest &nest);
  void findShared();
  void findHeld();

  KernelShapes shapes;
  Schedule schedule;
  std::vector<Grid> grids;
  /// Values that one launch of a nest makes and another reads.
  llvm::DenseSet<mlir::Value> shared;
  /// Values that only the thread which makes an element reads, from a register.
  llvm::DenseSet<mlir::Value> held;
};

/// Returns true if a target is a GPU.
inline bool isForGpu(kernel::TargetAttr target) { return target.isGpu(); }

} // namespace tfc::gpu
