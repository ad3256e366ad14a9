//===- Activity.cpp - Values that need a gradient -------------------------===//
//
// Decides which values between the xs and the loss need a gradient, before any gradient is built.
// The edges along which it marks values are defined in Flow.cpp; later changes of the graph only
// copy and move the marks.
//
//===----------------------------------------------------------------------===//

#include "compiler/autodiff/Activity.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

/// Returns true if `user` runs before `op`, which may be nested in a region: later operations in a
/// loop around `op` do not affect it.
static bool runsBefore(Operation *user, Operation *op) {
  for (Operation *anchor = op; anchor && anchor->getBlock(); anchor = anchor->getParentOp())
    if (Operation *top = anchor->getBlock()->findAncestorOpInBlock(*user))
      return top != anchor && top->isBeforeInBlock(anchor);
  return false;
}

static bool blocksGradients(Operation *op) { return isa<StopGradientOp>(op); }

Activity::Activity(GradientsOp op) {
  Flow flow(op);
  markVaried(op, flow);
  markActive(op, flow);
}

void Activity::markVaried(GradientsOp op, const Flow &flow) {
  SmallVector<Value> work(op.getXs());
  varied.insert(work.begin(), work.end());
  auto reach = [&](Value value) {
    if (isDifferentiable(value.getType()) && varied.insert(value).second)
      work.push_back(value);
  };
  while (!work.empty())
    for (OpOperand &use : work.pop_back_val().getUses())
      if (runsBefore(use.getOwner(), op) && !blocksGradients(use.getOwner()))
        flow.visitTargets(use, reach);
}

void Activity::markActive(GradientsOp op, const Flow &flow) {
  SmallVector<Value> work;
  auto reach = [&](Value value) {
    if (varied.contains(value) && active.insert(value).second)
      work.push_back(value);
  };
  reach(op.getY());
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (auto pop = value.getDefiningOp<PopOp>())
      markTape(pop.getTapeAttr().getAttr(), flow);
    if (Operation *producer = value.getDefiningOp(); producer && blocksGradients(producer))
      continue;
    flow.visitSources(value, [&](OpOperand &source) { reach(source.get()); });
  }
}

void Activity::markTape(StringAttr tape, const Flow &flow) {
  if (!tapes.insert(tape).second)
    return;
  auto markAround = [&](Operation *op) {
    for (Operation *parent = op->getParentOp(); !isa<EntryOp>(parent);
         parent = parent->getParentOp())
      if (!withTapes.insert(parent).second)
        break;
  };
  llvm::for_each(flow.getPushes(tape), markAround);
  llvm::for_each(flow.getPops(tape), markAround);
}

bool Activity::concerns(Operation *op) const {
  if (auto push = dyn_cast<PushOp>(op))
    return isActiveTape(push.getTapeAttr().getAttr());
  if (auto pop = dyn_cast<PopOp>(op))
    return isActiveTape(pop.getTapeAttr().getAttr());
  return withTapes.contains(op) ||
         llvm::any_of(op->getResults(), [&](Value result) { return isActive(result); });
}

SmallVector<Value> Activity::captured(Operation *op) const {
  llvm::SmallSetVector<Value, 8> values;
  op->walk([&](Operation *nested) {
    if (nested == op)
      return;
    for (Value operand : nested->getOperands())
      if (isActive(operand) && !op->isAncestor(operand.getParentRegion()->getParentOp()))
        values.insert(operand);
  });
  return values.takeVector();
}

void Activity::move(Value value, Value to) {
  if (varied.erase(value))
    varied.insert(to);
  if (active.erase(value))
    active.insert(to);
}

void Activity::copy(Value value, Value copy) {
  if (varied.contains(value))
    varied.insert(copy);
  if (active.contains(value))
    active.insert(copy);
}
