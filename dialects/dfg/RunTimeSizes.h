//===- RunTimeSizes.h - Dependences on data-dependent sizes ---------------===//
//
// A type may name a size that an operation binds while the entry runs. There need not be a chain of
// values from that operation to those that mention the size, so stages that move operations find
// these dependences here.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/SizeOps.h"
#include "llvm/ADT/StringMap.h"

namespace tfc::dfg {

class RunTimeSizes {
public:
  /// Scans `root` and its regions; later changes have no effect.
  explicit RunTimeSizes(mlir::Operation *root);

  bool empty() const { return binders.empty(); }
  /// Returns true if an operation binds the name.
  bool binds(llvm::StringRef name) const { return binders.contains(name); }

  /// The operation that binds `name` for operations in `block`; null for a size that the caller
  /// passes.
  BindSizeOp find(llvm::StringRef name, mlir::Block *block) const;

  /// The operation that binds the last of the names in `size` for operations in `block`: all are
  /// known after it. Null if the caller passes them all.
  BindSizeOp findLast(const DimExpr &size, mlir::Block *block) const;

  /// Visits the operations outside of `op` that bind sizes which it or its regions mention.
  void forEachBinder(mlir::Operation *op, llvm::function_ref<void(BindSizeOp)> visit) const;

  /// The sizes that the types and attributes of `op` mention, not including those of its regions.
  static llvm::SmallVector<std::string> namesIn(mlir::Operation *op);

private:
  /// The bindings of each name. Copies of an operation bind its name again, in other regions.
  llvm::StringMap<llvm::SmallVector<BindSizeOp, 1>> binders;
};

/// The facts that each call of the entry must satisfy: those that it states, and that no size is
/// negative that is known when the call starts.
llvm::SmallVector<FactAttr> requiredFacts(EntryOp entry);

} // namespace tfc::dfg
