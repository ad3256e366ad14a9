//===- FreeValues.h - Values that every device computes -------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "llvm/ADT/DenseSet.h"

namespace tfc::dfg {

/// The values of an entry that each device computes for itself, because they need no message:
/// constants, sizes, and scalars and views that depend on these alone. A counter of a loop is one
/// of them if its first and its next value are. Tasks of a cluster begin on their own, so each also
/// computes for itself all that its initial values depend on, unless they need branches or loops.
class FreeValues {
public:
  explicit FreeValues(EntryOp entry);

  bool contains(mlir::Value value) const { return free.contains(value); }

  /// Returns true for bindings of sizes, and operations whose results are free.
  bool contains(mlir::Operation *op) const;

  /// Returns true for operations that are copied to where their results are read: free ones, and
  /// views that are at least as large as what they read; also for a check of initial values that
  /// each task makes for itself.
  bool isCopied(mlir::Operation *op) const;

private:
  bool mayBeFree(mlir::Value value) const;
  bool remainsFree(mlir::Value value) const;
  void erase(mlir::Value value, llvm::SmallVectorImpl<mlir::Value> &affected);

  bool areTasksAlone;
  llvm::DenseSet<mlir::Value> free;
};

/// Returns true for a view that reads no more than its result has, so that not the view is sent but
/// its operands.
bool isLargeView(mlir::Operation *op);

} // namespace tfc::dfg
