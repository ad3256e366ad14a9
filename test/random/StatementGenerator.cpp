//===- StatementGenerator.cpp - Branches, loops, state, gradients ---------===//
//
// Generates statements with regions, state and gradients, and chooses among the generators of all
// others.
//
//===----------------------------------------------------------------------===//

#include "StatementGenerator.h"
#include "dialects/dfg/Gradients.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

/// Draws from a stream of its own: the number of its draws does not affect the next statement.
void StatementGenerator::makeStatement() {
  Random rest = scope.random;
  scope.random = rest.fork();
  drawStatement();
  scope.random = rest;
}

void StatementGenerator::drawStatement() {
  double choice = scope.random.unit();
  if (choice < 0.05 && scope.depth < mostDepth() && makeBranch())
    return;
  if (choice < 0.09 && scope.depth < mostDepth() && makeLoop())
    return;
  if (choice < 0.12 && scope.depth == 0 && makeGradients())
    return;
  if (choice < 0.19 && makeRead())
    return;
  if ((choice < 0.24 || (scope.depth && scope.random.chance(0.06))) && makeAssign())
    return;
  if (choice < 0.27 && scope.attempt([&] { return families.makeConvolution(); }))
    return;
  if (choice < 0.29 && scope.attempt([&] { return families.makePool(); }))
    return;
  if (choice < 0.31 && scope.attempt([&] { return families.makeList(); }))
    return;
  if (choice < 0.34 && !dataflow.isActive() && families.tryBinding())
    return;
  if (scope.style.hasGraphs && 0.34 <= choice && choice < 0.37 && !dataflow.isActive() &&
      scope.depth < mostDepth() && dataflow.makeDataflow())
    return;
  if (choice < 0.38 && scope.attempt([&] { return families.makeScalars(); }))
    return;
  if (choice < 0.40 && scope.attempt([&] { return families.makeProduct(); }))
    return;
  for (unsigned attempt = 0; attempt < 4 && !operations.makeOperation(); ++attempt) {
  }
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

bool StatementGenerator::makeRead() {
  if (scope.variables.empty())
    return false;
  int64_t number = scope.random.below(scope.variables.size());
  scope.remember(scope.builder.getResources().read("v" + std::to_string(number),
                                                   scope.variables[number], scope.location));
  return true;
}

/// Two variables exchange their values.
bool StatementGenerator::makeExchange(int64_t one, int64_t other) {
  std::string names[] = {"v" + std::to_string(one), "v" + std::to_string(other)};
  Value first = scope.builder.getResources().read(names[0], scope.variables[one], scope.location);
  Value second =
      scope.builder.getResources().read(names[1], scope.variables[other], scope.location);
  scope.remember(scope.builder.getResources().assign(names[0], second, scope.location));
  scope.remember(scope.builder.getResources().assign(names[1], first, scope.location));
  return true;
}

bool StatementGenerator::makeAssign() {
  if (scope.variables.empty())
    return false;
  int64_t number = scope.random.below(scope.variables.size());
  std::string name = "v" + std::to_string(number);
  Random apart = scope.random.apart("exchange");
  int64_t other = apart.below(scope.variables.size());
  if (other != number && scope.variables[other] == scope.variables[number] && apart.chance(0.5))
    return makeExchange(number, other);
  Value value = scope.findValue([&](Value v) {
    Operation *producer = v.getDefiningOp();
    auto read = dyn_cast_or_null<ReadOp>(producer);
    return v.getType() == scope.variables[number] && producer &&
           (!read || read.getVariable() != name);
  });
  if (!value || scope.random.chance(0.3))
    value = operations.change(
        scope.builder.getResources().read(name, scope.variables[number], scope.location));
  if (!value)
    return false;
  scope.remember(scope.builder.getResources().assign(name, value, scope.location));
  return true;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

template <typename Body> void StatementGenerator::inBlock(Block &block, Body body) {
  size_t outside = scope.pool.size(), boundOutside = scope.bound.size();
  scope.builder.toEnd(block);
  scope.remember(block.getArguments());
  ++scope.depth;
  for (int64_t left = scope.random.between(1, 4 * std::min(scope.style.scale, 2u)); left > 0;
       --left)
    makeStatement();
  if (scope.random.chance(0.5))
    families.readLists(outside);
  // Values with a size that is bound in the block cannot leave it.
  std::vector<std::string> own(scope.bound.begin() + boundOutside, scope.bound.end());
  llvm::erase_if(scope.pool, [&](Value value) { return Scope::mentions(value.getType(), own); });
  body(outside);
  --scope.depth;
  scope.pool.resize(outside);
  scope.bound.resize(boundOutside);
}

Value StatementGenerator::yieldedValue(Type type, size_t blockStart) {
  Values inside;
  for (Value value : ArrayRef(scope.pool).drop_front(blockStart))
    if (value.getType() == type)
      inside.push_back(value);
  return inside.empty()             ? Value()
         : scope.random.chance(0.7) ? inside.back()
                                    : scope.random.pick(inside);
}

bool StatementGenerator::makeBranch() {
  Builder b(scope.builder.getContext());
  Value condition = scope.valueOf(tensorOf({}, b.getI1Type()));
  auto branch = scope.builder.beginIf(condition, scope.location);
  Values onTrue, onFalse;
  inBlock(branch.getThenBlock(), [&](size_t outside) {
    for (int64_t left = scope.random.between(1, 3); left > 0; --left)
      if (scope.pool.size() > outside)
        onTrue.push_back(scope.pool[outside + scope.random.below(scope.pool.size() - outside)]);
  });
  inBlock(branch.getElseBlock(), [&](size_t outside) {
    for (Value value : onTrue) {
      Value other = yieldedValue(value.getType(), outside);
      if (!other)
        other = scope.findValue([&](Value v) { return v.getType() == value.getType(); });
      if (!other && isa<RankedTensorType>(value.getType()))
        other = scope.valueOf(cast<RankedTensorType>(value.getType()));
      onFalse.push_back(other);
    }
  });
  for (size_t i = onTrue.size(); i-- > 0;)
    if (!onFalse[i]) { // a list that the other side has no match for
      onTrue.erase(onTrue.begin() + i);
      onFalse.erase(onFalse.begin() + i);
    }
  scope.remember(scope.builder.finishIf(branch, onTrue, onFalse).getResults());
  return true;
}

/// A loop that counts to a limit, possibly from a feed, and carries some values.
bool StatementGenerator::makeLoop() {
  Builder b(scope.builder.getContext());
  Type i32 = b.getI32Type();
  Value limit = scope.random.chance(0.5)
                    ? scope.addFeed(tensorOf({}, i32), "_below_5")
                    : scope.builder.scalar(scope.random.below(5), i32, scope.location);
  Values inits{scope.builder.scalar(int64_t(0), i32, scope.location)};
  if (Value list = scope.findValue([](Value v) { return isa<ListType>(v.getType()); }))
    inits.push_back(list);
  for (int64_t left = scope.random.between(1, 3); left > 0; --left)
    if (Value init = scope.findValue([](Value) { return true; }))
      inits.push_back(init);
  WhileOp loop = scope.builder.beginWhile(inits, scope.location);
  scope.builder.toEnd(loop.getConditionBlock());
  auto less = scope.builder.create("less", {loop.getConditionBlock().getArgument(0), limit}, {},
                                   scope.location);
  scope.builder.condition((*less)->getResult(0), scope.location);
  Values next;
  inBlock(loop.getBodyBlock(), [&](size_t outside) {
    Value counter = loop.getBodyBlock().getArgument(0);
    Value one = scope.builder.scalar(int64_t(1), i32, scope.location);
    next.push_back(
        (*scope.builder.create("add", {counter, one}, {}, scope.location))->getResult(0));
    for (BlockArgument carried : loop.getBodyBlock().getArguments().drop_front()) {
      Value value = yieldedValue(carried.getType(), outside);
      Value changed = isa<BlockArgument>(value) && scope.random.chance(0.85)
                          ? operations.change(value)
                          : Value();
      next.push_back(changed ? changed : value);
    }
  });
  std::optional<Recompute> recompute =
      scope.random.pick(std::initializer_list<std::optional<Recompute>>{
          std::nullopt, std::nullopt, std::nullopt, Recompute::All, Recompute::Sqrt});
  scope.remember(scope.builder.finishWhile(loop, {}, next, std::nullopt, recompute).getResults());
  return true;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

static bool isFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

/// Floats on which `y` depends through floats, those outside of regions.
static llvm::SetVector<Value> floatsBehind(Value y) {
  llvm::SetVector<Value> found;
  SmallVector<Value> pending{y};
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op)
      continue;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (isFloat(operand) && !op->isProperAncestor(operand.getParentBlock()->getParentOp()) &&
            operand.getParentBlock() == op->getBlock() && found.insert(operand))
          pending.push_back(operand);
    });
  }
  return found;
}

bool StatementGenerator::makeGradients() {
  auto isMade = [](Value v) { return isFloat(v) && v.getDefiningOp(); };
  auto hasRegions = [&](Value v) { return isMade(v) && v.getDefiningOp()->getNumRegions() > 0; };
  Value value = scope.random.chance(0.6) ? scope.findValue(hasRegions) : Value();
  if (!value)
    value = scope.findValue(isMade);
  if (!value)
    return false;
  llvm::SetVector<Value> known = floatsBehind(value);
  // It is undefined which results of a graph are the same value, because it may forward values.
  known.remove_if([](Value x) { return isa_and_nonnull<DataflowOp>(x.getDefiningOp()); });
  if (known.empty())
    return false;
  if (cast<RankedTensorType>(value.getType()).getRank() > 0)
    value = (*scope.builder.create(scope.random.chance(0.5) ? "sum" : "mean", value, {},
                                   scope.location))
                ->getResult(0);
  llvm::SetVector<Value> xs;
  for (int64_t left = scope.random.between(1, 3); left > 0; --left)
    xs.insert(scope.random.pick(known));
  SmallVector<int64_t> sparse;
  ReadersTowards readers(value);
  for (auto [i, x] : llvm::enumerate(xs))
    if (readers.isSparseGradient(x) && scope.random.chance(0.5))
      sparse.push_back(i);
  scope.remember(
      scope.builder.gradients(value, xs.getArrayRef(), sparse, scope.location)->getResults());
  return true;
}

} // namespace tfc::random
