//===- Regions.cpp - Changing what branches and loops give -----------------===//

#include "dialects/dfg/Regions.h"

using namespace mlir;

namespace tfc::dfg {

/// Replaces `op` by one with other operands and results, the old results first, and the same
/// regions.
static Operation *rebuild(Operation *op, ValueRange operands, TypeRange results) {
  OpBuilder b(op);
  OperationState state(op->getLoc(), op->getName(), operands, results, op->getAttrs());
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  Operation *replacement = b.create(state);
  op->replaceAllUsesWith(replacement->getResults().take_front(op->getNumResults()));
  op->erase();
  return replacement;
}

IfOp addResults(IfOp op, ValueRange onTrue, ValueRange onFalse) {
  op.getThenYield().getValuesMutable().append(onTrue);
  op.getElseYield().getValuesMutable().append(onFalse);
  return cast<IfOp>(rebuild(op, op->getOperands(), op.getThenYield().getValues().getTypes()));
}

WhileOp addCarried(WhileOp op, ValueRange inits) {
  for (Value init : inits) {
    op.getConditionBlock().addArgument(init.getType(), init.getLoc());
    op.getBodyBlock().addArgument(init.getType(), init.getLoc());
  }
  SmallVector<Value> operands(op.getInits());
  llvm::append_range(operands, inits);
  return cast<WhileOp>(rebuild(op, operands, ValueRange(operands).getTypes()));
}

void addYields(WhileOp op, ValueRange values) { op.getYield().getValuesMutable().append(values); }

void cloneBlock(OpBuilder &b, Block &block, IRMapping &mapping) {
  for (Operation &op : block.without_terminator())
    b.clone(op, mapping);
}

} // namespace tfc::dfg
