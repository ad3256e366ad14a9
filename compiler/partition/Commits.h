//===- Commits.h - Where partitions agree on failed checks ----------------===//

#pragma once

#include "compiler/partition/DeviceSets.h"

namespace tfc::partition {

/// The places in the body of an entry at which each of its partitions has a `dfg.commit`: before
/// operations on queues, which stand when the call fails, and after everything that can fail.
class Commits {
public:
  Commits(dfg::EntryOp entry, const dfg::FreeValues &free, const DeviceSets &sets);

  bool isNeeded() const { return last || !before.empty(); }
  bool isBefore(mlir::Operation *op) const { return before.contains(op); }
  bool isAfter(mlir::Operation *op) const { return op == last; }

private:
  /// Adds the devices on which operations of `op` can fail, and on which they change variables.
  void addConcerned(mlir::Operation *op, llvm::SmallBitVector &failing,
                    llvm::SmallBitVector &changing) const;
  llvm::SmallBitVector devicesOfQueues(mlir::Operation *op) const;

  const dfg::FreeValues &free;
  const DeviceSets &sets;
  llvm::SmallDenseSet<mlir::Operation *> before;
  mlir::Operation *last = nullptr;
};

/// Emits an error and fails if operations on queues are in a branch or loop together with what can
/// fail on another device: their order is not kept.
llvm::LogicalResult verifyQueues(dfg::EntryOp entry, const DeviceSets &sets);

/// Moves what can fail, with what it reads, before the operations on queues that it does not depend
/// on, as on one device: a call that fails should not have used queues before.
void moveChecksBeforeQueues(dfg::EntryOp entry);

} // namespace tfc::partition
