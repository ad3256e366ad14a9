//===- Order.h - Order of the steps of an entry ---------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "llvm/ADT/SetVector.h"

namespace tfc::memory {

/// Returns true for a check of what a device with memory of its own computes: to read it, the host
/// waits for everything that it has launched.
bool isLateCheck(mlir::Operation *step);

/// The steps of a block and their dependences.
class StepGraph {
public:
  /// `sizes` are those of the entry that contains the block.
  StepGraph(mlir::Block &block, const dfg::RunTimeSizes &sizes);

  llvm::ArrayRef<mlir::Operation *> getSteps() const { return steps; }
  unsigned numberOf(mlir::Operation *step) const { return numbers.lookup(step); }

  /// Returns true if `to` is `from` or must run after it.
  bool reaches(mlir::Operation *from, mlir::Operation *to) const;
  void runBefore(mlir::Operation *first, mlir::Operation *second);

  /// Returns the steps that can fail and the steps that they depend on.
  llvm::SmallDenseSet<mlir::Operation *> neededByChecks() const;

  /// The values that a step reads, by their roots, without duplicates.
  using Roots = llvm::SmallSetVector<mlir::Value, 8>;
  const Roots &rootsReadBy(mlir::Operation *step) const { return reads[numberOf(step)]; }

  /// Returns an order that keeps memory use low: a step that frees about as much memory as it
  /// allocates runs as soon as possible; otherwise the block's order is kept. Before a send that
  /// precedes it in the block, a step runs only if it frees memory. `bytes` returns the size of a
  /// value in the arena, or 0 for values elsewhere. Checks for which the host waits for a device
  /// run when nothing else can.
  std::vector<mlir::Operation *> order(llvm::function_ref<int64_t(mlir::Value)> bytes) const;

private:
  void waitForSizes(mlir::Block &block, const dfg::RunTimeSizes &sizes);
  void keepMessagesInOrder();
  void keepEffectsInOrder();
  void keepChecksInOrder();
  void runChecksBefore(llvm::ArrayRef<mlir::Operation *> effects);
  void readVariablesLate();

  std::vector<mlir::Operation *> steps; // in the block's order
  std::vector<Roots> reads;             // of each step
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
  std::vector<llvm::SmallVector<unsigned, 4>> after, before;
};

} // namespace tfc::memory
