//===- Lists.h - Chunks of lists and tapes --------------------------------===//
//
// A list is stored in a chunk of the instance. An operation that changes a list returns a new
// value. The new list reuses the chunk of the old one if that is not read later, which is the
// normal case in loops; otherwise the old list is copied.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "llvm/ADT/SetVector.h"

namespace tfc::memory {

/// Assigns chunks to the lists and tapes of an entry.
class ListPlan {
public:
  explicit ListPlan(dfg::EntryOp entry);

  /// Returns the chunk of a list, or std::nullopt for a view.
  std::optional<unsigned> chunkOf(mlir::Value list) const;
  /// Returns the tapes that the entry uses: tape i is in chunk i.
  llvm::ArrayRef<dfg::TapeOp> getTapes() const { return tapes.getArrayRef(); }

private:
  void visit(mlir::Block &block);
  void visitLoop(dfg::WhileOp loop);
  void visitBranch(dfg::IfOp op);
  void take(mlir::Value result, mlir::Value list, mlir::Operation *op);
  bool isLastUse(mlir::Value list, mlir::Operation *op) const;

  llvm::DenseMap<mlir::Value, unsigned> chunks;
  llvm::SetVector<dfg::TapeOp> tapes;
  unsigned count = 0;
};

} // namespace tfc::memory
