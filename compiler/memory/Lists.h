//===- Lists.h - Which memory the lists of an entry share ------------------===//
//
// A list lives in a chunk of the instance. An operation that changes a list makes
// a new value of it; it takes the chunk of the old one where nobody reads that
// later, which in loops is the normal case, and copies it where somebody does.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc::memory {

/// Whether the list is a tensor that is only read: it needs no chunk then.
bool isListView(mlir::Value list);

/// The chunks of an entry's lists and tapes.
class ListPlan {
public:
  explicit ListPlan(dfg::EntryOp entry);

  /// The chunk of a list that is no view.
  unsigned chunkOf(mlir::Value list) const { return chunks.lookup(list); }
  unsigned chunkOf(dfg::TapeOp tape) const { return tapes.lookup(tape); }
  llvm::ArrayRef<dfg::TapeOp> getTapes() const { return tapeOrder; }

  unsigned getChunkCount() const { return count; }

private:
  void visit(mlir::Block &block);
  void visitLoop(dfg::WhileOp loop);
  void visitBranch(dfg::IfOp op);
  void take(mlir::Value result, mlir::Value list, mlir::Operation *op);
  bool isLastUse(mlir::Value list, mlir::Operation *op) const;

  llvm::DenseMap<mlir::Value, unsigned> chunks;
  llvm::DenseMap<mlir::Operation *, unsigned> tapes;
  llvm::SmallVector<dfg::TapeOp> tapeOrder;
  unsigned count = 0;
};

} // namespace tfc::memory
