//===- Loop.cpp - Gradients of loops --------------------------------------===//
//
// The backward loop counts down from the number of iterations. It carries the
// gradients of the carried values, from the results to the inits, and sums
// those of the values around the loop.
//
//===----------------------------------------------------------------------===//

#include "compiler/autodiff/Loop.h"
#include "compiler/autodiff/Recompute.h"
#include "dialects/dfg/Build.h"
#include "dialects/dfg/Regions.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

static bool isInteger(Value value, uint64_t number) {
  DenseElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
         elements.getSplatValue<APInt>() == number;
}

std::optional<Induction> tfc::findInduction(WhileOp loop, unsigned i) {
  Value argument = loop.getBodyBlock().getArgument(i);
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  auto add = loop.getYield().getValues()[i].getDefiningOp<AddOp>();
  if (!add || !type || type.getRank() != 0 || !type.getElementType().isSignlessInteger())
    return std::nullopt;
  Value step = add.getLhs() == argument ? add.getRhs() : add.getLhs();
  bool isFirst = add.getLhs() == argument || add.getRhs() == argument;
  Operation *producer = step.getDefiningOp();
  bool isConstant = producer && producer->hasTrait<OpTrait::ConstantLike>();
  if (!isFirst || (!isConstant && loop->isAncestor(step.getParentRegion()->getParentOp())))
    return std::nullopt;
  return Induction{loop.getInits()[i], step};
}

Value tfc::buildInduction(OpBuilder &b, Location loc, const Induction &induction, Value index) {
  Value step = induction.step, init = induction.init, value = index;
  Type type = elementTypeOf(init.getType());
  if (elementTypeOf(index.getType()) != type)
    value = CastOp::create(b, loc, index, TypeAttr::get(type));
  if (!isInteger(step, 1)) {
    if (Operation *constant = step.getDefiningOp();
        constant && constant->hasTrait<OpTrait::ConstantLike>())
      step = b.clone(*constant)->getResult(0);
    value = MulOp::create(b, loc, value, step);
  }
  return isInteger(init, 0) ? value : AddOp::create(b, loc, init, value).getResult();
}

/// The number of iterations: known, derived from an existing counter, or counted by a new one.
Value LoopGradients::countIterations(WhileOp &loop) {
  OpBuilder &b = sweep.b;
  Location loc = loop.getLoc();
  if (std::optional<DimsAttr> trips = loop.getTrips())
    return sizeAs(b, loc, trips->getExprs().front(), b.getI32Type());
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    std::optional<Induction> induction = findInduction(loop, i);
    if (!induction || !isInteger(induction->step, 1) ||
        !isa<IntegerType>(elementTypeOf(induction->init.getType())))
      continue;
    Value last = loop.getResult(i);
    return isInteger(induction->init, 0) ? last
                                         : SubOp::create(b, loc, last, induction->init).getResult();
  }
  OpBuilder before(loop, &sweep.context);
  loop = carryMore(sweep, loop, scalar(before, loc, before.getI32Type(), 0));
  OpBuilder atEnd(loop.getYield(), &sweep.context);
  Value count = loop.getBodyBlock().getArguments().back();
  addYields(loop, AddOp::create(atEnd, loc, count, scalarLike(atEnd, count, 1)).getResult());
  return loop.getResults().back();
}

WhileOp tfc::carryMore(BackwardSweep &sweep, WhileOp loop, ValueRange inits) {
  SmallVector<Value> old(loop.getResults());
  loop = addCarried(loop, inits);
  sweep.moveResults(old, loop.getResults().take_front(old.size()));
  return loop;
}

void tfc::buildCountdownCondition(BackwardSweep &sweep, WhileOp loop) {
  OpBuilder::InsertionGuard guard(sweep.b);
  sweep.b.setInsertionPointToEnd(&loop.getConditionBlock());
  Value left = loop.getConditionBlock().getArgument(0);
  Value goesOn = GreaterOp::create(sweep.b, loop.getLoc(), left, scalarLike(sweep.b, left, 0));
  ConditionOp::create(sweep.b, loop.getLoc(), goesOn);
}

//===----------------------------------------------------------------------===//
// Values carried by the backward loop
//===----------------------------------------------------------------------===//

CarriedGradients::CarriedGradients(BackwardSweep &sweep, WhileOp loop)
    : sweep(sweep), loop(loop), captured(sweep.activity.captured(loop)) {
  for (auto [i, result] : llvm::enumerate(loop.getResults()))
    if (sweep.activity.isActive(result) ||
        sweep.activity.isActive(loop.getBodyBlock().getArgument(i)))
      positions.push_back(i);
}

SmallVector<Value> CarriedGradients::initial() {
  SmallVector<Value> gradients;
  for (unsigned i : positions)
    gradients.push_back(sweep.adjoints.get(loop.getResult(i)));
  for (Value value : captured)
    gradients.push_back(sweep.adjoints.get(value));
  return gradients;
}

SmallVector<Value> CarriedGradients::begin(ValueRange sums) const {
  SmallVector<Value> outer;
  for (auto [value, sum] : llvm::zip_equal(captured, sums)) {
    outer.push_back(sweep.adjoints.lookup(value));
    sweep.adjoints.set(value, sum);
  }
  return outer;
}

void CarriedGradients::end(Location loc, ValueRange leading, ValueRange carriedValues) const {
  SmallVector<Value> values(leading);
  for (unsigned i : positions)
    values.push_back(sweep.adjoints.get(carriedValues[i]));
  for (Value value : captured)
    values.push_back(sweep.adjoints.get(value));
  YieldOp::create(sweep.b, loc, values);
}

void CarriedGradients::take(WhileOp backward, unsigned leading, ArrayRef<Value> outer) {
  unsigned next = leading + positions.size();
  for (auto [i, value] : llvm::enumerate(captured)) {
    bool isUnchanged =
        backward.getYield().getValues()[next + i] == backward.getBodyBlock().getArgument(next + i);
    sweep.adjoints.set(value, isUnchanged ? outer[i] : backward.getResult(next + i));
  }
  for (auto [i, position] : llvm::enumerate(positions))
    sweep.accumulate(loop.getInits()[position], backward.getResult(leading + i));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult LoopGradients::visit(WhileOp loop) {
  if (loop.getRecompute() == Recompute::Sqrt && SegmentGradients::canReplay(loop))
    return SegmentGradients(sweep, tapes, *this).visit(loop);
  SmallVector<Value> inits{countIterations(loop)};
  CarriedGradients carried(sweep, loop);
  llvm::append_range(inits, carried.initial());
  auto backward = WhileOp::create(sweep.b, loop.getLoc(), inits);
  if (loop.getTripsAttr())
    backward.setTripsAttr(loop.getTripsAttr());
  buildCountdownCondition(sweep, backward);
  return visitIteration(loop, carried, backward);
}

LogicalResult LoopGradients::visitIteration(WhileOp loop, CarriedGradients &carried,
                                            WhileOp backward) {
  OpBuilder &b = sweep.b;
  OpBuilder::InsertionGuard guard(b);
  llvm::SaveAndRestore nest(sweep.loopDepth, sweep.loopDepth + 1);
  llvm::SaveAndRestore<std::optional<DimExpr>> most(sweep.capacity, tripsInside(loop));
  Block &body = loop.getBodyBlock();
  b.setInsertionPointToEnd(&backward.getBodyBlock());
  auto arguments = backward.getBodyBlock().getArguments();
  size_t count = carried.getPositions().size();
  Value index = SubOp::create(b, loop.getLoc(), arguments[0], scalarLike(b, arguments[0], 1));
  DenseMap<Value, Value> inductions;
  for (auto [i, argument] : llvm::enumerate(body.getArguments()))
    if (std::optional<Induction> induction = findInduction(loop, i))
      inductions[argument] = buildInduction(b, loop.getLoc(), *induction, index);
  Operation *prelude = &backward.getBodyBlock().back();

  SmallVector<Value> outer = carried.begin(arguments.drop_front(count + 1));
  for (auto [i, position] : llvm::enumerate(carried.getPositions()))
    sweep.accumulate(loop.getYield().getValues()[position], arguments[i + 1]);
  bool replays = loop.getRecompute() == Recompute::All;
  if (failed(replays ? visitReplayed(sweep, visitor, body) : visitor.visitBlock(body)))
    return failure();
  carried.end(loop.getLoc(), index, body.getArguments());

  Saved saved(body, backward.getBodyBlock(), sweep.op, &sweep.context);
  for (auto [argument, value] : inductions)
    saved.provide(argument, value);
  backward = save(loop, backward, saved, prelude);
  for (auto [argument, value] : inductions)
    if (value != index)
      sweep.context.eraseIfUnused(value.getDefiningOp());
  b.setInsertionPointAfter(backward);
  carried.take(backward, 1, outer);
  return success();
}

/// A carried value and its next value share a tape: the next value of an iteration is the one
/// popped in the previous iteration of the backward loop.
WhileOp LoopGradients::save(WhileOp loop, WhileOp backward, Saved &saved, Operation *prelude) {
  ArrayRef<Value> chosen = saved.choose();
  llvm::MapVector<Value, Value> arguments; // by the next value
  SmallVector<Value> last;
  for (auto [i, argument] : llvm::enumerate(loop.getBodyBlock().getArguments())) {
    Value next = loop.getYield().getValues()[i];
    if (next != argument && llvm::is_contained(chosen, argument) &&
        llvm::is_contained(chosen, next) && arguments.insert({next, argument}).second)
      last.push_back(loop.getResult(i));
  }
  size_t first = backward.getNumResults();
  backward = addCarried(backward, last);
  for (auto [i, pair] : llvm::enumerate(arguments))
    saved.provide(pair.first, backward.getBodyBlock().getArgument(first + i));
  tapes.save(saved, prelude);
  for (auto [next, argument] : arguments)
    addYields(backward, saved.get(argument));
  return backward;
}

/// The number of times the body of a loop runs per run of the outermost block, if known.
std::optional<DimExpr> LoopGradients::tripsInside(WhileOp loop) const {
  if (!sweep.capacity || !loop.getTrips())
    return std::nullopt;
  return *sweep.capacity * loop.getTrips()->getExprs().front();
}
