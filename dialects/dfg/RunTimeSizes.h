//===- RunTimeSizes.h - Dependences on data-dependent sizes ---------------===//
//
// A type may name a size that an operation binds while the entry runs. There need not be a def-use
// chain from that operation to those that mention the size, so stages that move operations query
// these dependences here.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/SizeLimits.h"
#include "dialects/dfg/SizeOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace tfc::dfg {

class RunTimeSizes {
public:
  /// Scans `root` and its regions; later changes have no effect.
  explicit RunTimeSizes(mlir::Operation *root);

  bool empty() const { return binders.empty(); }
  /// Returns true if an operation binds the name.
  bool binds(llvm::StringRef name) const { return binders.contains(name); }

  /// Returns true if an operation binds a name that `op` mentions.
  bool bindsAnyOf(mlir::Operation *op) const;

  /// Returns the operation that binds `name` for operations in `block`, or null for a size that the
  /// caller passes.
  BindSizeOp find(llvm::StringRef name, mlir::Block *block) const;

  /// Returns the operation after which all names in `size` are bound for operations in `block`, or
  /// null if the caller passes all of them.
  BindSizeOp findLast(const DimExpr &size, mlir::Block *block) const;

  /// Visits the operations outside of `op` that bind sizes which it or its regions mention.
  void forEachBinder(mlir::Operation *op, llvm::function_ref<void(BindSizeOp)> visit) const;

  /// Visits the guards of `op`: the checks before it, in its block or around it, that depend on
  /// nothing but sizes and counts and are about one that it or its regions mention. Until they
  /// hold, its accesses may be outside of its memory. Scalars in registers have no guards.
  void forEachGuard(mlir::Operation *op, llvm::function_ref<void(CheckOp)> visit) const;

  /// Visits the bindings and the guards of the sizes that `op` or its regions mention: they run
  /// before it.
  void forEachPrerequisite(mlir::Operation *op,
                           llvm::function_ref<void(mlir::Operation *)> visit) const;

  /// Returns true for guards, and operations of which their conditions and values consist.
  bool isPartOfGuard(mlir::Operation *op) const { return partsOfGuards.contains(op); }

  /// Returns the names of sizes that the types and attributes of `op` mention, without those in its
  /// regions.
  static llvm::SmallVector<std::string> namesIn(mlir::Operation *op);

private:
  void addGuard(CheckOp check);

  /// The bindings of each name, in their order. Copies of an operation bind it again: the first one
  /// of the innermost region counts.
  llvm::StringMap<llvm::SmallVector<BindSizeOp, 1>> binders;
  /// The guards of each name, in their order.
  llvm::StringMap<llvm::SmallVector<CheckOp, 2>> guards;
  llvm::DenseSet<mlir::Operation *> partsOfGuards;
};

/// Returns the message of a call in which a size that is known after `binder` is negative.
Message negativeMessage(mlir::OpBuilder &b, BindSizeOp binder, const DimExpr &size);

/// Returns the message of a call in which a number that is known after `binder` exceeds a limit.
Message misfitMessage(mlir::OpBuilder &b, BindSizeOp binder, const SizeLimit &limit,
                      const DimExpr &number);

/// Returns the facts that each call of the entry must satisfy: those that it states, and that sizes
/// known at the start of the call are not negative.
llvm::SmallVector<FactAttr> requiredFacts(EntryOp entry);

} // namespace tfc::dfg
