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

/// The assignments to each variable in the entry of `op`.
static DenseMap<Attribute, SmallVector<AssignOp, 1>> assignmentsAround(Operation *op) {
  DenseMap<Attribute, SmallVector<AssignOp, 1>> assignments;
  if (auto entry = op->getParentOfType<EntryOp>())
    entry.walk([&](AssignOp assign) { assignments[assign.getVariableAttr()].push_back(assign); });
  return assignments;
}

/// The operation that has the effect of `assign` in the innermost block around `place` in which one
/// does: `assign` itself, or one around it.
static Operation *effectAround(Operation *place, AssignOp assign) {
  for (; !isa<EntryOp>(place); place = place->getParentOp())
    if (Operation *effect = place->getBlock()->findAncestorOpInBlock(*assign))
      return effect;
  return nullptr;
}

/// Returns true if both are in one block, where operations run in order, and `a` runs first.
static bool runsBefore(Operation *a, Operation *b) {
  return a->getBlock() == b->getBlock() && !isa<DataflowOp>(a->getParentOp()) &&
         a->isBeforeInBlock(b);
}

ReadersTowards::ReadersTowards(Value y) {
  llvm::SmallDenseSet<Operation *> seen;
  SmallVector<Operation *> work;
  auto push = [&](Operation *op) {
    if (op && seen.insert(op).second)
      work.push_back(op);
  };
  push(y.getDefiningOp());
  DenseMap<Attribute, SmallVector<AssignOp, 1>> assignments;
  if (!work.empty())
    assignments = assignmentsAround(work.front());
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    // Values that the regions of `op` capture are read by `op`.
    op->walk([&](Operation *nested) {
      if (auto read = dyn_cast<ReadOp>(nested)) {
        readsOfVariable[read.getVariableAttr()].push_back(read);
        // A variable may have a value that the entry has assigned.
        for (AssignOp assign : assignments.lookup(read.getVariableAttr()))
          if (Operation *effect = effectAround(op, assign); !runsBefore(op, effect))
            push(effect == assign ? assign.getValue().getDefiningOp() : effect);
      }
      if (isa<StopGradientOp>(nested))
        return;
      for (Value operand : nested->getOperands()) {
        auto &known = readers[operand];
        if (known.empty() || known.back() != op)
          known.push_back(op);
        push(operand.getDefiningOp());
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

/// Returns true if an assignment stands between the two reads of a variable, of which `a` is first.
static bool isOlder(ReadOp a, ReadOp b) {
  return runsBefore(a, b) &&
         llvm::any_of(llvm::make_range(a->getIterator(), b->getIterator()), [&](Operation &op) {
           auto assign = dyn_cast<AssignOp>(op);
           return assign && assign.getVariableAttr() == a.getVariableAttr();
         });
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
  auto mayHaveOtherReaders = [&](ReadOp read) {
    if (isOlder(read, x.getDefiningOp<ReadOp>()))
      return false;
    return !areSameValue(read, x.getDefiningOp<ReadOp>()) || isStored(read);
  };
  if (llvm::any_of(readsOf(x), mayHaveOtherReaders))
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
