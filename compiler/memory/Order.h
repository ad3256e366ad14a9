//===- Order.h - In which order the steps of an entry run -----------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "llvm/ADT/SetVector.h"

namespace tfc::memory {

/// The steps of a block and what must run before what.
class StepGraph {
public:
  explicit StepGraph(mlir::Block &block);

  llvm::ArrayRef<mlir::Operation *> getSteps() const { return steps; }
  unsigned numberOf(mlir::Operation *step) const { return numbers.lookup(step); }

  /// Whether `to` must run after `from`, or is it.
  bool reaches(mlir::Operation *from, mlir::Operation *to) const;
  void runBefore(mlir::Operation *first, mlir::Operation *second);

  /// Steps that can fail, and those that they need.
  llvm::SmallDenseSet<mlir::Operation *> neededByChecks() const;

  /// The values that a step reads, each once, by their roots.
  using Roots = llvm::SmallSetVector<mlir::Value, 8>;
  const Roots &rootsReadBy(mlir::Operation *step) const { return reads[numberOf(step)]; }

  /// An order that keeps memory low: a step that frees about as much as it allocates runs as soon
  /// as it can, else the block's order decides. `bytes` gives the size of a value in the arena, 0
  /// for values elsewhere.
  std::vector<mlir::Operation *> order(llvm::function_ref<int64_t(mlir::Value)> bytes) const;

private:
  void waitForSizes(mlir::Block &block);
  void keepEffectsInOrder();
  void readVariablesLate();

  std::vector<mlir::Operation *> steps; // in the block's order
  std::vector<Roots> reads;             // of each step
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
  std::vector<llvm::SmallVector<unsigned, 4>> after, before;
};

} // namespace tfc::memory
