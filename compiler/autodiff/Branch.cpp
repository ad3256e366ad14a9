//===- Branch.cpp - Gradients of branches ---------------------------------===//
//
// Builds the gradient of a `dfg.if` as a branch on the same condition. It is apart from loops,
// because a branch can return the forward values that it saves, and a loop has to put them on
// tapes.
//
//===----------------------------------------------------------------------===//

#include "compiler/autodiff/Branch.h"
#include "dialects/dfg/Regions.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

/// A branch on the same condition computes the gradients of captured values: each region adds its
/// contribution to the gradients accumulated so far.
LogicalResult BranchGradients::visit(IfOp branch) {
  SmallVector<Value> captured = sweep.activity.captured(branch), seeds;
  for (Value result : branch.getResults())
    seeds.push_back(sweep.adjoints.lookup(result));
  auto backward = IfOp::create(sweep.b, branch.getLoc(), ValueRange(captured).getTypes(),
                               branch.getCondition());
  llvm::BitVector changed(captured.size());
  if (failed(
          visitRegion(branch.getThenBlock(), seeds, captured, backward.getThenBlock(), changed)) ||
      failed(visitRegion(branch.getElseBlock(), seeds, captured, backward.getElseBlock(), changed)))
    return failure();
  save(branch, backward);
  for (unsigned i : changed.set_bits())
    sweep.adjoints.set(captured[i], backward.getResult(i));
  return success();
}

LogicalResult BranchGradients::visitRegion(Block &forward, ValueRange seeds,
                                           ArrayRef<Value> captured, Block &backward,
                                           llvm::BitVector &changed) {
  OpBuilder::InsertionGuard guard(sweep.b);
  sweep.b.setInsertionPointToEnd(&backward);
  SmallVector<Value> before, gradients;
  for (Value value : captured)
    before.push_back(sweep.adjoints.lookup(value));
  for (auto [value, seed] : llvm::zip_equal(forward.getTerminator()->getOperands(), seeds))
    if (seed)
      sweep.accumulate(value, seed);
  if (failed(visitor.visitBlock(forward)))
    return failure();
  for (auto [i, value] : llvm::enumerate(captured)) {
    if (sweep.adjoints.lookup(value) != before[i])
      changed.set(i);
    gradients.push_back(sweep.adjoints.get(value));
    sweep.adjoints.set(value, before[i]);
  }
  YieldOp::create(sweep.b, forward.getTerminator()->getLoc(), gradients);
  return success();
}

/// Outside of loops saved values become results of the forward branch, with zeros from the other
/// region; in a loop they are pushed on tapes, which grow only if the region runs. Values whose
/// types mention sizes bound in the region cannot become results.
void BranchGradients::save(IfOp forward, IfOp backward) {
  Saved onTrue(forward.getThenBlock(), backward.getThenBlock(), sweep.op, &sweep.context);
  Saved onFalse(forward.getElseBlock(), backward.getElseBlock(), sweep.op, &sweep.context);
  if (sweep.loopDepth > 0 || onTrue.bindsSizes() || onFalse.bindsSizes()) {
    tapes.save(onTrue, nullptr);
    tapes.save(onFalse, nullptr);
    return;
  }
  SmallVector<Value> trueValues, falseValues;
  unsigned first = forward.getNumResults();
  auto addResult = [&](SmallVectorImpl<Value> &values, SmallVectorImpl<Value> &others,
                       YieldOp otherYield, Value value) {
    OpBuilder other(otherYield, &sweep.context);
    values.push_back(value);
    others.push_back(zerosLike(other, value));
  };
  for (Value value : onTrue.choose())
    addResult(trueValues, falseValues, forward.getElseYield(), value);
  for (Value value : onFalse.choose())
    addResult(falseValues, trueValues, forward.getThenYield(), value);
  SmallVector<Value> old(forward.getResults());
  if (!trueValues.empty())
    forward = addResults(forward, trueValues, falseValues);
  sweep.moveResults(old, forward.getResults().take_front(old.size()));
  auto load = [&](OpBuilder &, Value) -> Value { return forward.getResult(first++); };
  onTrue.load(nullptr, load);
  onFalse.load(nullptr, load);
}
