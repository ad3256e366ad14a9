//===- Branch.cpp - Gradients of branches -----------------------------------===//

#include "compiler/autodiff/Differentiator.h"
#include "dialects/dfg/Regions.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

/// A branch on the same condition gives the gradients of what the branches captured: each region
/// adds its part to what was there before.
LogicalResult Differentiator::visitBranch(IfOp branch) {
  SmallVector<Value> captured = activity.captured(branch), seeds;
  for (Value result : branch.getResults())
    seeds.push_back(adjoints.lookup(result));
  auto backward =
      IfOp::create(b, branch.getLoc(), ValueRange(captured).getTypes(), branch.getCondition());
  llvm::BitVector changed(captured.size());
  if (failed(
          sweepBranch(branch.getThenBlock(), seeds, captured, backward.getThenBlock(), changed)) ||
      failed(sweepBranch(branch.getElseBlock(), seeds, captured, backward.getElseBlock(), changed)))
    return failure();
  saveOfBranches(branch, backward);
  for (unsigned i : changed.set_bits())
    adjoints.set(captured[i], backward.getResult(i));
  return success();
}

LogicalResult Differentiator::sweepBranch(Block &forward, ValueRange seeds,
                                          ArrayRef<Value> captured, Block &backward,
                                          llvm::BitVector &changed) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&backward);
  SmallVector<Value> before, gradients;
  for (Value value : captured)
    before.push_back(adjoints.lookup(value));
  for (auto [value, seed] : llvm::zip_equal(forward.getTerminator()->getOperands(), seeds))
    if (seed)
      accumulate(value, seed);
  if (failed(sweepBlock(forward)))
    return failure();
  for (auto [i, value] : llvm::enumerate(captured)) {
    if (adjoints.lookup(value) != before[i])
      changed.set(i);
    gradients.push_back(adjoints.get(value));
    adjoints.set(value, before[i]);
  }
  YieldOp::create(b, forward.getTerminator()->getLoc(), gradients);
  return success();
}

/// Outside of loops what is saved leaves the forward branch as a result, with zeros from the other
/// region; in a loop it is pushed on tapes, which only grow where the region runs. Types with sizes
/// that a region binds cannot leave it.
void Differentiator::saveOfBranches(IfOp forward, IfOp backward) {
  Saved onTrue(forward.getThenBlock(), backward.getThenBlock(), op, &context);
  Saved onFalse(forward.getElseBlock(), backward.getElseBlock(), op, &context);
  if (loopDepth > 0 || onTrue.bindsSizes() || onFalse.bindsSizes()) {
    saveOnTapes(onTrue, nullptr);
    saveOnTapes(onFalse, nullptr);
    return;
  }
  SmallVector<Value> trueValues, falseValues;
  unsigned first = forward.getNumResults();
  auto addResult = [&](SmallVectorImpl<Value> &values, SmallVectorImpl<Value> &others,
                       YieldOp otherYield, Value value) {
    OpBuilder other(otherYield, &context);
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
  moveResults(old, forward.getResults().take_front(old.size()));
  auto load = [&](OpBuilder &, Value) -> Value { return forward.getResult(first++); };
  onTrue.load(nullptr, load);
  onFalse.load(nullptr, load);
}
