// Lowers branches and loops of an entry to structured control flow on registers and addresses.

#include "compiler/host/ControlFlow.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

static bool isList(Value value) { return isa<ListType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

void ControlFlow::branch(IfOp op) {
  Value condition = scalars.get(op.getCondition());
  SmallVector<Type> types;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (isRegister(result))
      types.push_back(registerType(result.getType()));
    else if (isList(result))
      types.push_back(context.b.getI64Type());
    else
      addresses.setTarget(op, i, addresses.of(result));
  }
  auto branch = scf::IfOp::create(context.b, context.loc, types, condition, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  buildBranch(op, op.getThenBlock(), branch.thenBlock());
  buildBranch(op, op.getElseBlock(), branch.elseBlock());
  context.b.setInsertionPointAfter(branch);
  auto next = branch.getResults().begin();
  for (Value result : op.getResults())
    if (isRegister(result))
      scalars.set(result, *next++);
    else if (isList(result))
      lists.setLength(result, *next++);
  addresses.eraseTargets(op);
}

void ControlFlow::buildBranch(IfOp op, Block &region, Block *block) {
  context.b.setInsertionPointToEnd(block);
  steps.build(region);
  if (context.hasFailed)
    return;
  SmallVector<Value> yielded;
  for (auto [i, value] : llvm::enumerate(region.getTerminator()->getOperands())) {
    Value result = op.getResult(i);
    if (isRegister(result)) {
      yielded.push_back(scalars.get(value));
    } else if (isList(result)) {
      lists.copyInto(value, result);
      yielded.push_back(lists.lengthOf(value));
    } else {
      copies.copyYielded(value, i, addresses.target(op, i));
    }
  }
  steps.finish(region);
  scf::YieldOp::create(context.b, context.loc, yielded);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Block *ControlFlow::addBlock(Region &region, TypeRange types) {
  SmallVector<Location> locations(types.size(), context.loc);
  return context.b.createBlock(&region, region.end(), types, locations);
}

/// Returns true for a loop of a partition whose checks are ordered by its iterations.
static bool hasNumberedChecks(WhileOp op) {
  return anyWithin(op, [](Operation *nested) {
    auto check = dyn_cast<CheckOp>(nested);
    return check && check.getNumbers();
  });
}

void ControlFlow::buildIteration(Block &region, Block *block, bool isCounted) {
  if (isCounted)
    context.iterations.push_back(block->getArguments().back());
  steps.build(region);
  if (isCounted)
    context.iterations.pop_back();
}

void ControlFlow::loop(WhileOp op) {
  OpBuilder &b = context.b;
  SmallVector<Value> first = startLoop(op);
  bool isCounted = hasNumberedChecks(op);
  if (isCounted)
    first.push_back(context.constant(0));
  TypeRange types = ValueRange(first).getTypes();
  auto loop = scf::WhileOp::create(b, context.loc, types, first);
  Block *before = addBlock(loop.getBefore(), types);
  enter(op, op.getConditionBlock(), before->getArguments());
  buildIteration(op.getConditionBlock(), before, isCounted);
  if (context.hasFailed)
    return;
  Value condition = scalars.get(op.getCondition().getCondition());
  steps.finish(op.getConditionBlock());
  scf::ConditionOp::create(b, context.loc, condition, before->getArguments());
  Block *after = addBlock(loop.getAfter(), types);
  enter(op, op.getBodyBlock(), after->getArguments());
  buildIteration(op.getBodyBlock(), after, isCounted);
  if (context.hasFailed)
    return;
  SmallVector<Value> next = nextIteration(op);
  if (isCounted)
    next.push_back(
        arith::AddIOp::create(b, context.loc, after->getArguments().back(), context.constant(1)));
  steps.finish(op.getBodyBlock());
  scf::YieldOp::create(b, context.loc, next);
  b.setInsertionPointAfter(loop);
  leave(op, loop.getResults());
}

/// Copies the initial values into the loop's buffers. Returns the values carried into the first
/// iteration.
SmallVector<Value> ControlFlow::startLoop(WhileOp op) {
  SmallVector<Value> carried;
  for (auto [i, init] : llvm::enumerate(op.getInits())) {
    auto result = cast<OpResult>(op.getResult(i));
    if (isRegister(result)) {
      carried.push_back(scalars.get(init));
      continue;
    }
    if (isList(result)) {
      lists.copyInto(init, result);
      carried.push_back(lists.lengthOf(init));
      continue;
    }
    Value current = addresses.of(result);
    copies.copy(current, rootOf(init));
    if (!hasSingleBuffer(op, i))
      carried.append({current, addresses.alternate(result)});
  }
  return carried;
}

/// Sets the registers and addresses of the region's arguments.
void ControlFlow::enter(WhileOp op, Block &region, ValueRange carried) {
  auto next = carried.begin();
  for (auto [i, argument] : llvm::enumerate(region.getArguments())) {
    Value result = op.getResult(i);
    if (isRegister(result)) {
      scalars.set(argument, *next++);
    } else if (isList(result)) {
      lists.setLength(argument, *next++);
    } else if (hasSingleBuffer(op, i)) {
      addresses.set(argument, addresses.of(result));
      addresses.setTarget(op, i, addresses.of(result));
    } else {
      addresses.set(argument, *next++);
      addresses.setTarget(op, i, *next++);
    }
  }
}

/// Copies yielded values that were not computed in place. Returns the values carried into the next
/// iteration, with alternating buffers swapped.
SmallVector<Value> ControlFlow::nextIteration(WhileOp op) {
  SmallVector<Value> carried;
  lists.copyYielded(op);
  for (auto [i, value] : llvm::enumerate(op.getYield().getValues())) {
    Value result = op.getResult(i), old = op.getBodyBlock().getArgument(i);
    if (isRegister(result)) {
      carried.push_back(scalars.get(value));
      continue;
    }
    if (isList(result)) {
      carried.push_back(lists.lengthOf(value));
      continue;
    }
    Value current = addresses.of(old), target = addresses.target(op, i);
    bool isUnchanged = rootOf(value) == old;
    if (!isUnchanged)
      copies.copyYielded(value, i, target);
    if (hasSingleBuffer(op, i))
      continue;
    if (isUnchanged)
      carried.append({current, target});
    else
      carried.append({target, current});
  }
  return carried;
}

void ControlFlow::leave(WhileOp op, ValueRange carried) {
  auto next = carried.begin();
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (isRegister(result)) {
      scalars.set(result, *next++);
    } else if (isList(result)) {
      lists.setLength(result, *next++);
    } else if (!hasSingleBuffer(op, i)) {
      addresses.set(result, *next);
      next += 2;
    }
  }
  addresses.eraseTargets(op);
}
