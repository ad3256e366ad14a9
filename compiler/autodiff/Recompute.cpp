//===- Recompute.cpp - Loops that save less and compute again ---------------===//

#include "compiler/autodiff/Differentiator.h"
#include "compiler/autodiff/Loop.h"
#include "dialects/dfg/Build.h"
#include "dialects/dfg/Regions.h"
#include "dialects/dfg/SizeOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

static bool isList(Value value) { return isa<ListType>(value.getType()); }

/// A list without elements that stands for one that nobody reads.
static Value emptyList(OpBuilder &b, Value like) {
  RankedTensorType element = cast<ListType>(like.getType()).getElementType();
  return ListCreateOp::create(b, like.getLoc(), scalar(b, like.getLoc(), b.getI32Type(), 0),
                              DimsAttr::get(b.getContext(), shapeOf(element)),
                              TypeAttr::get(element.getElementType()));
}

/// Whether `user` uses a list from outside of `around` that the backward region does not see, and
/// could not get: lists are not saved. `mapping` has those that are computed again.
bool Differentiator::usesHiddenList(Operation *user, Operation *around,
                                    const IRMapping &mapping) const {
  auto isHidden = [&](Value value) {
    Region *region = value.getParentRegion();
    return isList(value) && !around->isAncestor(region->getParentOp()) &&
           !region->isAncestor(op->getParentRegion()) && !mapping.contains(value);
  };
  return user
      ->walk([&](Operation *nested) {
        return llvm::any_of(nested->getOperands(), isHidden) ? WalkResult::interrupt()
                                                             : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Computes an iteration again before its gradients: only carried values come from the forward
/// loop. What has effects and what works on carried lists is not repeated; its results are saved.
LogicalResult Differentiator::sweepReplayed(Block &body) {
  Block *backward = b.getInsertionBlock();
  IRMapping mapping;
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator()) {
    auto binder = dyn_cast<BindSizeOp>(op);
    if ((!binder && !isMemoryEffectFree(&op)) || usesHiddenList(&op, &op, mapping)) {
      ops.push_back(&op);
      continue;
    }
    ops.push_back(b.clone(op, mapping));
    if (binder)
      markChecked(cast<BindSizeOp>(ops.back()));
    for (auto [result, copy] : llvm::zip_equal(op.getResults(), ops.back()->getResults())) {
      adjoints.alias(copy, result);
      replayed[result] = copy;
    }
  }
  for (auto [value, copy] : mapping.getValueMap())
    activity.copy(value, copy);
  for (Operation *op : llvm::reverse(ops))
    if (concerns(op) && failed(visit(op)))
      return failure();
  for (Operation &op : body)
    for (Value result : op.getResults())
      if (Value copy = replayed.lookup(result))
        result.replaceUsesWithIf(copy, [&](OpOperand &use) {
          return backward->getParent()->isAncestor(use.getOwner()->getParentRegion());
        });
  return success();
}

/// Whether a list only goes through operations that change it, so that no value depends on it.
static bool isOnlyWritten(Value list, Block &body) {
  for (Operation *user : list.getUsers()) {
    if (user->getBlock() != &body)
      return false;
    if (isa<YieldOp>(user))
      continue;
    if (user->getNumResults() != 1 || !isList(user->getResult(0)) || user->getNumRegions() > 0 ||
        !isOnlyWritten(user->getResult(0), body))
      return false;
  }
  return true;
}

/// Whether the iterations of a loop can run once more from carried values that were saved.
bool Differentiator::canReplayLoop(WhileOp loop) const {
  Block &body = loop.getBodyBlock();
  return isMemoryEffectFree(loop) && llvm::all_of(body.getArguments(), [&](Value argument) {
           return !isList(argument) || isOnlyWritten(argument, body);
         });
}

/// Saves the carried values in the iterations 0, 1, 4, 9, ...: about as many as the root of the
/// iterations, in a distance that is not more than twice the root, without knowing their number.
/// Gives the loop with the number of saved iterations and of all as its last results.
WhileOp Differentiator::saveSquares(WhileOp loop, SmallVectorImpl<FlatSymbolRefAttr> &tapes) {
  Location loc = loop.getLoc();
  OpBuilder at(loop, &context);
  Value zero = scalar(at, loc, at.getI32Type(), 0);
  loop = carryMore(loop, {zero, zero});
  Block &body = loop.getBodyBlock();
  Value saved = body.getArguments().end()[-2], index = body.getArguments().end()[-1];
  at.setInsertionPointToStart(&body);
  Value isSquare = EqualOp::create(at, loc, index, MulOp::create(at, loc, saved, saved));
  auto branch = IfOp::create(at, loc, TypeRange(), isSquare);
  for (BlockArgument argument : body.getArguments().drop_back(2)) {
    tapes.push_back({});
    if (isList(argument) || findInduction(loop, argument.getArgNumber()))
      continue;
    tapes.back() = makeTape(loc, argument.getType());
    auto inside = OpBuilder::atBlockEnd(&branch.getThenBlock(), &context);
    PushOp::create(inside, loc, tapes.back(), argument);
  }
  for (Block *block : {&branch.getThenBlock(), &branch.getElseBlock()}) {
    auto inside = OpBuilder::atBlockEnd(block, &context);
    YieldOp::create(inside, loc);
  }
  at.setInsertionPoint(loop.getYield());
  Value more = CastOp::create(at, loc, isSquare, at.getI32Type());
  Value nextSaved = AddOp::create(at, loc, saved, more);
  Value nextIndex = AddOp::create(at, loc, index, scalarLike(at, index, 1));
  addYields(loop, {nextSaved, nextIndex});
  return loop;
}

/// A loop that does `ops` for the iterations from `begin` to `end` of `loop`, which start from
/// `state`.
WhileOp Differentiator::replaySegment(WhileOp loop, ArrayRef<Operation *> ops, ValueRange state,
                                      Value begin, Value end) {
  Location loc = loop.getLoc();
  size_t count = state.size();
  SmallVector<Value> inits(state);
  inits.push_back(begin);
  auto replay = WhileOp::create(b, loc, inits);
  auto inside = OpBuilder::atBlockEnd(&replay.getConditionBlock(), &context);
  Value goesOn = LessOp::create(inside, loc, replay.getConditionBlock().getArgument(count), end);
  ConditionOp::create(inside, loc, goesOn);

  inside.setInsertionPointToEnd(&replay.getBodyBlock());
  IRMapping mapping;
  mapping.map(loop.getBodyBlock().getArguments().take_front(count),
              replay.getBodyBlock().getArguments().take_front(count));
  for (Operation *op : ops)
    inside.clone(*op, mapping);
  SmallVector<Value> values;
  for (Value value : loop.getYield().getValues().take_front(count))
    values.push_back(mapping.lookupOrDefault(value));
  Value index = replay.getBodyBlock().getArgument(count);
  values.push_back(AddOp::create(inside, loc, index, scalarLike(inside, index, 1)));
  YieldOp::create(inside, loc, values);

  mapping.map(loop.getResults().take_front(count), replay.getResults().take_front(count));
  for (auto [value, copy] : mapping.getValueMap())
    activity.copy(value, copy);
  return replay;
}

/// Removes the lists that a replayed loop carries for nobody, before somebody checks their
/// positions.
void Differentiator::dropLists(WhileOp replay) {
  Block &body = replay.getBodyBlock();
  llvm::BitVector drop(replay.getNumResults());
  SmallVector<Value> kept;
  for (auto [i, argument] : llvm::enumerate(body.getArguments()))
    if (isList(argument)) {
      drop.set(i);
      forget({argument, replay.getConditionBlock().getArgument(i), replay.getResult(i)});
    } else {
      kept.push_back(replay.getResult(i));
    }
  if (drop.none())
    return;
  YieldOp yield = replay.getYield();
  yield->eraseOperands(drop);
  for (Operation *op = yield->getPrevNode(); op;) {
    Operation *before = op->getPrevNode();
    if (llvm::any_of(op->getResults(), isList) && isOpTriviallyDead(op)) {
      forget(op->getResults());
      op->erase();
    }
    op = before;
  }
  body.eraseArguments(drop);
  replay.getConditionBlock().eraseArguments(drop);
  moveResults(kept, dropCarried(replay, drop).getResults());
}

/// What the body of `loop` starts from at iteration `begin`: popped, or computed from the position.
SmallVector<Value> Differentiator::loadState(WhileOp loop, ArrayRef<FlatSymbolRefAttr> tapes,
                                             Value begin) {
  SmallVector<Value> state;
  for (auto [i, tape] : llvm::enumerate(tapes)) {
    Value argument = loop.getBodyBlock().getArgument(i);
    if (tape)
      state.push_back(popFromTape(b, argument, tape));
    else if (std::optional<Induction> induction = findInduction(loop, i))
      state.push_back(buildInduction(b, loop.getLoc(), *induction, begin));
    else
      state.push_back(emptyList(b, argument));
    activity.copy(argument, state.back());
    activity.copy(loop.getResult(i), state.back());
  }
  return state;
}

/// A backward loop over segments: each starts from what was saved, runs once more, now saving what
/// its gradients need, and then backwards.
LogicalResult Differentiator::visitSegments(WhileOp loop) {
  Location loc = loop.getLoc();
  SmallVector<FlatSymbolRefAttr> tapes;
  SmallVector<Operation *> ops;
  for (Operation &forward : loop.getBodyBlock().without_terminator())
    ops.push_back(&forward);
  loop = saveSquares(loop, tapes);
  Carried carried = carriedBy(loop);
  SmallVector<Value> inits(loop.getResults().take_back(2));
  llvm::append_range(inits, initialGradients(loop, carried));
  auto backward = WhileOp::create(b, loc, inits);
  buildCountdownCondition(backward);

  OpBuilder::InsertionGuard guard(b);
  llvm::SaveAndRestore nest(loopDepth, loopDepth + 1);
  llvm::SaveAndRestore<std::optional<DimExpr>> most(capacity, std::nullopt);
  b.setInsertionPointToEnd(&backward.getBodyBlock());
  auto arguments = backward.getBodyBlock().getArguments();
  Value segment = SubOp::create(b, loc, arguments[0], scalarLike(b, arguments[0], 1));
  Value begin = MulOp::create(b, loc, segment, segment);
  SmallVector<Value> state = loadState(loop, tapes, begin);
  auto gradients = arguments.drop_front(2);
  size_t count = carried.positions.size();
  SmallVector<Value> outer = beginIteration(carried, gradients.drop_front(count));
  WhileOp replay = replaySegment(loop, ops, state, begin, arguments[1]);
  for (auto [position, gradient] : llvm::zip_equal(carried.positions, gradients.take_front(count)))
    adjoints.set(replay.getResult(position), gradient);
  if (failed(visitLoop(replay)))
    return failure();
  endIteration(loc, {segment, begin}, state, carried);
  dropLists(replay);
  for (Value value : llvm::make_filter_range(state, isList))
    context.eraseIfUnused(value.getDefiningOp());
  b.setInsertionPointAfter(backward);
  takeGradients(loop, carried, backward, 2, outer);
  return success();
}
