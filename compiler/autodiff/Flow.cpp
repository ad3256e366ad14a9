//===- Flow.cpp - Flow of values through regions and tapes ----------------===//
//
// Defines the edges along which gradients flow through branches, loops and tapes. Activity and the
// diagnosis of blocked paths follow the same edges, so neither of them defines its own.
//
//===----------------------------------------------------------------------===//

#include "compiler/autodiff/Flow.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

bool tfc::isDifferentiable(Type type) {
  if (auto list = dyn_cast<ListType>(type))
    type = list.getElementType();
  return isa<FloatType>(elementTypeOf(type));
}

Flow::Flow(GradientsOp op) : op(op) {
  op->getParentOfType<EntryOp>().walk([&](Operation *access) {
    if (auto push = dyn_cast<PushOp>(access))
      pushes[push.getTapeAttr().getAttr()].push_back(push);
    else if (auto pop = dyn_cast<PopOp>(access))
      pops[pop.getTapeAttr().getAttr()].push_back(pop);
  });
}

ArrayRef<PushOp> Flow::getPushes(StringAttr tape) const {
  auto it = pushes.find(tape);
  return it == pushes.end() ? ArrayRef<PushOp>() : ArrayRef<PushOp>(it->second);
}

ArrayRef<PopOp> Flow::getPops(StringAttr tape) const {
  auto it = pops.find(tape);
  return it == pops.end() ? ArrayRef<PopOp>() : ArrayRef<PopOp>(it->second);
}

/// The loop that carries `value` as an argument or a result, and the position; null if there is
/// none.
static std::pair<WhileOp, unsigned> findCarrier(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return {dyn_cast_or_null<WhileOp>(argument.getOwner()->getParentOp()), argument.getArgNumber()};
  return {value.getDefiningOp<WhileOp>(), cast<OpResult>(value).getResultNumber()};
}

void Flow::visitSources(Value value, function_ref<void(OpOperand &)> visit) const {
  if (auto [loop, index] = findCarrier(value); loop) {
    if (loop->isAncestor(op))
      return;
    visit(loop.getInitsMutable()[index]);
    visit(loop.getYield().getValuesMutable()[index]);
    return;
  }
  Operation *producer = value.getDefiningOp();
  if (auto branch = dyn_cast_or_null<IfOp>(producer)) {
    unsigned index = cast<OpResult>(value).getResultNumber();
    visit(branch.getThenYield().getValuesMutable()[index]);
    visit(branch.getElseYield().getValuesMutable()[index]);
  } else if (auto pop = dyn_cast_or_null<PopOp>(producer)) {
    for (PushOp push : getPushes(pop.getTapeAttr().getAttr()))
      visit(push.getValueMutable());
  } else if (producer) {
    for (OpOperand &operand : producer->getOpOperands())
      visit(operand);
  }
}

static void visitCarried(WhileOp loop, unsigned index, function_ref<void(Value)> visit) {
  visit(loop.getConditionBlock().getArgument(index));
  visit(loop.getBodyBlock().getArgument(index));
  visit(loop.getResult(index));
}

void Flow::visitTargets(OpOperand &use, function_ref<void(Value)> visit) const {
  Operation *user = use.getOwner();
  unsigned index = use.getOperandNumber();
  if (isa<YieldOp>(user))
    user = user->getParentOp();
  else if (isa<IfOp>(user))
    return; // the condition
  if (auto loop = dyn_cast<WhileOp>(user))
    visitCarried(loop, index, visit);
  else if (auto branch = dyn_cast<IfOp>(user))
    visit(branch.getResult(index));
  else if (auto push = dyn_cast<PushOp>(user))
    for (PopOp pop : getPops(push.getTapeAttr().getAttr()))
      visit(pop.getValue());
  else
    for (Value result : user->getResults())
      visit(result);
}
