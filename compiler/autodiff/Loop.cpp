//===- Loop.cpp - Gradients of loops ----------------------------------------===//
//
// The backward loop counts down from the number of iterations. It carries the
// gradients of the carried values, from the results to the inits, and sums
// those of the values around the loop.
//
//===----------------------------------------------------------------------===//

#include "compiler/autodiff/Loop.h"
#include "compiler/autodiff/Differentiator.h"
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

/// The number of iterations: known, told by a counter that is there, or counted from here on.
Value Differentiator::countIterations(WhileOp &loop) {
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
  OpBuilder before(loop, &context);
  loop = carryMore(loop, scalar(before, loc, before.getI32Type(), 0));
  OpBuilder atEnd(loop.getYield(), &context);
  Value count = loop.getBodyBlock().getArguments().back();
  addYields(loop, AddOp::create(atEnd, loc, count, scalarLike(atEnd, count, 1)).getResult());
  return loop.getResults().back();
}

WhileOp Differentiator::carryMore(WhileOp loop, ValueRange inits) {
  SmallVector<Value> old(loop.getResults());
  loop = addCarried(loop, inits);
  moveResults(old, loop.getResults().take_front(old.size()));
  return loop;
}

Differentiator::Carried Differentiator::carriedBy(WhileOp loop) {
  Carried carried;
  for (auto [i, result] : llvm::enumerate(loop.getResults()))
    if (activity.isActive(result) || activity.isActive(loop.getBodyBlock().getArgument(i)))
      carried.positions.push_back(i);
  carried.captured = activity.captured(loop);
  return carried;
}

SmallVector<Value> Differentiator::initialGradients(WhileOp loop, const Carried &carried) {
  SmallVector<Value> gradients;
  for (unsigned i : carried.positions)
    gradients.push_back(adjoints.get(loop.getResult(i)));
  for (Value value : carried.captured)
    gradients.push_back(adjoints.get(value));
  return gradients;
}

/// Lets what an iteration adds to the gradients of values around the loop go to `sums`; gives the
/// gradients that they had.
SmallVector<Value> Differentiator::beginIteration(const Carried &carried, ValueRange sums) {
  SmallVector<Value> outer;
  for (auto [value, sum] : llvm::zip_equal(carried.captured, sums)) {
    outer.push_back(adjoints.lookup(value));
    adjoints.set(value, sum);
  }
  return outer;
}

/// Ends the body of a backward loop.
void Differentiator::endIteration(Location loc, ValueRange leading, ValueRange carriedValues,
                                  const Carried &carried) {
  SmallVector<Value> values(leading);
  for (unsigned i : carried.positions)
    values.push_back(adjoints.get(carriedValues[i]));
  for (Value value : carried.captured)
    values.push_back(adjoints.get(value));
  YieldOp::create(b, loc, values);
}

/// Takes the gradients of what went into a loop from the results of its backward loop, behind
/// `leading` others.
void Differentiator::takeGradients(WhileOp loop, const Carried &carried, WhileOp backward,
                                   unsigned leading, ArrayRef<Value> outer) {
  unsigned next = leading + carried.positions.size();
  for (auto [i, value] : llvm::enumerate(carried.captured)) {
    bool isUnchanged =
        backward.getYield().getValues()[next + i] == backward.getBodyBlock().getArgument(next + i);
    adjoints.set(value, isUnchanged ? outer[i] : backward.getResult(next + i));
  }
  for (auto [i, position] : llvm::enumerate(carried.positions))
    accumulate(loop.getInits()[position], backward.getResult(leading + i));
}

void Differentiator::buildCountdownCondition(WhileOp loop) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&loop.getConditionBlock());
  Value left = loop.getConditionBlock().getArgument(0);
  Value goesOn = GreaterOp::create(b, loop.getLoc(), left, scalarLike(b, left, 0));
  ConditionOp::create(b, loop.getLoc(), goesOn);
}

LogicalResult Differentiator::visitLoop(WhileOp loop) {
  if (loop.getRecompute() == "sqrt" && canReplayLoop(loop))
    return visitSegments(loop);
  SmallVector<Value> inits{countIterations(loop)};
  Carried carried = carriedBy(loop);
  llvm::append_range(inits, initialGradients(loop, carried));
  auto backward = WhileOp::create(b, loop.getLoc(), inits);
  if (loop.getTripsAttr())
    backward.setTripsAttr(loop.getTripsAttr());
  buildCountdownCondition(backward);
  return sweepIteration(loop, carried, backward);
}

LogicalResult Differentiator::sweepIteration(WhileOp loop, const Carried &carried,
                                             WhileOp backward) {
  OpBuilder::InsertionGuard guard(b);
  llvm::SaveAndRestore nest(loopDepth, loopDepth + 1);
  llvm::SaveAndRestore<std::optional<DimExpr>> most(capacity, tripsInside(loop));
  Block &body = loop.getBodyBlock();
  b.setInsertionPointToEnd(&backward.getBodyBlock());
  auto arguments = backward.getBodyBlock().getArguments();
  size_t count = carried.positions.size();
  Value index = SubOp::create(b, loop.getLoc(), arguments[0], scalarLike(b, arguments[0], 1));
  DenseMap<Value, Value> inductions;
  for (auto [i, argument] : llvm::enumerate(body.getArguments()))
    if (std::optional<Induction> induction = findInduction(loop, i))
      inductions[argument] = buildInduction(b, loop.getLoc(), *induction, index);
  Operation *prelude = &backward.getBodyBlock().back();

  SmallVector<Value> outer = beginIteration(carried, arguments.drop_front(count + 1));
  for (auto [i, position] : llvm::enumerate(carried.positions))
    accumulate(loop.getYield().getValues()[position], arguments[i + 1]);
  bool replays = loop.getRecompute() == "all";
  if (failed(replays ? sweepReplayed(body) : sweepBlock(body)))
    return failure();
  endIteration(loop.getLoc(), index, body.getArguments(), carried);

  Saved saved(body, backward.getBodyBlock(), op, &context);
  for (auto [argument, value] : inductions)
    saved.provide(argument, value);
  backward = saveOfLoop(loop, backward, saved, prelude);
  for (auto [argument, value] : inductions)
    if (value != index)
      context.eraseIfUnused(value.getDefiningOp());
  b.setInsertionPointAfter(backward);
  takeGradients(loop, carried, backward, 1, outer);
  return success();
}

/// A carried value and its next one need one tape: what is next in an iteration is what was popped
/// in the one that the backward loop has just left.
WhileOp Differentiator::saveOfLoop(WhileOp loop, WhileOp backward, Saved &saved,
                                   Operation *prelude) {
  ArrayRef<Value> chosen = saved.choose();
  llvm::MapVector<Value, Value> arguments; // by what they are next
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
  saveOnTapes(saved, prelude);
  for (auto [next, argument] : arguments)
    addYields(backward, saved.get(argument));
  return backward;
}

/// How often the body of a loop runs in the outermost block, if that is known.
std::optional<DimExpr> Differentiator::tripsInside(WhileOp loop) const {
  if (!capacity || !loop.getTrips())
    return std::nullopt;
  return *capacity * loop.getTrips()->getExprs().front();
}
