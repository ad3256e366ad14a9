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

ReadersTowards::ReadersTowards(Value y) {
  llvm::SmallDenseSet<Operation *> seen;
  SmallVector<Operation *> work;
  auto visit = [&](Value value) {
    if (Operation *producer = value.getDefiningOp(); producer && seen.insert(producer).second)
      work.push_back(producer);
  };
  visit(y);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    // Values that the regions of `op` capture are read by `op`.
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        auto &known = readers[operand];
        if (known.empty() || known.back() != op)
          known.push_back(op);
        visit(operand);
      }
    });
  }
}

ArrayRef<Operation *> ReadersTowards::of(Value x) const {
  auto it = readers.find(x);
  return it == readers.end() ? ArrayRef<Operation *>() : ArrayRef<Operation *>(it->second);
}

bool ReadersTowards::isSparseGradient(Value x) const {
  return !of(x).empty() && llvm::all_of(of(x), [&](Operation *op) {
    auto gather = dyn_cast<RowGatherOpInterface>(op);
    return gather && gather.takesRows() && llvm::count(op->getOperands(), x) == 1 &&
           op->getOperand(0) == x;
  });
}

DimExpr ReadersTowards::sparseRowCount(Value x) const {
  DimExpr count(0);
  for (Operation *op : of(x)) {
    // A gather's result has the axes of its indices in place of the first axis of x.
    Shape shape = shapeOf(op->getResult(0).getType());
    size_t rowRank = shapeOf(x.getType()).size() - 1;
    count = count + elementCount(ArrayRef(shape).drop_back(rowRank));
  }
  return count;
}

} // namespace tfc::dfg
