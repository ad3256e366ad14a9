//===- Dataflow.cpp - Passing tokens through the graph form ---------------===//
//
// A frame runs iteration by iteration; within one, each node fires when its
// producers have fired, and an inner frame acts as one node. A value without a
// datum is dead.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Interpreter.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

/// Separates the names of frames in a path; names in TensorFlow contain slashes.
static constexpr char kInside = '\n';

using Tokens = llvm::DenseMap<Value, DatumRef>;

/// The operation of control flow in a node; otherwise the operation itself.
static Operation *innermost(Operation *op) {
  auto node = dyn_cast<NodeOp>(op);
  if (!node)
    return op;
  Operation *inner = &node.getBody().front().front();
  return inner->hasTrait<RoutingRole>() ? inner : op;
}

/// The values that the operation reads, without control edges.
static SmallVector<Value> dataOf(Operation *op) {
  llvm::SetVector<Value> values;
  if (!isa<NodeOp>(op))
    values.insert(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values.takeVector();
}

static SmallVector<Value> inputsOf(Operation *op) {
  SmallVector<Value> values = dataOf(op);
  if (auto node = dyn_cast<NodeOp>(op))
    llvm::append_range(values, node.getAfter());
  return values;
}

namespace {
class TokenRun {
public:
  TokenRun(DataflowOp graph, Interpreter &interpreter);
  LogicalResult run();

private:
  /// A path of frames: "" is outside of all, kInside + "loop" a frame.
  using Frame = std::string;

  /// An operation of a frame, or an entire inner frame.
  struct Item {
    Frame frame; // empty for an operation
    std::vector<Operation *> members;
    bool isDone = false;
  };

  /// One iteration of a frame.
  struct Iteration {
    Frame frame;
    int64_t number = 0;
    Tokens previous, tokens, next; // `previous` and `next` are those of `next_iteration`
    std::vector<Item> items;
    llvm::DenseMap<Operation *, size_t> itemOf;
  };

  void findBinders();
  bool updateFrame(Operation *op);
  bool isInsideItself(EnterOp enter, StringRef outer);
  Frame frameOf(Value value);
  bool isAlive(const Frame &frame, const Tokens &tokens);
  void list(Iteration &iteration);
  LogicalResult runIteration(Iteration &iteration);
  LogicalResult runItem(Iteration &iteration, size_t item);
  LogicalResult runFrame(const Frame &frame, Tokens &outer);
  LogicalResult fire(Operation *op, Iteration &iteration);
  LogicalResult fireSwitch(SwitchOp op, Tokens &tokens, SmallVectorImpl<DatumRef> &results);
  void fireMerge(MergeOp op, Iteration &iteration, SmallVectorImpl<DatumRef> &results);
  LogicalResult firePlain(Operation *op, Tokens &tokens, SmallVectorImpl<DatumRef> &results);
  void publish(Operation *op, bool isLive, ArrayRef<DatumRef> results, Iteration &iteration);
  DatumRef lookup(const Tokens &tokens, Value value);
  LogicalResult finish(const Tokens &tokens);

  DataflowOp graph;
  Interpreter &interpreter;
  std::vector<Operation *> ops;
  llvm::DenseMap<Operation *, Frame> frames;
  /// The operations that bind the data-dependent sizes which an operation mentions.
  llvm::DenseMap<Operation *, SmallVector<Operation *, 1>> binders;
  llvm::DenseMap<Operation *, bool> isRunning; // in the current iteration of its frame
  EnterOp wrong;                               // whose frame is nested in itself
  DatumRef token = std::make_shared<Datum>();
};
} // namespace

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

TokenRun::TokenRun(DataflowOp graph, Interpreter &interpreter)
    : graph(graph), interpreter(interpreter) {
  for (Operation &op : graph.getBody().front().without_terminator())
    ops.push_back(&op);
  findBinders();
  for (bool isStable = false; !isStable && !wrong;) {
    isStable = true;
    for (Operation *op : ops)
      isStable &= !updateFrame(op);
  }
}

void TokenRun::findBinders() {
  llvm::StringMap<Operation *> byName;
  for (Operation *op : ops) {
    if (auto binder = dyn_cast<BindSizeOp>(op))
      byName[binder.getName()] = op;
    else if (auto node = dyn_cast<NodeOp>(op))
      for (auto binder : node.getBody().getOps<BindSizeOp>())
        byName[binder.getName()] = op;
  }
  if (byName.empty())
    return;
  for (Operation *op : ops)
    op->walk([&](Operation *nested) {
      for (const std::string &name : RunTimeSizes::namesIn(nested))
        if (Operation *binder = byName.lookup(name); binder && binder != op)
          binders[op].push_back(binder);
    });
}

/// The frame in which a value is.
TokenRun::Frame TokenRun::frameOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &graph.getBody().front())
    return "";
  Frame frame = frames[op];
  if (auto enter = dyn_cast<EnterOp>(innermost(op)))
    return frame + kInside + enter.getFrame().str();
  if (isa<ExitOp>(innermost(op)))
    return frame.substr(0, std::max<size_t>(frame.rfind(kInside), 0));
  return frame;
}

bool TokenRun::isInsideItself(EnterOp enter, StringRef outer) {
  SmallVector<StringRef> names;
  outer.split(names, kInside);
  return llvm::is_contained(names, enter.getFrame());
}

/// An operation is in the innermost frame of its operands; a frame is nested in the innermost frame
/// from which it is entered.
bool TokenRun::updateFrame(Operation *op) {
  Frame deepest = frames[op];
  for (Value input : inputsOf(op))
    if (Frame other = frameOf(input); other.size() > deepest.size())
      deepest = other;
  for (Operation *binder : binders.lookup(op))
    if (frames[binder].size() > deepest.size())
      deepest = frames[binder];
  if (auto enter = dyn_cast<EnterOp>(innermost(op)))
    for (Operation *other : ops)
      if (auto same = dyn_cast<EnterOp>(innermost(other)))
        if (same.getFrame() == enter.getFrame() && frames[other].size() > deepest.size())
          deepest = frames[other];
  if (auto enter = dyn_cast<EnterOp>(innermost(op)); enter && isInsideItself(enter, deepest))
    wrong = enter;
  if (deepest == frames[op])
    return false;
  frames[op] = deepest;
  return true;
}

/// A frame runs if any of its variables is live.
bool TokenRun::isAlive(const Frame &frame, const Tokens &tokens) {
  return llvm::any_of(ops, [&](Operation *op) {
    auto enter = dyn_cast<EnterOp>(innermost(op));
    return enter && !enter.getConstant() &&
           frames[op] + kInside + enter.getFrame().str() == frame &&
           tokens.lookup(op->getResult(0));
  });
}

LogicalResult TokenRun::runFrame(const Frame &frame, Tokens &outer) {
  auto isExit = [&](Operation *op) { return isa<ExitOp>(innermost(op)) && frames[op] == frame; };
  if (!isAlive(frame, outer))
    return success();
  Iteration iteration;
  iteration.frame = frame;
  interpreter.iterations.push_back(0);
  for (bool goesOn = true; goesOn; ++iteration.number) {
    if (iteration.number > interpreter.options.mostIterations)
      return interpreter.fail(Status::Code::Internal, "a loop does not end");
    if (failed(interpreter.countVisits(ops.size())))
      return failure();
    interpreter.iterations.back() = iteration.number;
    iteration.tokens = outer;
    iteration.next.clear();
    if (failed(runIteration(iteration)))
      return failure();
    for (Operation *op : ops)
      for (Value result : isExit(op) ? op->getResults() : ResultRange(nullptr, 0))
        if (DatumRef datum = iteration.tokens.lookup(result))
          outer[result] = datum;
    goesOn = llvm::any_of(iteration.next, [](auto &entry) { return bool(entry.second); });
    iteration.previous = iteration.next;
  }
  interpreter.iterations.pop_back();
  return success();
}

//===----------------------------------------------------------------------===//
// Iterations
//===----------------------------------------------------------------------===//

static bool isWithin(StringRef frame, StringRef outer) {
  return frame == outer || (frame.starts_with(outer) && frame[outer.size()] == kInside);
}

/// Finds the items that run in an iteration.
void TokenRun::list(Iteration &iteration) {
  iteration.items.clear();
  iteration.itemOf.clear();
  std::map<Frame, size_t> children;
  const Frame &frame = iteration.frame;
  for (Operation *op : ops) {
    const Frame &own = frames[op];
    if (!isWithin(own, frame))
      continue;
    Frame child = own == frame ? "" : own.substr(0, own.find(kInside, frame.size() + 1));
    size_t item = iteration.items.size();
    if (!child.empty())
      item = children.try_emplace(child, item).first->second;
    if (item == iteration.items.size())
      iteration.items.push_back({child, {}});
    iteration.items[item].members.push_back(op);
    iteration.itemOf[op] = item;
  }
}

LogicalResult TokenRun::runIteration(Iteration &iteration) {
  list(iteration);
  for (size_t item = 0; item < iteration.items.size(); ++item)
    if (failed(runItem(iteration, item)))
      return failure();
  return success();
}

/// Runs an item after the items that it depends on, otherwise in the order of the block.
LogicalResult TokenRun::runItem(Iteration &iteration, size_t item) {
  if (std::exchange(iteration.items[item].isDone, true))
    return success();
  std::set<size_t> before;
  for (Operation *op : iteration.items[item].members) {
    for (Operation *binder : binders.lookup(op))
      if (auto found = iteration.itemOf.find(binder); found != iteration.itemOf.end())
        before.insert(found->second);
    for (Value input : inputsOf(op)) {
      Operation *producer = input.getDefiningOp();
      bool isNext =
          producer && isa<NextIterationOp>(innermost(producer)) && isa<MergeOp>(innermost(op));
      auto found = iteration.itemOf.find(producer);
      if (found != iteration.itemOf.end() && !isNext)
        before.insert(found->second);
    }
  }
  for (size_t other : before)
    if (failed(runItem(iteration, other)))
      return failure();
  const Frame &frame = iteration.items[item].frame;
  if (!frame.empty())
    return runFrame(frame, iteration.tokens);
  return fire(iteration.items[item].members.front(), iteration);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Values from outside of the graph are live everywhere.
DatumRef TokenRun::lookup(const Tokens &tokens, Value value) {
  bool isInside = value.getParentBlock() == &graph.getBody().front();
  return isInside ? tokens.lookup(value) : interpreter.get(value);
}

LogicalResult TokenRun::fireSwitch(SwitchOp op, Tokens &tokens,
                                   SmallVectorImpl<DatumRef> &results) {
  DatumRef predicate = lookup(tokens, op.getPredicate()), data = lookup(tokens, op.getData());
  if (failed(interpreter.require(predicate)))
    return failure();
  interpreter.set(op.getPredicate(), predicate);
  bool isDetermined;
  bool isTrue = interpreter.decide(op.getPredicate(), isDetermined);
  Interpreter::UndeterminedScope scope(interpreter, !isDetermined);
  Value live = isTrue ? op.getOnTrue() : op.getOnFalse();
  interpreter.forward(live, data);
  results.assign(2, nullptr);
  results[isTrue ? 0 : 1] = interpreter.get(live);
  return success();
}

/// Forwards the first live input; inputs that enter the frame count only in the first iteration.
void TokenRun::fireMerge(MergeOp op, Iteration &iteration, SmallVectorImpl<DatumRef> &results) {
  results.assign(2, nullptr);
  Operation *outer = isa<NodeOp>(op->getParentOp()) ? op->getParentOp() : op;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    Operation *producer = input.getDefiningOp();
    Operation *inner = producer ? innermost(producer) : nullptr;
    auto enter = dyn_cast_or_null<EnterOp>(inner);
    bool isPast =
        enter && !enter.getConstant() && frameOf(input) == frames[outer] && iteration.number > 0;
    DatumRef datum;
    if (isa_and_nonnull<NextIterationOp>(inner))
      datum = iteration.previous.lookup(input);
    else if (!isPast)
      datum = lookup(iteration.tokens, input);
    if (!datum)
      continue;
    interpreter.forward(op.getValue(), datum);
    Tensor index(elementTypeOf(op.getIndex().getType()), {});
    index.setInteger(0, i);
    results[0] = interpreter.get(op.getValue());
    results[1] = Interpreter::make(std::move(index));
    return;
  }
}

/// Binds the operands of an ordinary operation for the interpreter and runs it.
LogicalResult TokenRun::firePlain(Operation *op, Tokens &tokens,
                                  SmallVectorImpl<DatumRef> &results) {
  for (Value input : dataOf(op))
    interpreter.set(input, lookup(tokens, input));
  auto node = dyn_cast<NodeOp>(op);
  Block *body = node ? &node.getBody().front() : nullptr;
  if (failed(node ? interpreter.run(*body) : interpreter.run(op)))
    return failure();
  results = interpreter.get(node ? ValueRange(body->getTerminator()->getOperands())
                                 : ValueRange(op->getResults()));
  return success();
}

LogicalResult TokenRun::fire(Operation *op, Iteration &iteration) {
  Tokens &tokens = iteration.tokens;
  Operation *inner = innermost(op);
  auto isLive = [&](Value value) { return bool(lookup(tokens, value)); };
  auto node = dyn_cast<NodeOp>(op);
  bool runs = llvm::all_of(dataOf(op), isLive);
  if (node && !node.getAlways())
    runs &= llvm::all_of(node.getAfter(), isLive);
  runs &= llvm::all_of(binders.lookup(op), [&](Operation *other) { return isRunning[other]; });
  SmallVector<DatumRef> results;
  if (auto merge = dyn_cast<MergeOp>(inner)) {
    fireMerge(merge, iteration, results);
    runs = bool(results[0]);
  } else if (auto fork = dyn_cast<SwitchOp>(inner); fork && runs) {
    if (failed(fireSwitch(fork, tokens, results)))
      return failure();
  } else if (runs && inner->hasTrait<RoutingRole>()) {
    interpreter.forward(inner->getResult(0), lookup(tokens, inner->getOperand(0)));
    results.push_back(interpreter.get(inner->getResult(0)));
  } else if (runs && failed(firePlain(op, tokens, results))) {
    return failure();
  }
  if (!runs)
    results.assign(inner->getNumResults(), nullptr);
  isRunning[op] = runs;
  publish(op, runs, results, iteration);
  return success();
}

void TokenRun::publish(Operation *op, bool isLive, ArrayRef<DatumRef> results,
                       Iteration &iteration) {
  auto node = dyn_cast<NodeOp>(op);
  Operation *inner = innermost(op);
  for (OpResult result : op->getResults()) {
    unsigned i = result.getResultNumber();
    DatumRef datum = isLive ? token : nullptr;
    if (!node || result != node.getDone()) {
      if (node && inner != op) // the node may yield some of the results
        i = cast<OpResult>(node.getBody().front().getTerminator()->getOperand(i)).getResultNumber();
      datum = results[i];
    }
    iteration.tokens[result] = datum;
    if (isa<NextIterationOp>(inner))
      iteration.next[result] = datum;
  }
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

/// A dead result fails the call.
LogicalResult TokenRun::finish(const Tokens &tokens) {
  SmallVector<DatumRef> data;
  auto yield = cast<YieldOp>(graph.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(yield.getValues())) {
    data.push_back(lookup(tokens, value));
    if (data.back())
      continue;
    std::string name = "a result";
    if (graph.getNames())
      name = ("'" + cast<StringAttr>((*graph.getNames())[i]).getValue() + "'").str();
    return interpreter.fail(Status::Code::FailedPrecondition,
                            name + " has no value: the branch that computes it did not run");
  }
  interpreter.forward(graph.getResults(), data);
  return success();
}

LogicalResult TokenRun::run() {
  if (wrong)
    return interpreter.fail(
        Status::Code::InvalidArgument,
        ("frame '" + wrong.getFrame() + "' is entered from inside itself").str());
  Iteration whole;
  if (failed(runIteration(whole)))
    return failure();
  return finish(whole.tokens);
}

static LogicalResult runDataflow(DataflowOp op, Interpreter &interpreter) {
  return TokenRun(op, interpreter).run();
}

void addDataflow(Handlers &handlers) { handlers.add<DataflowOp>(runDataflow); }

} // namespace tfc::reference
