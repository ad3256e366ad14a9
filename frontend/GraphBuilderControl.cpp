// The part of GraphBuilder that creates branches, loops, dataflow nodes, tapes and queues.
#include "frontend/GraphBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc {

/// Replaces `op` by an operation with other operands and results and the same regions.
static Operation *recreate(OpBuilder &builder, Operation *op, ValueRange operands,
                           TypeRange types) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  OperationState state(op->getLoc(), op->getName(), operands, types, op->getAttrs());
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  Operation *result = builder.create(state);
  op->erase();
  return result;
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

dfg::IfOp GraphBuilder::beginIf(Value condition, Location location) {
  return dfg::IfOp::create(builder, location, TypeRange(), condition);
}

dfg::IfOp GraphBuilder::finishIf(dfg::IfOp op, ValueRange onTrue, ValueRange onFalse) {
  for (auto [block, values] :
       {std::pair(&op.getThenBlock(), onTrue), std::pair(&op.getElseBlock(), onFalse)}) {
    builder.setInsertionPointToEnd(block);
    dfg::YieldOp::create(builder, op.getLoc(), values);
  }
  Operation *result = recreate(builder, op, op.getCondition(), onTrue.getTypes());
  builder.setInsertionPointAfter(result);
  return cast<dfg::IfOp>(result);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

dfg::WhileOp GraphBuilder::beginWhile(ValueRange inits, Location location) {
  return dfg::WhileOp::create(builder, location, inits);
}

void GraphBuilder::condition(Value value, Location location) {
  dfg::ConditionOp::create(builder, location, value);
}

dfg::WhileOp GraphBuilder::finishWhile(dfg::WhileOp op, ValueRange added, ValueRange next,
                                       std::optional<dfg::DimExpr> trips,
                                       std::optional<dfg::Recompute> recompute) {
  builder.setInsertionPointToEnd(&op.getBodyBlock());
  dfg::YieldOp::create(builder, op.getLoc(), next);
  if (trips)
    op.setTripsAttr(dfg::DimsAttr::get(getContext(), {*trips}));
  if (recompute)
    op.setRecompute(*recompute);
  if (!added.empty()) {
    SmallVector<Value> inits(op.getInits());
    append_range(inits, added);
    op = cast<dfg::WhileOp>(recreate(builder, op, inits, ValueRange(inits).getTypes()));
  }
  builder.setInsertionPointAfter(op);
  return op;
}

//===----------------------------------------------------------------------===//
// The graph form
//===----------------------------------------------------------------------===//

dfg::DataflowOp GraphBuilder::beginDataflow(Location location) {
  auto op = dfg::DataflowOp::create(builder, location, TypeRange(), ArrayAttr());
  if (op.getBody().empty())
    op.getBody().emplaceBlock();
  return op;
}

dfg::DataflowOp GraphBuilder::finishDataflow(dfg::DataflowOp op, ValueRange values,
                                             ArrayRef<std::string> names) {
  builder.setInsertionPointToEnd(&op.getBody().front());
  dfg::YieldOp::create(builder, op.getLoc(), values);
  SmallVector<StringRef> texts(names.begin(), names.end());
  if (!names.empty())
    op.setNamesAttr(builder.getStrArrayAttr(texts));
  Operation *result = recreate(builder, op, {}, values.getTypes());
  builder.setInsertionPointAfter(result);
  return cast<dfg::DataflowOp>(result);
}

dfg::NodeOp GraphBuilder::wrapInNode(Operation *op, ValueRange after) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(op);
  SmallVector<Type> types(op->getResultTypes());
  types.push_back(dfg::TokenType::get(getContext()));
  OperationState state(op->getLoc(), dfg::NodeOp::getOperationName());
  state.addOperands(after);
  state.addTypes(types);
  Block &block = state.addRegion()->emplaceBlock();
  auto node = cast<dfg::NodeOp>(builder.create(state));
  for (auto [inner, outer] : zip(op->getResults(), node.getResults()))
    inner.replaceAllUsesWith(outer);
  op->moveBefore(&block, block.end());
  builder.setInsertionPointToEnd(&block);
  dfg::YieldOp::create(builder, op->getLoc(), op->getResults());
  return node;
}

dfg::NodeOp GraphBuilder::createNode(ArrayRef<Operation *> ops, ValueRange after, bool always,
                                     ValueRange values, Location location) {
  SmallVector<Type> types(values.getTypes());
  auto node = dfg::NodeOp::create(builder, location, types, dfg::TokenType::get(getContext()),
                                  after, always);
  Block &body = node.getBody().emplaceBlock();
  for (Operation *op : ops)
    op->moveBefore(&body, body.end());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&body);
  dfg::YieldOp::create(builder, location, values);
  return node;
}

} // namespace tfc
