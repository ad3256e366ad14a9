//===- Regions.cpp - Changing the results of branches and loops -----------===//
//
// Adds and drops results of branches and loops. Operands, regions and yields have to change
// together, so passes leave that to these functions.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Regions.h"

using namespace mlir;

namespace tfc::dfg {

/// An operation like `op` with other operands and results, which takes its regions.
static Operation *rebuild(Operation *op, ValueRange operands, TypeRange results) {
  OpBuilder b(op);
  OperationState state(op->getLoc(), op->getName(), operands, results, op->getAttrs());
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  return b.create(state);
}

/// Replaces `op` by an operation with additional operands and results at the end.
static Operation *widen(Operation *op, ValueRange operands, TypeRange results) {
  Operation *replacement = rebuild(op, operands, results);
  op->replaceAllUsesWith(replacement->getResults().take_front(op->getNumResults()));
  op->erase();
  return replacement;
}

IfOp addResults(IfOp op, ValueRange onTrue, ValueRange onFalse) {
  op.getThenYield().getValuesMutable().append(onTrue);
  op.getElseYield().getValuesMutable().append(onFalse);
  return cast<IfOp>(widen(op, op->getOperands(), op.getThenYield().getValues().getTypes()));
}

WhileOp addCarried(WhileOp op, ValueRange inits) {
  for (Value init : inits) {
    op.getConditionBlock().addArgument(init.getType(), init.getLoc());
    op.getBodyBlock().addArgument(init.getType(), init.getLoc());
  }
  SmallVector<Value> operands(op.getInits());
  llvm::append_range(operands, inits);
  return cast<WhileOp>(widen(op, operands, ValueRange(operands).getTypes()));
}

void addYields(WhileOp op, ValueRange values) { op.getYield().getValuesMutable().append(values); }

WhileOp dropCarried(WhileOp op, const llvm::BitVector &dropped) {
  SmallVector<Value> inits, results;
  for (auto [i, init] : llvm::enumerate(op.getInits()))
    if (!dropped.test(i)) {
      inits.push_back(init);
      results.push_back(op.getResult(i));
    }
  Operation *replacement = rebuild(op, inits, ValueRange(inits).getTypes());
  for (auto [old, value] : llvm::zip_equal(results, replacement->getResults()))
    old.replaceAllUsesWith(value);
  op->erase();
  return cast<WhileOp>(replacement);
}

void cloneBlock(OpBuilder &b, Block &block, IRMapping &mapping) {
  for (Operation &op : block.without_terminator())
    b.clone(op, mapping);
}

Value cloneWithSources(OpBuilder &b, Value value, IRMapping &mapping,
                       llvm::function_ref<bool(Value)> isAvailable) {
  auto isKnown = [&](Value value) { return mapping.contains(value) || isAvailable(value); };
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Value next = work.back();
    if (isKnown(next)) {
      work.pop_back();
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (llvm::all_of(op->getOperands(), isKnown))
      b.clone(*op, mapping);
    else
      llvm::append_range(work, llvm::reverse(op->getOperands()));
  }
  return mapping.lookupOrDefault(value);
}

} // namespace tfc::dfg
