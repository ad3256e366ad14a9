//===- Commits.h - Where partitions agree on failed checks ----------------===//

#pragma once

#include "compiler/partition/DeviceSets.h"

namespace tfc::partition {

/// The places at which each partition of an entry has a `dfg.commit`: before operations on queues,
/// which stand when the call fails; after them, if another device reads variables, which other
/// calls may have changed; and in the body after everything that can fail.
class Commits {
public:
  Commits(dfg::EntryOp entry, const DeviceSets &sets);

  bool isNeeded() const { return last; }
  bool isBefore(mlir::Operation *op) const { return before.contains(op); }
  bool isAfter(mlir::Operation *op) const { return op == last || afterQueues.contains(op); }
  bool isAfterQueue(mlir::Operation *op) const { return afterQueues.contains(op); }

private:
  /// Adds commits before operations on queues. `failing` are the devices with checks since the last
  /// commit.
  void visit(mlir::Block &block, llvm::SmallBitVector &failing);
  void visitRegions(mlir::Operation *op, llvm::SmallBitVector &failing);

  const DeviceSets &sets;
  llvm::SmallDenseSet<mlir::Operation *> before, afterQueues;
  mlir::Operation *last = nullptr;
};

} // namespace tfc::partition
