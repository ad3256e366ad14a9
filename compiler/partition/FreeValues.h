//===- FreeValues.h - Values that every device computes -------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "llvm/ADT/DenseSet.h"

namespace tfc::partition {

/// The values of an entry that each device computes for itself, because they need no message:
/// constants, sizes, and scalars and views that depend on these alone. A counter of a loop is one
/// of them if its first and its next value are.
class FreeValues {
public:
  explicit FreeValues(dfg::EntryOp entry);

  bool contains(mlir::Value value) const { return free.contains(value); }

  /// Returns true for operations that are copied to where their results are read: those with free
  /// results, views that are at least as large as what they read, and bindings of sizes.
  bool isCopied(mlir::Operation *op) const;

private:
  bool mayBeFree(mlir::Value value) const;
  bool remainsFree(mlir::Value value) const;

  llvm::DenseSet<mlir::Value> free;
};

} // namespace tfc::partition
