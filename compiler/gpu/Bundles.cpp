// Finds grids that do not depend on each other.

#include "compiler/gpu/Bundles.h"

using namespace mlir;
using namespace tfc::gpu;
namespace kernel = tfc::kernel;

/// The most grids of a bundle: each thread looks for its own. Of more points the launch does not
/// matter, but the registers that others need would.
static constexpr size_t kMostGrids = 32;
static constexpr int64_t kMostPoints = 1 << 20;

namespace {

/// The memory that the launches of a bundle use, as the argument or the result that has it.
class BundleMemory {
public:
  BundleMemory(kernel::FuncOp kernel, const GridPlan &plan) : plan(plan) {
    for (OpOperand &operand : kernel.getBody().front().getTerminator()->getOpOperands())
      if (std::optional<unsigned> tensor = kernel.getInPlace(operand.getOperandNumber()))
        overwritten[operand.get()] = kernel.getArgument(kernel.getNumSizes() + *tensor);
  }

  /// Returns true if a grid neither reads nor writes what others write, nor writes what they read.
  bool isApart(const Grid &grid) const {
    bool isApart = true;
    visit(grid, [&](Value memory, bool isWritten) {
      isApart &= !written.contains(memory) && !(isWritten && read.contains(memory));
    });
    return isApart;
  }

  void add(const Grid &grid) {
    visit(grid, [&](Value memory, bool isWritten) { (isWritten ? written : read).insert(memory); });
  }

  void clear() {
    read.clear();
    written.clear();
  }

private:
  void visit(const Grid &grid, llvm::function_ref<void(Value, bool)> access) const {
    for (const LoopSweep *sweep : grid.sweeps)
      for (const LoopStage *stage : sweep->stages) {
        for (const Access &each : stage->footprint.reads)
          access(memoryOf(each.tensor), false);
        for (Value init : stage->generic().getDpsInits())
          access(memoryOf(init), false);
        for (Value result : stage->op->getResults())
          if (Storage storage = plan.storage(result);
              storage == Storage::Result || storage == Storage::Scratch)
            access(memoryOf(result), true);
      }
  }
  Value memoryOf(Value value) const {
    Value argument = overwritten.lookup(value);
    return argument ? argument : value;
  }

  const GridPlan &plan;
  llvm::DenseMap<Value, Value> overwritten; // by result, the argument in whose memory it is
  llvm::DenseSet<Value> read, written;
};

} // namespace

/// Threads of groups wait for each other, and so all threads of a block have the same grid.
static bool mayBundle(const Grid &grid) {
  return grid.kind == Grid::Kind::Sweeps && grid.groupThreads == 1 &&
         constantOf(grid.points()).value_or(kMostPoints + 1) <= kMostPoints;
}

std::vector<Bundle> tfc::gpu::bundleGrids(kernel::FuncOp kernel, const GridPlan &plan) {
  std::vector<Bundle> bundles;
  BundleMemory memory(kernel, plan);
  for (const Grid &grid : plan.getGrids()) {
    bool joins = mayBundle(grid) && !bundles.empty() && mayBundle(*bundles.back().back()) &&
                 bundles.back().size() < kMostGrids && memory.isApart(grid);
    if (!joins) {
      bundles.emplace_back();
      memory.clear();
    }
    bundles.back().push_back(&grid);
    if (mayBundle(grid))
      memory.add(grid);
  }
  return bundles;
}
