//===- PartitionBuilder.cpp - The part of an entry on one device ----------===//
//
// Copies operations block by block. When an operation first needs a value, the value is received
// from the device that computes it, or its operation is copied if every device computes it.
//
//===----------------------------------------------------------------------===//

#include "compiler/partition/PartitionBuilder.h"
#include "dialects/dfg/MessageOps.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::partition {

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void PartitionBuilder::build(Block &from, Block &to) {
  blocks[&from] = &to;
  if (to.getNumArguments() > 0)
    values.map(from.getArguments(), to.getArguments());
  unsigned returned = device == 0 ? from.getTerminator()->getNumOperands() : 0;
  copyBlock(from, llvm::to_vector(llvm::seq<unsigned>(0, returned)));
}

void PartitionBuilder::copyBlock(Block &from, ArrayRef<unsigned> results) {
  auto commit = [&](Operation &op, bool afterQueue) {
    OpBuilder b = builderIn(&from);
    CommitOp::create(b, op.getLoc(), afterQueue);
  };
  for (Operation &op : from.without_terminator()) {
    if (division.commits.isBefore(&op))
      commit(op, /*afterQueue=*/false);
    // Copies follow from their readers, but for checks, which all partitions have then.
    bool isHere =
        division.free.isCopied(&op) ? isa<CheckOp>(op) : division.sets.runsOn(&op, device);
    if (isHere)
      copy(&op);
    if (division.commits.isAfter(&op))
      commit(op, division.commits.isAfterQueue(&op));
  }
  copyTerminator(from.getTerminator(), results);
}

/// Operations are added at the end of the block that is being filled, or before the branch or loop
/// that is.
OpBuilder PartitionBuilder::builderIn(Block *from) {
  if (Operation *op = open.lookup(from))
    return OpBuilder(op);
  return OpBuilder::atBlockEnd(blocks.lookup(from));
}

void PartitionBuilder::copy(Operation *op) {
  bindSizesOf(op);
  if (auto branch = dyn_cast<IfOp>(op))
    return copyBranch(branch);
  if (auto loop = dyn_cast<WhileOp>(op))
    return copyLoop(loop);
  for (Value operand : op->getOperands())
    get(operand);
  OpBuilder b = builderIn(op->getBlock());
  b.clone(*op, values);
  if (isa<CheckOp>(op))
    bound.insert(op);
}

void PartitionBuilder::copyTerminator(Operation *op, ArrayRef<unsigned> results) {
  bindSizesOf(op);
  SmallVector<Value> operands;
  for (unsigned i : results)
    operands.push_back(get(op->getOperand(i)));
  OpBuilder b = builderIn(op->getBlock());
  OperationState state(op->getLoc(), op->getName(), operands, TypeRange(), op->getAttrs());
  b.create(state);
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

void PartitionBuilder::copyRegion(Operation *op, Region &from, Region &to,
                                  ArrayRef<unsigned> results) {
  Block &old = from.front();
  open[op->getBlock()] = to.getParentOp();
  blocks[&old] = &to.front();
  copyBlock(old, results);
  open.erase(op->getBlock());
}

void PartitionBuilder::copyBranch(IfOp op) {
  SmallVector<unsigned> results;
  SmallVector<Type> types;
  for (OpResult result : op->getResults())
    if (!result.use_empty() && division.sets.homeOf(result) == device) {
      results.push_back(result.getResultNumber());
      types.push_back(result.getType());
    }
  Value condition = get(op.getCondition());
  OpBuilder b = builderIn(op->getBlock());
  auto copy = IfOp::create(b, op.getLoc(), types, condition);
  copyRegion(op, op.getThenRegion(), copy.getThenRegion(), results);
  copyRegion(op, op.getElseRegion(), copy.getElseRegion(), results);
  for (auto [i, result] : llvm::zip(results, copy.getResults()))
    values.map(op.getResult(i), result);
}

/// Each partition carries the values that are on its device, and counters.
void PartitionBuilder::copyLoop(WhileOp op) {
  SmallVector<unsigned> carried;
  SmallVector<Value> inits;
  for (OpResult result : op->getResults()) {
    unsigned i = result.getResultNumber();
    bool isCounter = division.free.contains(op.getBodyBlock().getArgument(i));
    if (!isCounter && division.sets.homeOf(result) != device)
      continue;
    carried.push_back(i);
    inits.push_back(get(op.getInits()[i]));
  }
  OpBuilder b = builderIn(op->getBlock());
  auto copy = WhileOp::create(b, op.getLoc(), inits);
  copy->setAttrs(op->getAttrDictionary());
  copy->removeAttr(kHomesAttr);
  for (auto [i, old] : llvm::enumerate(carried)) {
    values.map(op.getConditionBlock().getArgument(old), copy.getConditionBlock().getArgument(i));
    values.map(op.getBodyBlock().getArgument(old), copy.getBodyBlock().getArgument(i));
  }
  copyRegion(op, op.getConditionRegion(), copy.getConditionRegion(), {0});
  copyRegion(op, op.getBodyRegion(), copy.getBodyRegion(), carried);
  for (auto [i, result] : llvm::zip(carried, copy.getResults()))
    values.map(op.getResult(i), result);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value PartitionBuilder::get(Value value) {
  provide({value, {}});
  return values.lookup(value);
}

void PartitionBuilder::bindSizesOf(Operation *op) {
  SmallVector<Need> missing;
  addMissingNames(RunTimeSizes::namesIn(op), op->getBlock(), {}, missing);
  division.sizes.forEachGuard(op, [&](CheckOp guard) { missing.push_back({{}, guard}); });
  for (Need need : missing)
    provide(need);
}

bool PartitionBuilder::isProvided(Need need) const {
  return need.value ? values.contains(need.value) : bound.contains(need.step);
}

/// Each device computes guards itself: its memory is safe without waiting for checks of others.
bool PartitionBuilder::isCopied(Operation *op) const {
  return division.free.isCopied(op) || division.sizes.isPartOfGuard(op);
}

/// Adds the bindings of `names` for operations in `block`, except for what `except` itself binds.
void PartitionBuilder::addMissingNames(ArrayRef<std::string> names, Block *block, BindSizeOp except,
                                       SmallVectorImpl<Need> &missing) {
  if (division.sizes.empty())
    return;
  for (StringRef name : names)
    if (BindSizeOp binder = division.sizes.find(name, block);
        binder && binder != except && !bound.contains(binder))
      missing.push_back({{}, binder});
}

/// Adds what has to exist before a copy of `op`.
void PartitionBuilder::addMissing(Operation *op, SmallVectorImpl<Need> &missing) {
  for (Value operand : op->getOperands())
    if (!values.contains(operand))
      missing.push_back({operand, {}});
  addMissingNames(RunTimeSizes::namesIn(op), op->getBlock(), dyn_cast<BindSizeOp>(op), missing);
}

SmallVector<PartitionBuilder::Need> PartitionBuilder::missingFor(Need need) {
  SmallVector<Need> missing;
  Operation *op = need.getOperation();
  if (op && isCopied(op)) {
    addMissing(op, missing);
    return missing;
  }
  SmallVector<std::string> names;
  for (const DimExpr &size : shapeOf(need.value.getType()))
    size.collectSymbols(names);
  addMissingNames(names, need.value.getParentBlock(), {}, missing);
  return missing;
}

/// Chains of operations may be long, so this does not recurse.
void PartitionBuilder::provide(Need need) {
  SmallVector<Need> work{need};
  while (!work.empty()) {
    Need next = work.back();
    if (isProvided(next)) {
      work.pop_back();
      continue;
    }
    SmallVector<Need> missing = missingFor(next);
    if (!missing.empty()) {
      llvm::append_range(work, missing);
      continue;
    }
    work.pop_back();
    Operation *op = next.getOperation();
    if (!op || !isCopied(op)) {
      receive(next.value);
      continue;
    }
    OpBuilder b = builderIn(op->getBlock());
    b.clone(*op, values);
    if (next.step)
      bound.insert(op);
  }
}

void PartitionBuilder::receive(Value value) {
  unsigned sender = division.partitions[division.sets.homeOf(value)];
  unsigned slot = messages.add(value, sender, division.partitions[device]);
  OpBuilder b = builderIn(value.getParentBlock());
  values.map(value, ReceiveOp::create(b, value.getLoc(), value.getType(), slot));
}

} // namespace tfc::partition
