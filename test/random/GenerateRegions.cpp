//===- GenerateRegions.cpp - Branches, loops, state, gradients --------------===//

#include "Generator.h"
#include "dialects/dfg/Gradients.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

/// Draws from a stream of its own: however many it takes, the next statement finds the same.
void Generator::makeStatement() {
  Random rest = random;
  random = rest.fork();
  drawStatement();
  random = rest;
}

void Generator::drawStatement() {
  double choice = random.unit();
  if (choice < 0.05 && depth < mostDepth() && makeBranch())
    return;
  if (choice < 0.09 && depth < mostDepth() && makeLoop())
    return;
  if (choice < 0.12 && depth == 0 && makeGradients())
    return;
  if (choice < 0.19 && makeRead())
    return;
  if ((choice < 0.24 || (depth && random.chance(0.06))) && makeAssign())
    return;
  if (choice < 0.27 && attempt([&] { return makeConvolution(); }))
    return;
  if (choice < 0.29 && attempt([&] { return makePool(); }))
    return;
  if (choice < 0.31 && attempt([&] { return makeList(); }))
    return;
  if (choice < 0.34 && !isInGraph && tryBinding())
    return;
  if (style.hasGraphs && 0.34 <= choice && choice < 0.37 && !isInGraph && depth < mostDepth() &&
      makeDataflow())
    return;
  if (choice < 0.38 && attempt([&] { return makeScalars(); }))
    return;
  if (choice < 0.40 && attempt([&] { return makeProduct(); }))
    return;
  for (unsigned attempt = 0; attempt < 4 && !makeOperation(); ++attempt) {
  }
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

bool Generator::makeRead() {
  if (variables.empty())
    return false;
  int64_t number = random.below(variables.size());
  remember(builder.read("v" + std::to_string(number), variables[number], location));
  return true;
}

/// Two variables exchange their values.
bool Generator::makeExchange(int64_t one, int64_t other) {
  std::string names[] = {"v" + std::to_string(one), "v" + std::to_string(other)};
  Value first = builder.read(names[0], variables[one], location);
  Value second = builder.read(names[1], variables[other], location);
  remember(builder.assign(names[0], second, location));
  remember(builder.assign(names[1], first, location));
  return true;
}

bool Generator::makeAssign() {
  if (variables.empty())
    return false;
  int64_t number = random.below(variables.size());
  std::string name = "v" + std::to_string(number);
  Random apart = random.apart("exchange");
  int64_t other = apart.below(variables.size());
  if (other != number && variables[other] == variables[number] && apart.chance(0.5))
    return makeExchange(number, other);
  Value value = findValue([&](Value v) {
    Operation *producer = v.getDefiningOp();
    auto read = dyn_cast_or_null<ReadOp>(producer);
    return v.getType() == variables[number] && producer && (!read || read.getVariable() != name);
  });
  if (!value || random.chance(0.3))
    value = change(builder.read(name, variables[number], location));
  if (!value)
    return false;
  remember(builder.assign(name, value, location));
  return true;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

template <typename Body> void Generator::inBlock(Block &block, Body body) {
  size_t outside = pool.size(), boundOutside = bound.size();
  builder.toEnd(block);
  remember(block.getArguments());
  ++depth;
  for (int64_t left = random.between(1, 4 * std::min(style.scale, 2u)); left > 0; --left)
    makeStatement();
  if (random.chance(0.5))
    readLists(outside);
  // What has a size of the block cannot leave it.
  std::vector<std::string> own(bound.begin() + boundOutside, bound.end());
  llvm::erase_if(pool, [&](Value value) { return mentions(value.getType(), own); });
  body(outside);
  --depth;
  pool.resize(outside);
  bound.resize(boundOutside);
}

Value Generator::yieldedValue(Type type, size_t blockStart) {
  Values inside;
  for (Value value : ArrayRef(pool).drop_front(blockStart))
    if (value.getType() == type)
      inside.push_back(value);
  return inside.empty() ? Value() : random.chance(0.7) ? inside.back() : random.pick(inside);
}

bool Generator::makeBranch() {
  Builder b(builder.getContext());
  Value condition = valueOf(tensorOf({}, b.getI1Type()));
  auto branch = builder.beginIf(condition, location);
  Values onTrue, onFalse;
  inBlock(branch.getThenBlock(), [&](size_t outside) {
    for (int64_t left = random.between(1, 3); left > 0; --left)
      if (pool.size() > outside)
        onTrue.push_back(pool[outside + random.below(pool.size() - outside)]);
  });
  inBlock(branch.getElseBlock(), [&](size_t outside) {
    for (Value value : onTrue) {
      Value other = yieldedValue(value.getType(), outside);
      if (!other)
        other = findValue([&](Value v) { return v.getType() == value.getType(); });
      if (!other && isa<RankedTensorType>(value.getType()))
        other = valueOf(cast<RankedTensorType>(value.getType()));
      onFalse.push_back(other);
    }
  });
  for (size_t i = onTrue.size(); i-- > 0;)
    if (!onFalse[i]) { // a list that the other side has no match for
      onTrue.erase(onTrue.begin() + i);
      onFalse.erase(onFalse.begin() + i);
    }
  remember(builder.finishIf(branch, onTrue, onFalse).getResults());
  return true;
}

/// Counts to a limit that a feed may decide; carries some values.
bool Generator::makeLoop() {
  Builder b(builder.getContext());
  Type i32 = b.getI32Type();
  Value limit = random.chance(0.5) ? addFeed(tensorOf({}, i32), "_below_5")
                                   : builder.scalar(random.below(5), i32, location);
  Values inits{builder.scalar(int64_t(0), i32, location)};
  if (Value list = findValue([](Value v) { return isa<ListType>(v.getType()); }))
    inits.push_back(list);
  for (int64_t left = random.between(1, 3); left > 0; --left)
    if (Value init = findValue([](Value) { return true; }))
      inits.push_back(init);
  WhileOp loop = builder.beginWhile(inits, location);
  builder.toEnd(loop.getConditionBlock());
  auto less =
      builder.create("less", {loop.getConditionBlock().getArgument(0), limit}, {}, location);
  builder.condition((*less)->getResult(0), location);
  Values next;
  inBlock(loop.getBodyBlock(), [&](size_t outside) {
    Value counter = loop.getBodyBlock().getArgument(0);
    Value one = builder.scalar(int64_t(1), i32, location);
    next.push_back((*builder.create("add", {counter, one}, {}, location))->getResult(0));
    for (BlockArgument carried : loop.getBodyBlock().getArguments().drop_front()) {
      Value value = yieldedValue(carried.getType(), outside);
      Value changed = isa<BlockArgument>(value) && random.chance(0.85) ? change(value) : Value();
      next.push_back(changed ? changed : value);
    }
  });
  StringRef recompute = random.pick(std::initializer_list<StringRef>{"", "", "", "all", "sqrt"});
  remember(builder.finishWhile(loop, {}, next, std::nullopt, recompute).getResults());
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

bool Generator::makeGradients() {
  auto isMade = [](Value v) { return isFloat(v) && v.getDefiningOp(); };
  auto hasRegions = [&](Value v) { return isMade(v) && v.getDefiningOp()->getNumRegions() > 0; };
  Value value = random.chance(0.6) ? findValue(hasRegions) : Value();
  if (!value)
    value = findValue(isMade);
  if (!value)
    return false;
  llvm::SetVector<Value> known = floatsBehind(value);
  // Which results of a graph are one value is not defined: it may pass them on.
  known.remove_if([](Value x) { return isa_and_nonnull<DataflowOp>(x.getDefiningOp()); });
  if (known.empty())
    return false;
  if (cast<RankedTensorType>(value.getType()).getRank() > 0)
    value =
        (*builder.create(random.chance(0.5) ? "sum" : "mean", value, {}, location))->getResult(0);
  llvm::SetVector<Value> xs;
  for (int64_t left = random.between(1, 3); left > 0; --left)
    xs.insert(random.pick(known));
  SmallVector<int64_t> sparse;
  for (auto [i, x] : llvm::enumerate(xs))
    if (isSparseGradient(value, x) && random.chance(0.5))
      sparse.push_back(i);
  remember(builder.gradients(value, xs.getArrayRef(), sparse, location)->getResults());
  return true;
}

} // namespace tfc::random
