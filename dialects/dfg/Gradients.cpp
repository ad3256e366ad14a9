//===- Gradients.cpp - Queries about gradients ----------------------------===//
//
// Decides whether a gradient is sparse, and how many rows it then has. The frontend declares the
// type of a gradient and autodiff builds it, so both ask here.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Gradients.h"
#include "dialects/dfg/Dfg.h"

using namespace mlir;

namespace tfc::dfg {

SmallVector<Operation *> readersTowards(Value y, Value x) {
  llvm::SmallDenseSet<Operation *> seen;
  SmallVector<Operation *> work, readers;
  if (Operation *producer = y.getDefiningOp()) {
    seen.insert(producer);
    work.push_back(producer);
  }
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    bool isReader = false;
    // Values that the regions of `op` capture are read by `op`.
    op->walk([&](Operation *nested) {
      isReader |= llvm::is_contained(nested->getOperands(), x);
      for (Value operand : nested->getOperands())
        if (Operation *producer = operand.getDefiningOp(); producer && seen.insert(producer).second)
          work.push_back(producer);
    });
    if (isReader)
      readers.push_back(op);
  }
  return readers;
}

bool isSparseGradient(Value y, Value x) {
  SmallVector<Operation *> readers = readersTowards(y, x);
  return !readers.empty() && llvm::all_of(readers, [&](Operation *op) {
    auto gather = dyn_cast<RowGatherOpInterface>(op);
    return gather && gather.takesRows() && llvm::count(op->getOperands(), x) == 1 &&
           op->getOperand(0) == x;
  });
}

DimExpr sparseRowCount(Value y, Value x) {
  DimExpr count(0);
  for (Operation *op : readersTowards(y, x)) {
    // A gather's result has the axes of its indices in place of the first axis of x.
    Shape shape = shapeOf(op->getResult(0).getType());
    size_t rowRank = shapeOf(x.getType()).size() - 1;
    count = count + elementCount(ArrayRef(shape).drop_back(rowRank));
  }
  return count;
}

} // namespace tfc::dfg
