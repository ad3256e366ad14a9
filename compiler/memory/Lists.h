//===- Lists.h - Which memory the lists of an entry share -----------------===//
//
// A list lives in a chunk of the instance. An operation that changes a list makes
// a new value of it; it takes the chunk of the old one where nobody reads that
// later, which in loops is the normal case, and copies it where somebody does.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "llvm/ADT/SetVector.h"

namespace tfc::memory {

/// The chunks of an entry's lists and tapes.
class ListPlan {
public:
  explicit ListPlan(dfg::EntryOp entry);

  /// The chunk of a list; nothing for a view.
  std::optional<unsigned> chunkOf(mlir::Value list) const;
  /// The tapes that the entry uses: number i is in chunk i.
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
