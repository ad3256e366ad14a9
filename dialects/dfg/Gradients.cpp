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
      if (auto read = dyn_cast<ReadOp>(nested))
        readsOfVariable[read.getVariableAttr()].push_back(read);
      for (Value operand : nested->getOperands()) {
        auto &known = readers[operand];
        if (known.empty() || known.back() != op)
          known.push_back(op);
        visit(operand);
      }
    });
  }
}

/// The reads between x and y of the variable that x is read from; none if x is another value.
ArrayRef<ReadOp> ReadersTowards::readsOf(Value x) const {
  auto read = x.getDefiningOp<ReadOp>();
  auto it = read ? readsOfVariable.find(read.getVariableAttr()) : readsOfVariable.end();
  return it == readsOfVariable.end() ? ArrayRef<ReadOp>() : ArrayRef<ReadOp>(it->second);
}

static bool assigns(Operation &op, Attribute variable) {
  return op
      .walk([&](AssignOp assign) {
        return assign.getVariableAttr() == variable ? WalkResult::interrupt()
                                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns true if both reads of a variable are in one block, and nothing between them assigns it.
static bool areSameValue(ReadOp a, ReadOp b) {
  if (a->getBlock() != b->getBlock() || isa<DataflowOp>(a->getParentOp()))
    return a == b;
  if (b->isBeforeInBlock(a))
    std::swap(a, b);
  return llvm::none_of(llvm::make_range(a->getIterator(), b->getIterator()),
                       [&](Operation &op) { return assigns(op, a.getVariableAttr()); });
}

// Indices are integers.
bool gathersRows(Operation *op) {
  auto gather = dyn_cast<RowGatherOpInterface>(op);
  return gather && gather.takesRows();
}

SmallVector<Operation *, 1> ReadersTowards::of(Value x) const {
  llvm::SmallSetVector<Value, 2> values;
  values.insert(x);
  for (ReadOp read : readsOf(x))
    if (areSameValue(read, x.getDefiningOp<ReadOp>()))
      values.insert(read);
  llvm::SmallSetVector<Operation *, 4> found;
  for (Value value : values)
    if (auto it = readers.find(value); it != readers.end())
      found.insert_range(it->second);
  return SmallVector<Operation *, 1>(found.getArrayRef());
}

/// Returns true if a variable has this very value, whose reads are readers of the value, too.
static bool isStored(Value value) {
  return llvm::any_of(value.getUsers(), llvm::IsaPred<AssignOp>);
}

/// Returns true if an assignment before the read may have stored a value that has other readers.
static bool mayReadShared(ReadOp read) {
  for (Operation *place = read; !isa<EntryOp>(place); place = place->getParentOp()) {
    bool isOrdered = !isa<DataflowOp>(place->getParentOp());
    Block *block = place->getBlock();
    auto end = isOrdered ? place->getIterator() : block->end();
    for (Operation &op : llvm::make_range(block->begin(), end)) {
      auto assign = dyn_cast<AssignOp>(op);
      bool isShared = assign && assign.getVariableAttr() == read.getVariableAttr() &&
                      (!assign.getValue().hasOneUse() || assign.getValue().getDefiningOp<ReadOp>());
      if (isShared)
        return true;
    }
  }
  return false;
}

bool ReadersTowards::isSparseGradient(Value x) const {
  SmallVector<Operation *, 1> ops = of(x);
  if (ops.empty() || !llvm::all_of(ops, gathersRows) || isStored(x))
    return false;
  auto isSame = [&](ReadOp read) { return areSameValue(read, x.getDefiningOp<ReadOp>()); };
  if (llvm::any_of(readsOf(x), [&](ReadOp read) { return !isSame(read) || isStored(read); }))
    return false;
  auto read = x.getDefiningOp<ReadOp>();
  return !read || !mayReadShared(read);
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
