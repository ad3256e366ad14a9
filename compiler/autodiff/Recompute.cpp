//===- Recompute.cpp - Loops that recompute instead of saving -------------===//
//
// Computes forward iterations again in the backward loop, from all carried values or from those of
// some iterations. Loop.cpp decides which loops do so.
//
//===----------------------------------------------------------------------===//

#include "compiler/autodiff/Recompute.h"
#include "dialects/dfg/Build.h"
#include "dialects/dfg/Regions.h"
#include "dialects/dfg/SizeOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

static bool isList(Value value) { return isa<ListType>(value.getType()); }

/// An empty list in place of an unused one.
static Value emptyList(OpBuilder &b, Value like) {
  RankedTensorType element = cast<ListType>(like.getType()).getElementType();
  return ListCreateOp::create(b, like.getLoc(), scalar(b, like.getLoc(), b.getI32Type(), 0),
                              DimsAttr::get(b.getContext(), shapeOf(element)),
                              TypeAttr::get(element.getElementType()));
}

/// Returns true if `user` uses a list from outside of `around` that is not available to the
/// backward region, because lists are not saved. `mapping` has the recomputed ones.
static bool usesHiddenList(Operation *user, Operation *around, const IRMapping &mapping,
                           GradientsOp gradients) {
  auto isHidden = [&](Value value) {
    Region *region = value.getParentRegion();
    return isList(value) && !around->isAncestor(region->getParentOp()) &&
           !region->isAncestor(gradients->getParentRegion()) && !mapping.contains(value);
  };
  return user
      ->walk([&](Operation *nested) {
        return llvm::any_of(nested->getOperands(), isHidden) ? WalkResult::interrupt()
                                                             : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Operations with effects, and those on carried lists, are not repeated; their results are saved.
LogicalResult tfc::visitReplayed(BackwardSweep &sweep, Visitor &visitor, Block &body) {
  OpBuilder &b = sweep.b;
  Block *backward = b.getInsertionBlock();
  IRMapping mapping;
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator()) {
    auto binder = dyn_cast<BindSizeOp>(op);
    if ((!binder && !isMemoryEffectFree(&op)) || usesHiddenList(&op, &op, mapping, sweep.op)) {
      ops.push_back(&op);
      continue;
    }
    ops.push_back(b.clone(op, mapping));
    if (binder)
      cast<BindSizeOp>(ops.back()).setChecked(true);
    for (auto [result, copy] : llvm::zip_equal(op.getResults(), ops.back()->getResults())) {
      sweep.adjoints.alias(copy, result);
      sweep.replayed[result] = copy;
    }
  }
  for (auto [value, copy] : mapping.getValueMap())
    sweep.activity.copy(value, copy);
  for (Operation *op : llvm::reverse(ops))
    if (visitor.concerns(op) && failed(visitor.visit(op)))
      return failure();
  for (Operation &op : body)
    for (Value result : op.getResults())
      if (Value copy = sweep.replayed.lookup(result))
        result.replaceUsesWithIf(copy, [&](OpOperand &use) {
          return backward->getParent()->isAncestor(use.getOwner()->getParentRegion());
        });
  return success();
}

/// Returns true if a list is only used by operations that change it, so that no other value depends
/// on it.
static bool isOnlyWritten(Value list, Block &body) {
  SmallVector<Value> work{list};
  DenseSet<Value> seen{list};
  auto isWrite = [&](Operation *user) {
    return user->getBlock() == &body && user->getNumRegions() == 0 &&
           (isa<YieldOp>(user) || (user->getNumResults() == 1 && isList(user->getResult(0))));
  };
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!llvm::all_of(next.getUsers(), isWrite))
      return false;
    for (Operation *user : next.getUsers())
      for (Value result : user->getResults())
        if (seen.insert(result).second)
          work.push_back(result);
  }
  return true;
}

bool SegmentGradients::canReplay(WhileOp loop) {
  Block &body = loop.getBodyBlock();
  return isMemoryEffectFree(loop) && llvm::all_of(body.getArguments(), [&](Value argument) {
           return !isList(argument) || isOnlyWritten(argument, body);
         });
}

/// Saves the carried values in the iterations 0, 1, 4, 9, ...: about sqrt(T) of T iterations, at
/// most 2 sqrt(T) apart, without knowing T in advance. Returns the loop, whose last results are the
/// numbers of saved and of all iterations.
WhileOp SegmentGradients::saveSquares(WhileOp loop, SmallVectorImpl<FlatSymbolRefAttr> &saved) {
  Location loc = loop.getLoc();
  OpBuilder at(loop, &sweep.context);
  Value zero = scalar(at, loc, at.getI32Type(), 0);
  loop = carryMore(sweep, loop, {zero, zero});
  Block &body = loop.getBodyBlock();
  Value count = body.getArguments().end()[-2], index = body.getArguments().end()[-1];
  at.setInsertionPointToStart(&body);
  Value isSquare = EqualOp::create(at, loc, index, MulOp::create(at, loc, count, count));
  auto branch = IfOp::create(at, loc, TypeRange(), isSquare);
  for (BlockArgument argument : body.getArguments().drop_back(2)) {
    saved.push_back({});
    if (isList(argument) || findInduction(loop, argument.getArgNumber()))
      continue;
    saved.back() = tapes.make(loc, argument.getType());
    auto inside = OpBuilder::atBlockEnd(&branch.getThenBlock(), &sweep.context);
    PushOp::create(inside, loc, saved.back(), argument, ProbeAttr());
  }
  for (Block *block : {&branch.getThenBlock(), &branch.getElseBlock()}) {
    auto inside = OpBuilder::atBlockEnd(block, &sweep.context);
    YieldOp::create(inside, loc);
  }
  at.setInsertionPoint(loop.getYield());
  Value more = CastOp::create(at, loc, isSquare, at.getI32Type());
  Value nextSaved = AddOp::create(at, loc, count, more);
  Value nextIndex = AddOp::create(at, loc, index, scalarLike(at, index, 1));
  addYields(loop, {nextSaved, nextIndex});
  return loop;
}

/// A loop that executes `ops` for the iterations from `begin` to `end` of `loop`, starting from
/// `state`.
WhileOp SegmentGradients::replay(WhileOp loop, ArrayRef<Operation *> ops, ValueRange state,
                                 Value begin, Value end) {
  OpBuilder &b = sweep.b;
  Location loc = loop.getLoc();
  size_t count = state.size();
  SmallVector<Value> inits(state);
  inits.push_back(begin);
  auto replay = WhileOp::create(b, loc, inits);
  auto inside = OpBuilder::atBlockEnd(&replay.getConditionBlock(), &sweep.context);
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
    sweep.activity.copy(value, copy);
  return replay;
}

/// Removes unused carried lists of a replayed loop, before checks of their positions are inserted.
void SegmentGradients::dropLists(WhileOp replay) {
  Block &body = replay.getBodyBlock();
  llvm::BitVector drop(replay.getNumResults());
  SmallVector<Value> kept;
  for (auto [i, argument] : llvm::enumerate(body.getArguments()))
    if (isList(argument)) {
      drop.set(i);
      sweep.forget({argument, replay.getConditionBlock().getArgument(i), replay.getResult(i)});
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
      sweep.forget(op->getResults());
      op->erase();
    }
    op = before;
  }
  body.eraseArguments(drop);
  replay.getConditionBlock().eraseArguments(drop);
  sweep.moveResults(kept, dropCarried(replay, drop).getResults());
}

/// The carried values of `loop` at iteration `begin`: popped, or computed from the position.
SmallVector<Value> SegmentGradients::loadState(WhileOp loop, ArrayRef<FlatSymbolRefAttr> saved,
                                               Value begin) {
  OpBuilder &b = sweep.b;
  SmallVector<Value> state;
  for (auto [i, tape] : llvm::enumerate(saved)) {
    Value argument = loop.getBodyBlock().getArgument(i);
    if (tape)
      state.push_back(tapes.pop(b, argument, tape));
    else if (std::optional<Induction> induction = findInduction(loop, i))
      state.push_back(buildInduction(b, loop.getLoc(), *induction, begin));
    else
      state.push_back(emptyList(b, argument));
    sweep.activity.copy(argument, state.back());
    sweep.activity.copy(loop.getResult(i), state.back());
  }
  return state;
}

/// A backward loop over segments: each starts from saved values, runs again while saving the values
/// that its gradients need, and then runs backwards.
LogicalResult SegmentGradients::visit(WhileOp loop) {
  OpBuilder &b = sweep.b;
  Location loc = loop.getLoc();
  SmallVector<FlatSymbolRefAttr> saved;
  SmallVector<Operation *> ops;
  for (Operation &forward : loop.getBodyBlock().without_terminator())
    ops.push_back(&forward);
  loop = saveSquares(loop, saved);
  CarriedGradients carried(sweep, loop);
  SmallVector<Value> inits(loop.getResults().take_back(2));
  llvm::append_range(inits, carried.initial());
  auto backward = WhileOp::create(b, loc, inits);
  buildCountdownCondition(sweep, backward);

  OpBuilder::InsertionGuard guard(b);
  llvm::SaveAndRestore nest(sweep.loopDepth, sweep.loopDepth + 1);
  llvm::SaveAndRestore<std::optional<DimExpr>> most(sweep.capacity, std::nullopt);
  b.setInsertionPointToEnd(&backward.getBodyBlock());
  auto arguments = backward.getBodyBlock().getArguments();
  Value segment = SubOp::create(b, loc, arguments[0], scalarLike(b, arguments[0], 1));
  Value begin = MulOp::create(b, loc, segment, segment);
  SmallVector<Value> state = loadState(loop, saved, begin);
  auto gradients = arguments.drop_front(2);
  size_t count = carried.getPositions().size();
  SmallVector<Value> outer = carried.begin(gradients.drop_front(count));
  WhileOp again = replay(loop, ops, state, begin, arguments[1]);
  for (auto [position, gradient] :
       llvm::zip_equal(carried.getPositions(), gradients.take_front(count)))
    sweep.adjoints.set(again.getResult(position), gradient);
  if (failed(loops.visit(again)))
    return failure();
  carried.end(loc, {segment, begin}, state);
  dropLists(again);
  for (Value value : llvm::make_filter_range(state, isList))
    sweep.context.eraseIfUnused(value.getDefiningOp());
  b.setInsertionPointAfter(backward);
  carried.take(backward, 2, outer);
  return success();
}
