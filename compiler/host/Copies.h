//===- Copies.h - Values that are not made where they belong --------------===//

#pragma once

#include "compiler/host/Addresses.h"

namespace tfc::host {

/// Copies between the memory of values.
class Copies {
public:
  Copies(Context &context, SizeBuilder &sizes, Addresses &addresses)
      : context(context), sizes(sizes), addresses(addresses) {}

  /// Copies a root to an address.
  void copy(mlir::Value to, mlir::Value root) { copy(to, {}, root); }
  /// Copies what a region yields as result `number` of the operation around it, unless a launch of
  /// the region wrote it to its place.
  void copyYielded(mlir::Value value, unsigned number, mlir::Value to);
  /// Copies the fetches that are among `roots` and not made in the memory of the fetches.
  void copyFetches(llvm::ArrayRef<mlir::Value> roots);
  /// Ends the entry: copies what variables are assigned.
  void copyToVariables();

private:
  void copy(mlir::Value to, mlir::Value from, mlir::Value root);

  Context &context;
  SizeBuilder &sizes;
  Addresses &addresses;
};

} // namespace tfc::host
