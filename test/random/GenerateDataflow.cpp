//===- GenerateDataflow.cpp - Switches, merges and frames --------------------===//
//
// Statements of a `dataflow` block. The pool holds what is live wherever the
// statements at hand are; what a side of a switch made is read elsewhere by merges
// alone, which have a live input, too. So calls fail no more often than others.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

static bool isAnything(Value) { return true; }

bool Generator::makeDataflow() {
  size_t outside = pool.size(), boundOutside = bound.size();
  DataflowOp graph = builder.beginDataflow(location);
  builder.toEnd(graph.getBody().front());
  ++depth;
  isInGraph = true;
  loose.clear();
  tokens.clear();
  frames = 0;
  makeFork();
  makeGraphStatements(random.between(1, 4));
  Values results;
  std::vector<std::string> names;
  for (int64_t left = random.between(1, 4); left > 0 && pool.size() > outside; --left) {
    results.push_back(pool[outside + random.below(pool.size() - outside)]);
    names.push_back("r" + std::to_string(names.size()));
  }
  isInGraph = false;
  --depth;
  pool.resize(outside);
  bound.resize(boundOutside);
  remember(builder.finishDataflow(graph, results, names).getResults());
  return true;
}

void Generator::makeGraphStatements(int64_t count) {
  for (; count > 0; --count) {
    Random rest = random;
    random = rest.fork();
    makeGraphStatement();
    random = rest;
  }
}

void Generator::makeGraphStatement() {
  double choice = random.unit();
  if (choice < 0.18 && placeDepth < 3 && makeFork())
    return;
  if (choice < 0.28 && frameDepth < 2 && makeFrame())
    return;
  if (choice < 0.42 && makeLooseMerge())
    return;
  size_t known = pool.size();
  makeStatement();
  if (random.chance(0.25) && pool.size() > known)
    wrapInNode(pool.back().getDefiningOp());
}

/// Gives an operation control edges from some that ran before, and others one from it.
void Generator::wrapInNode(Operation *op) {
  if (!op || op->getParentOp() != builder.currentBlock()->getParentOp() || op->getNumRegions() ||
      isa<NodeOp, ConstantOp, SwitchOp, MergeOp>(op))
    return;
  Values after;
  for (int64_t left = random.below(3); left > 0 && !tokens.empty(); --left)
    after.push_back(random.pick(tokens));
  Values before(op->getResults());
  NodeOp node = builder.wrapInNode(op, after);
  builder.toEnd(*node->getBlock());
  for (auto [from, to] : llvm::zip_first(before, node.getResults()))
    llvm::replace(pool, from, Value(to));
  tokens.push_back(node.getDone());
}

/// Statements where `values` are live; what they made goes out of sight.
Generator::Values Generator::makePlace(ValueRange values, int64_t count) {
  size_t outside = pool.size(), tokensOutside = tokens.size();
  ++placeDepth;
  remember(values);
  makeGraphStatements(count);
  --placeDepth;
  Values made(llvm::drop_begin(pool, outside));
  pool.resize(outside);
  tokens.resize(tokensOutside);
  return made;
}

Value Generator::graphOp(StringRef name, ValueRange operands, ArrayRef<NamedAttribute> attributes) {
  FailureOr<Operation *> op = builder.create(name, operands, attributes, location);
  return (*op)->getResult(0);
}

/// Sends values to two sides and merges what these make of them.
bool Generator::makeFork() {
  Value condition = valueOf(tensorOf({}, Builder(builder.getContext()).getI1Type()));
  Values sides[2];
  for (int64_t left = random.between(1, 3); left > 0; --left)
    if (Value value = findValue(isAnything)) {
      auto fork = graphOp("switch", {value, condition}).getDefiningOp<SwitchOp>();
      sides[0].push_back(fork.getOnTrue());
      sides[1].push_back(fork.getOnFalse());
    }
  for (Values &side : sides)
    side = makePlace(side, random.below(4));
  for (int64_t left = random.between(1, 3); left > 0 && !sides[0].empty(); --left)
    joinSides(random.pick(sides[0]), sides[1]);
  for (Values &side : sides)
    if (!side.empty() && random.chance(0.6))
      loose.push_back(random.pick(side));
  return true;
}

void Generator::joinSides(Value value, ArrayRef<Value> others) {
  Values fitting;
  for (Value other : others)
    if (other.getType() == value.getType())
      fitting.push_back(other);
  if (fitting.empty())
    return;
  Values inputs{value, random.chance(0.6) ? fitting.back() : random.pick(fitting)};
  if (random.chance(0.3))
    std::swap(inputs[0], inputs[1]);
  remember(graphOp("merge", inputs)
               .getDefiningOp()
               ->getResults()
               .take_front(random.chance(0.25) ? 2 : 1));
}

/// Merges what may be dead with what is not.
bool Generator::makeLooseMerge() {
  if (loose.empty())
    return false;
  Values inputs{random.pick(loose)};
  Type type = inputs[0].getType();
  for (Value value : loose)
    if (value != inputs[0] && value.getType() == type && random.chance(0.5))
      inputs.push_back(value);
  Value live = findValue([&](Value value) { return value.getType() == type; });
  if (!live)
    return false;
  inputs.push_back(live);
  remember(graphOp("merge", inputs)
               .getDefiningOp()
               ->getResults()
               .take_front(random.chance(0.25) ? 2 : 1));
  return true;
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

Value Generator::enter(Value value, StringRef frame, bool isConstant) {
  Builder b(builder.getContext());
  return graphOp("enter", value,
                 {b.getNamedAttr("frame", b.getStringAttr(frame)),
                  b.getNamedAttr("constant", b.getBoolAttr(isConstant))});
}

/// Whatever is live only where some of `values` are, loops apart.
static llvm::DenseSet<Value> derivedFrom(ValueRange values) {
  llvm::DenseSet<Value> derived(values.begin(), values.end());
  auto isDerived = [&](Value value) { return derived.contains(value); };
  Operation *first = values.front().getDefiningOp();
  for (Operation *op = first; op; op = op->getNextNode()) {
    if (isa<EnterOp, ExitOp, NextIterationOp, LoopCondOp>(op))
      continue;
    // What a region reads may go with what nobody needs, in the end.
    bool depends = llvm::any_of(op->getOperands(), isDerived);
    if (auto node = dyn_cast<NodeOp>(op))
      depends |= llvm::any_of(node.getBody().front().front().getOperands(), isDerived);
    Operation *merge = isa<MergeOp>(op) ? op : nullptr;
    if (merge && !llvm::all_of(merge->getOperands(), isDerived))
      depends = false;
    if (depends)
      derived.insert(op->result_begin(), op->result_end());
  }
  return derived;
}

/// Whether there is another iteration.
Value Generator::makeGoOn(StringRef frame) {
  Type i32 = Builder(builder.getContext()).getI32Type();
  Value limit = random.chance(0.5) ? addFeed(tensorOf({}, i32), "_below_5")
                                   : builder.scalar(random.below(5), i32, location);
  if (random.chance(0.5))
    limit = enter(limit, frame, true);
  Value less = graphOp("less", {counter, limit});
  Value other = random.chance(0.3)
                    ? findValue([&](Value value) { return value.getType() == less.getType(); })
                    : Value();
  return graphOp("loop_cond", other ? graphOp("logical_and", {less, other}) : less);
}

/// A loop as `while` would be: counts, and carries some values.
bool Generator::makeFrame() {
  size_t outside = pool.size(), looseOutside = loose.size(), tokensOutside = tokens.size();
  std::string frame = "f" + std::to_string(++frames);
  Type i32 = Builder(builder.getContext()).getI32Type();
  // What counts comes from the frame around, lest this one be beside it.
  Value zero =
      frameDepth ? graphOp("sub", {counter, counter}) : builder.scalar(int64_t(0), i32, location);
  Value counterOutside = counter;
  Values entries{enter(zero, frame, false)};
  for (int64_t left = random.between(1, 3); left > 0; --left)
    if (Value init = findValue(isAnything))
      entries.push_back(enter(init, frame, false));
  Values captured, merged;
  for (int64_t left = random.below(3); left > 0; --left)
    if (Value value = findValue(isAnything))
      captured.push_back(enter(value, frame, true));
  remember(captured);
  for (Value entry : entries)
    merged.push_back(graphOp("merge", {entry, entry}));
  remember(merged);
  ++frameDepth;
  counter = merged[0];
  if (random.chance(0.4))
    makeGraphStatements(random.between(1, 2));
  Value go = makeGoOn(frame);
  Values onTrue, onFalse;
  for (Value value : merged) {
    auto fork = graphOp("switch", {value, go}).getDefiningOp<SwitchOp>();
    onTrue.push_back(fork.getOnTrue());
    onFalse.push_back(fork.getOnFalse());
  }
  counter = onTrue[0];
  Values made = makePlace(onTrue, random.between(1, 4));
  closeFrame(merged, onTrue, made);
  --frameDepth;
  counter = counterOutside;
  pool.resize(outside);
  loose.resize(looseOutside);
  tokens.resize(tokensOutside);
  for (Value last : onFalse)
    if (random.chance(0.8))
      remember(graphOp("exit", last));
  return true;
}

/// Gives each carried value another one for the next iteration.
void Generator::closeFrame(ValueRange merged, ValueRange onTrue, ArrayRef<Value> made) {
  llvm::DenseSet<Value> derived = derivedFrom(onTrue);
  Builder b(builder.getContext());
  Value one = builder.scalar(int64_t(1), b.getI32Type(), location);
  for (auto [merge, start] : llvm::zip_equal(merged, onTrue)) {
    Value next = start;
    if (start == onTrue.front())
      next = graphOp("add", {start, one});
    else
      for (Value value : made)
        if (value.getType() == start.getType() && derived.contains(value) && random.chance(0.6))
          next = value;
    if (next == start && random.chance(0.8))
      if (Value changed = change(start))
        next = changed;
    merge.getDefiningOp()->setOperand(1, graphOp("next_iteration", next));
  }
}

} // namespace tfc::random
