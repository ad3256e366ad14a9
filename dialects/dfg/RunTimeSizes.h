//===- RunTimeSizes.h - Who waits for a size that the data decide -*- C++ -*-===//
//
// A type may name a size that an operation binds while the entry runs. Between
// that operation and those that mention the size no value needs to lead: this is
// how stages that move operations find out who waits for whom.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/SizeOps.h"
#include "llvm/ADT/StringMap.h"

namespace tfc::dfg {

class RunTimeSizes {
public:
  /// Looks through `root` and its regions; later changes are not seen.
  explicit RunTimeSizes(mlir::Operation *root);

  bool empty() const { return binders.empty(); }
  /// Whether some operation binds the name.
  bool binds(llvm::StringRef name) const { return binders.contains(name); }

  /// What binds `name` for an operation in `block`; null for a size that the call brings.
  BindSizeOp find(llvm::StringRef name, mlir::Block *block) const;

  /// What binds the last of the names in `size` for an operation in `block`: all are known after
  /// it. Null if the call brings them all.
  BindSizeOp findLast(const DimExpr &size, mlir::Block *block) const;

  /// The operations outside of `op` that bind sizes which it or its regions mention.
  void forEachBinder(mlir::Operation *op, llvm::function_ref<void(BindSizeOp)> visit) const;

  /// The sizes that the types and attributes of `op` mention, without those of its regions.
  static llvm::SmallVector<std::string> namesIn(mlir::Operation *op);

private:
  /// Operations that were repeated bind the name of the first one again, in regions of their own.
  llvm::StringMap<llvm::SmallVector<BindSizeOp, 1>> binders;
};

} // namespace tfc::dfg
