//===- Copies.h - Copies of values in memory ------------------------------===//

#pragma once

#include "compiler/host/Addresses.h"

namespace tfc::host {

/// Builds copies between the memory of values.
class Copies {
public:
  Copies(Context &context, SizeBuilder &sizes, Addresses &addresses)
      : context(context), sizes(sizes), addresses(addresses) {}

  /// Copies a root to an address.
  void copy(mlir::Value to, mlir::Value root) { copy(to, {}, root); }
  /// The same from `from`, unless that is null.
  void copy(mlir::Value to, mlir::Value from, mlir::Value root);
  /// Copies the value that a region yields as result `number` of its parent operation, unless a
  /// launch of the region has written it to its destination.
  void copyYielded(mlir::Value value, unsigned number, mlir::Value to);
  /// Copies those fetches among `roots` that were not computed in the memory of the fetches.
  void copyFetches(llvm::ArrayRef<mlir::Value> roots);
  /// Ends the entry: copies the values that are assigned to variables.
  void copyToVariables();

private:
  Context &context;
  SizeBuilder &sizes;
  Addresses &addresses;
};

} // namespace tfc::host
