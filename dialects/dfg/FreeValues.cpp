//===- FreeValues.cpp - Values that every device computes -----------------===//
//
// Finds the greatest set of values that need no messages: all candidates, less those that read
// other values, until nothing changes.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/FreeValues.h"
#include "dialects/dfg/Cluster.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/MemoryPlan.h"
#include "dialects/dfg/SizeOps.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::dfg {

/// Returns true for operations whose results are other views of what they read.
static bool isView(Operation *op) {
  return op->hasTrait<ViewRole>() || (op->hasTrait<AliasRole>() && isMemoryEffectFree(op));
}

/// Returns the loop whose body or condition has the value as an argument, or null.
static WhileOp loopOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument ? dyn_cast<WhileOp>(argument.getOwner()->getParentOp()) : WhileOp();
}

FreeValues::FreeValues(EntryOp entry)
    : areTasksAlone(entry.getInitializer() && entry->getParentOp()->hasAttr(kClusterAttr)) {
  auto add = [&](ValueRange values) {
    for (Value value : values)
      if (mayBeFree(value))
        free.insert(value);
  };
  entry.getBody().walk([&](Operation *op) {
    add(op->getResults());
    for (Region &region : op->getRegions())
      add(region.getArguments());
  });
  SmallVector<Value> candidates(free.begin(), free.end());
  while (!candidates.empty())
    if (Value value = candidates.pop_back_val(); free.contains(value) && !remainsFree(value))
      erase(value, candidates);
}

/// Erases a value; those that depend on it are added to `affected`.
void FreeValues::erase(Value value, SmallVectorImpl<Value> &affected) {
  free.erase(value);
  auto addArguments = [&](WhileOp loop, unsigned number) {
    for (Block *block : {&loop.getConditionBlock(), &loop.getBodyBlock()})
      affected.push_back(block->getArgument(number));
  };
  if (WhileOp loop = loopOf(value))
    addArguments(loop, cast<BlockArgument>(value).getArgNumber());
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    auto around = isa<YieldOp>(user) ? dyn_cast<WhileOp>(user->getParentOp()) : WhileOp();
    if (auto loop = dyn_cast<WhileOp>(user))
      addArguments(loop, use.getOperandNumber());
    else if (around)
      addArguments(around, use.getOperandNumber());
    else
      llvm::append_range(affected, user->getResults());
  }
}

bool FreeValues::mayBeFree(Value value) const {
  if (loopOf(value))
    return isRegisterType(value.getType());
  Operation *producer = value.getDefiningOp();
  if (!producer || producer->getNumRegions() > 0)
    return false;
  if (isa<ConstantOp, SizeOp>(producer) || isView(producer))
    return true;
  if (areTasksAlone && isMemoryEffectFree(producer))
    return true;
  return isa<ScalarOpInterface>(producer) && isRegisterType(value.getType());
}

bool FreeValues::remainsFree(Value value) const {
  auto isFree = [&](Value read) { return free.contains(read); };
  if (WhileOp loop = loopOf(value)) {
    unsigned number = cast<BlockArgument>(value).getArgNumber();
    return isFree(loop.getInits()[number]) && isFree(loop.getYield().getValues()[number]) &&
           isFree(loop.getBodyBlock().getArgument(number));
  }
  return llvm::all_of(value.getDefiningOp()->getOperands(), isFree);
}

bool isLargeView(Operation *op) {
  if (!isView(op))
    return false;
  DimExpr bytes = bytesOf(op->getResult(0).getType());
  for (Value operand : op->getOperands())
    bytes = bytes - bytesOf(operand.getType());
  std::optional<int64_t> difference = bytes.constant();
  return difference && *difference >= 0;
}

bool FreeValues::contains(Operation *op) const {
  if (isa<BindSizeOp>(op))
    return true;
  return op->getNumResults() > 0 && op->getNumRegions() == 0 &&
         llvm::all_of(op->getResults(), [&](Value result) { return contains(result); });
}

bool FreeValues::isCopied(Operation *op) const {
  bool isCheck = areTasksAlone && isa<CheckOp>(op) &&
                 llvm::all_of(op->getOperands(), [&](Value read) { return contains(read); });
  return isCheck || contains(op) || isLargeView(op);
}

} // namespace tfc::dfg
