//===- DataflowGenerator.cpp - Switches, merges and frames ----------------===//
//
// Generates the statements of a `dataflow` block. They read only values that are
// live where they are. Values of one side of a switch are read elsewhere only by
// merges that also have a live input, so that no call fails for a dead value.
//
//===----------------------------------------------------------------------===//

#include "StatementGenerator.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

static bool isAnything(Value) { return true; }

bool DataflowGenerator::makeDataflow() {
  size_t outside = scope.pool.size(), boundOutside = scope.bound.size();
  DataflowOp graph = scope.builder.beginDataflow(scope.location);
  scope.builder.toEnd(graph.getBody().front());
  ++scope.depth;
  isInGraph = true;
  loose.clear();
  tokens.clear();
  frames = 0;
  makeFork();
  makeGraphStatements(scope.random.between(1, 4));
  Values results;
  std::vector<std::string> names;
  for (int64_t left = scope.random.between(1, 4); left > 0 && scope.pool.size() > outside; --left) {
    results.push_back(scope.pool[outside + scope.random.below(scope.pool.size() - outside)]);
    names.push_back("r" + std::to_string(names.size()));
  }
  isInGraph = false;
  --scope.depth;
  scope.pool.resize(outside);
  scope.bound.resize(boundOutside);
  scope.remember(scope.builder.finishDataflow(graph, results, names).getResults());
  return true;
}

void DataflowGenerator::makeGraphStatements(int64_t count) {
  for (; count > 0; --count) {
    Random rest = scope.random;
    scope.random = rest.fork();
    makeGraphStatement();
    scope.random = rest;
  }
}

void DataflowGenerator::makeGraphStatement() {
  double choice = scope.random.unit();
  if (choice < 0.18 && placeDepth < 3 && makeFork())
    return;
  if (choice < 0.28 && frameDepth < 2 && makeFrame())
    return;
  if (choice < 0.42 && makeLooseMerge())
    return;
  size_t known = scope.pool.size();
  statements.makeStatement();
  if (scope.random.chance(0.25) && scope.pool.size() > known)
    wrapInNode(scope.pool.back().getDefiningOp());
}

/// Adds control edges to an operation from some that ran before it, and from it to others.
void DataflowGenerator::wrapInNode(Operation *op) {
  if (!op || op->getParentOp() != scope.builder.currentBlock()->getParentOp() ||
      op->getNumRegions() || isa<NodeOp, ConstantOp, SwitchOp, MergeOp>(op))
    return;
  Values after;
  for (int64_t left = scope.random.below(3); left > 0 && !tokens.empty(); --left)
    after.push_back(scope.random.pick(tokens));
  Values before(op->getResults());
  NodeOp node = scope.builder.wrapInNode(op, after);
  scope.builder.toEnd(*node->getBlock());
  for (auto [from, to] : llvm::zip_first(before, node.getResults()))
    llvm::replace(scope.pool, from, Value(to));
  tokens.push_back(node.getDone());
}

/// Adds statements where `values` are live; the values that they create go out of scope.
Values DataflowGenerator::makePlace(ValueRange values, int64_t count) {
  size_t outside = scope.pool.size(), tokensOutside = tokens.size();
  ++placeDepth;
  scope.remember(values);
  makeGraphStatements(count);
  --placeDepth;
  Values made(llvm::drop_begin(scope.pool, outside));
  scope.pool.resize(outside);
  tokens.resize(tokensOutside);
  return made;
}

Value DataflowGenerator::graphOp(StringRef name, ValueRange operands,
                                 ArrayRef<NamedAttribute> attributes) {
  FailureOr<Operation *> op = scope.builder.create(name, operands, attributes, scope.location);
  return (*op)->getResult(0);
}

/// Passes values to two sides and merges the results of these.
bool DataflowGenerator::makeFork() {
  Value condition = scope.valueOf(tensorOf({}, Builder(scope.builder.getContext()).getI1Type()));
  Values sides[2];
  for (int64_t left = scope.random.between(1, 3); left > 0; --left)
    if (Value value = scope.findValue(isAnything)) {
      auto fork = graphOp("switch", {value, condition}).getDefiningOp<SwitchOp>();
      sides[0].push_back(fork.getOnTrue());
      sides[1].push_back(fork.getOnFalse());
    }
  for (Values &side : sides)
    side = makePlace(side, scope.random.below(4));
  for (int64_t left = scope.random.between(1, 3); left > 0 && !sides[0].empty(); --left)
    joinSides(scope.random.pick(sides[0]), sides[1]);
  for (Values &side : sides)
    if (!side.empty() && scope.random.chance(0.6))
      loose.push_back(scope.random.pick(side));
  return true;
}

void DataflowGenerator::joinSides(Value value, ArrayRef<Value> others) {
  Values fitting;
  for (Value other : others)
    if (other.getType() == value.getType())
      fitting.push_back(other);
  if (fitting.empty())
    return;
  Values inputs{value, scope.random.chance(0.6) ? fitting.back() : scope.random.pick(fitting)};
  if (scope.random.chance(0.3))
    std::swap(inputs[0], inputs[1]);
  scope.remember(graphOp("merge", inputs)
                     .getDefiningOp()
                     ->getResults()
                     .take_front(scope.random.chance(0.25) ? 2 : 1));
}

/// Merges values that may be dead with values that are live.
bool DataflowGenerator::makeLooseMerge() {
  if (loose.empty())
    return false;
  Values inputs{scope.random.pick(loose)};
  Type type = inputs[0].getType();
  for (Value value : loose)
    if (value != inputs[0] && value.getType() == type && scope.random.chance(0.5))
      inputs.push_back(value);
  Value live = scope.findValue([&](Value value) { return value.getType() == type; });
  if (!live)
    return false;
  inputs.push_back(live);
  scope.remember(graphOp("merge", inputs)
                     .getDefiningOp()
                     ->getResults()
                     .take_front(scope.random.chance(0.25) ? 2 : 1));
  return true;
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

Value DataflowGenerator::enter(Value value, StringRef frame, bool isConstant) {
  Builder b(scope.builder.getContext());
  return graphOp("enter", value,
                 {b.getNamedAttr("frame", b.getStringAttr(frame)),
                  b.getNamedAttr("constant", b.getBoolAttr(isConstant))});
}

/// Returns the values that are live only if some of `values` are, except for loops.
static llvm::DenseSet<Value> derivedFrom(ValueRange values) {
  llvm::DenseSet<Value> derived(values.begin(), values.end());
  auto isDerived = [&](Value value) { return derived.contains(value); };
  Operation *first = values.front().getDefiningOp();
  for (Operation *op = first; op; op = op->getNextNode()) {
    if (isa<EnterOp, ExitOp, NextIterationOp, LoopCondOp>(op))
      continue;
    // Values that a region reads may be removed with its unused operations.
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

/// The condition for another iteration.
Value DataflowGenerator::makeGoOn(StringRef frame) {
  Type i32 = Builder(scope.builder.getContext()).getI32Type();
  Value limit = scope.random.chance(0.5)
                    ? scope.addFeed(tensorOf({}, i32), "_below_5")
                    : scope.builder.scalar(scope.random.below(5), i32, scope.location);
  if (scope.random.chance(0.5))
    limit = enter(limit, frame, true);
  Value less = graphOp("less", {counter, limit});
  Value other =
      scope.random.chance(0.3)
          ? scope.findValue([&](Value value) { return value.getType() == less.getType(); })
          : Value();
  return graphOp("loop_cond", other ? graphOp("logical_and", {less, other}) : less);
}

/// A frame in the form of a `while`: it counts, and carries some values.
bool DataflowGenerator::makeFrame() {
  size_t outside = scope.pool.size(), looseOutside = loose.size(), tokensOutside = tokens.size();
  std::string frame = "f" + std::to_string(++frames);
  Type i32 = Builder(scope.builder.getContext()).getI32Type();
  // The counter starts from a value of the enclosing frame, so that this frame is nested in it.
  Value zero = frameDepth ? graphOp("sub", {counter, counter})
                          : scope.builder.scalar(int64_t(0), i32, scope.location);
  Value counterOutside = counter;
  Values entries{enter(zero, frame, false)};
  for (int64_t left = scope.random.between(1, 3); left > 0; --left)
    if (Value init = scope.findValue(isAnything))
      entries.push_back(enter(init, frame, false));
  Values captured, merged;
  for (int64_t left = scope.random.below(3); left > 0; --left)
    if (Value value = scope.findValue(isAnything))
      captured.push_back(enter(value, frame, true));
  scope.remember(captured);
  for (Value entry : entries)
    merged.push_back(graphOp("merge", {entry, entry}));
  scope.remember(merged);
  ++frameDepth;
  counter = merged[0];
  if (scope.random.chance(0.4))
    makeGraphStatements(scope.random.between(1, 2));
  Value go = makeGoOn(frame);
  Values onTrue, onFalse;
  for (Value value : merged) {
    auto fork = graphOp("switch", {value, go}).getDefiningOp<SwitchOp>();
    onTrue.push_back(fork.getOnTrue());
    onFalse.push_back(fork.getOnFalse());
  }
  counter = onTrue[0];
  Values made = makePlace(onTrue, scope.random.between(1, 4));
  closeFrame(merged, onTrue, made);
  --frameDepth;
  counter = counterOutside;
  scope.pool.resize(outside);
  loose.resize(looseOutside);
  tokens.resize(tokensOutside);
  for (Value last : onFalse)
    if (scope.random.chance(0.8))
      scope.remember(graphOp("exit", last));
  return true;
}

/// Connects each carried value to another one for the next iteration.
void DataflowGenerator::closeFrame(ValueRange merged, ValueRange onTrue, ArrayRef<Value> made) {
  llvm::DenseSet<Value> derived = derivedFrom(onTrue);
  Builder b(scope.builder.getContext());
  Value one = scope.builder.scalar(int64_t(1), b.getI32Type(), scope.location);
  for (auto [merge, start] : llvm::zip_equal(merged, onTrue)) {
    Value next = start;
    if (start == onTrue.front())
      next = graphOp("add", {start, one});
    else
      for (Value value : made)
        if (value.getType() == start.getType() && derived.contains(value) &&
            scope.random.chance(0.6))
          next = value;
    if (next == start && scope.random.chance(0.8))
      if (Value changed = operations.change(start))
        next = changed;
    merge.getDefiningOp()->setOperand(1, graphOp("next_iteration", next));
  }
}

} // namespace tfc::random
