//===- TokenInterpreter.cpp - Passes tokens through the graph form --------===//
//
// Executes the graph form by passing tokens, as TensorFlow does: each node runs when its inputs are
// there. It is the specification of the stage, and shares no analysis with it.
//
//===----------------------------------------------------------------------===//

#include "Interpreters.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::controlflow::test {

namespace {
struct Token {
  bool isLive = false;
  Tensor value;
};
using Tokens = llvm::DenseMap<Value, Token>;

/// The operation that a node holds, if it is one of control flow.
Operation *innermost(Operation *op) {
  auto node = dyn_cast<NodeOp>(op);
  Operation *inner = node ? &node.getBody().front().front() : op;
  bool isControl = isa<SwitchOp>(inner) || isa<MergeOp>(inner) || isa<EnterOp>(inner) ||
                   isa<ExitOp>(inner) || isa<NextIterationOp>(inner) || isa<LoopCondOp>(inner);
  return isControl ? inner : op;
}

class Interpreter {
public:
  Interpreter(DataflowOp graph, State &state) : graph(graph), state(state) {
    for (Operation &op : graph.getBody().front().without_terminator())
      ops.push_back(&op);
    for (bool isStable = false; !isStable;) {
      isStable = true;
      for (Operation *op : ops)
        isStable &= !updateFrame(op);
    }
  }

  void run(Tokens &&outside) {
    Tokens next;
    Tokens tokens = std::move(outside);
    runIteration("", 0, Tokens(), tokens, next);
    auto yield = cast<YieldOp>(graph.getBody().front().getTerminator());
    for (auto [i, value] : llvm::enumerate(yield.getValues())) {
      Token token = tokens.lookup(value);
      state.outcome->results.push_back(token.value);
      if (!token.isLive)
        state.outcome->dead.insert("r" + std::to_string(i));
    }
  }

private:
  static SmallVector<Value> dataOf(Operation *op) {
    SetVector<Value> values;
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

  /// The path of frames in which the results of an operation are.
  std::string frameOf(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &graph.getBody().front())
      return "";
    std::string frame = frames[op];
    if (auto enter = dyn_cast<EnterOp>(innermost(op)))
      return frame + "/" + enter.getFrame().str();
    if (isa<ExitOp>(innermost(op)))
      return frame.substr(0, std::max<size_t>(frame.rfind('/'), 0));
    return frame;
  }

  bool updateFrame(Operation *op) {
    std::string deepest = frames[op];
    for (Value input : inputsOf(op))
      if (std::string other = frameOf(input); other.size() > deepest.size())
        deepest = other;
    // A frame is inside of the innermost one from which it is entered.
    if (auto enter = dyn_cast<EnterOp>(innermost(op)))
      for (Operation *other : ops)
        if (auto same = dyn_cast<EnterOp>(innermost(other)))
          if (same.getFrame() == enter.getFrame() && frames[other].size() > deepest.size())
            deepest = frames[other];
    if (deepest == frames[op])
      return false;
    frames[op] = deepest;
    return true;
  }

  static bool isWithin(const std::string &frame, const std::string &outer) {
    return StringRef(frame + "/").starts_with(outer + "/");
  }

  /// An operation of a frame, or all that is in a frame inside of it.
  struct Item {
    std::string frame;
    std::vector<Operation *> members;
    bool isDone = false;
  };

  /// Runs what is in a frame, and in frames inside, for one iteration, in the order of the block,
  /// as far as inputs are there. `tokens` holds what comes from outside of it.
  void runIteration(const std::string &frame, unsigned iteration, const Tokens &previous,
                    Tokens &tokens, Tokens &next) {
    std::vector<Item> items;
    llvm::DenseMap<Operation *, size_t> itemOf;
    std::map<std::string, size_t> children;
    for (Operation *op : ops) {
      if (!isWithin(frames[op], frame))
        continue;
      std::string own = frames[op];
      std::string child = own == frame ? "" : own.substr(0, own.find('/', frame.size() + 1));
      size_t item = items.size();
      if (!child.empty())
        item = children.try_emplace(child, item).first->second;
      if (item == items.size())
        items.push_back({child, {}});
      items[item].members.push_back(op);
      itemOf[op] = item;
    }
    auto run = [&](auto &run, size_t i) -> void {
      if (items[i].isDone)
        return;
      items[i].isDone = true;
      std::set<size_t> before;
      for (Operation *op : items[i].members)
        for (Value input : inputsOf(op)) {
          Operation *producer = input.getDefiningOp();
          bool isNext =
              producer && isa<NextIterationOp>(innermost(producer)) && isa<MergeOp>(innermost(op));
          if (auto found = itemOf.find(producer); found != itemOf.end() && !isNext)
            before.insert(found->second);
        }
      for (size_t other : before)
        run(run, other);
      if (items[i].frame.empty())
        fire(items[i].members[0], iteration, previous, tokens, next);
      else
        runFrame(items[i].frame, tokens);
    };
    for (size_t i = 0; i < items.size(); ++i)
      run(run, i);
  }

  /// A frame runs if any of its variables is live.
  bool isAlive(const std::string &frame, const Tokens &tokens) {
    return llvm::any_of(ops, [&](Operation *op) {
      auto enter = dyn_cast<EnterOp>(innermost(op));
      return enter && !enter.getConstant() && frames[op] + "/" + enter.getFrame().str() == frame &&
             tokens.lookup(op->getResult(0)).isLive;
    });
  }

  void runFrame(const std::string &frame, Tokens &outer) {
    Tokens previous;
    for (Operation *op : ops)
      if (isa<ExitOp>(innermost(op)) && frames[op] == frame)
        for (Value result : op->getResults())
          outer[result] = {};
    if (!isAlive(frame, outer))
      return;
    for (unsigned iteration = 0;; ++iteration) {
      if (iteration > kMostIterations)
        state.outcome->failure = "a loop does not end";
      if (!state.outcome->failure.empty())
        return;
      Tokens tokens = outer, next;
      runIteration(frame, iteration, previous, tokens, next);
      for (Operation *op : ops) {
        if (!isa<ExitOp>(innermost(op)) || frames[op] != frame)
          continue;
        for (Value result : op->getResults())
          if (Token token = tokens.lookup(result); token.isLive)
            outer[result] = token;
      }
      bool goesOn = llvm::any_of(next, [](auto &entry) { return entry.second.isLive; });
      if (!goesOn)
        return;
      previous = std::move(next);
    }
  }

  Token merge(MergeOp op, unsigned iteration, const Tokens &previous, const Tokens &tokens,
              double &index) {
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      Operation *producer = input.getDefiningOp();
      Operation *inner = producer ? innermost(producer) : nullptr;
      Token token;
      if (isa_and_nonnull<NextIterationOp>(inner))
        token = previous.lookup(input);
      else if (!isa_and_nonnull<EnterOp>(inner) || cast<EnterOp>(inner).getConstant() ||
               frameOf(input) != frames[outermost(op)] || iteration == 0)
        token = tokens.lookup(input);
      index = i;
      if (token.isLive)
        return token;
    }
    return {};
  }

  Operation *outermost(Operation *op) {
    return isa<NodeOp>(op->getParentOp()) ? op->getParentOp() : op;
  }

  void fire(Operation *op, unsigned iteration, const Tokens &previous, Tokens &tokens,
            Tokens &next) {
    Operation *inner = innermost(op);
    auto isLive = [&](Value value) { return tokens.lookup(value).isLive; };
    auto node = dyn_cast<NodeOp>(op);
    bool live = llvm::all_of(dataOf(op), isLive);
    if (node && !node.getAlways())
      live &= llvm::all_of(node.getAfter(), isLive);
    std::vector<Token> results(inner->getNumResults(), Token{live, {}});
    if (auto join = dyn_cast<MergeOp>(inner)) {
      double index = 0;
      results[0] = merge(join, iteration, previous, tokens, index);
      live = results[0].isLive;
      results[1] = {live, {index}};
    } else if (auto fork = dyn_cast<SwitchOp>(inner); fork && live) {
      bool predicate = tokens[fork.getPredicate()].value[0];
      for (unsigned i : {0, 1})
        results[i] = {predicate == (i == 0), tokens[fork.getData()].value};
    } else if (inner != op || isa<EnterOp>(op) || isa<ExitOp>(op) || isa<LoopCondOp>(op) ||
               isa<NextIterationOp>(op)) {
      if (!fork && live)
        results[0] = tokens[inner->getOperand(0)];
    } else if (live) {
      results = plain(op, tokens);
    }
    publish(op, inner, results, live, tokens, next);
  }

  std::vector<Token> plain(Operation *op, const Tokens &tokens) {
    llvm::DenseMap<Value, Tensor> values;
    for (Value input : dataOf(op))
      values[input] = tokens.lookup(input).value;
    auto computeOne = [&](Operation *one) {
      std::vector<Tensor> operands;
      for (Value operand : one->getOperands())
        operands.push_back(values[operand]);
      for (auto [value, result] : llvm::zip(one->getResults(), compute(one, operands, state)))
        values[value] = result;
    };
    std::vector<Token> results;
    auto node = dyn_cast<NodeOp>(op);
    if (!node) {
      computeOne(op);
      for (Value result : op->getResults())
        results.push_back({true, values[result]});
      return results;
    }
    for (Operation &inner : node.getBody().front().without_terminator())
      computeOne(&inner);
    for (Value value : node.getBody().front().getTerminator()->getOperands())
      results.push_back({true, values[value]});
    return results;
  }

  static void publish(Operation *op, Operation *inner, ArrayRef<Token> results, bool live,
                      Tokens &tokens, Tokens &next) {
    auto node = dyn_cast<NodeOp>(op);
    for (OpResult result : op->getResults()) {
      unsigned i = result.getResultNumber();
      Token token{live, {}};
      if (!node || result != node.getDone()) {
        if (node && inner != op)
          i = cast<OpResult>(node.getBody().front().getTerminator()->getOperand(i))
                  .getResultNumber();
        token = results[i];
      }
      tokens[result] = token;
      if (isa<NextIterationOp>(inner))
        next[result] = token;
    }
  }

  DataflowOp graph;
  State &state;
  std::vector<Operation *> ops;
  llvm::DenseMap<Operation *, std::string> frames;
};
} // namespace

Outcome runTokens(func::FuncOp function, const std::vector<Tensor> &arguments) {
  Outcome outcome;
  State state{{}, &outcome};
  for (auto variable : function->getParentOfType<ModuleOp>().getOps<VariableOp>())
    state.variables[variable.getSymName().str()] = {0.5};
  Tokens outside;
  for (auto [value, argument] : llvm::zip(function.getArguments(), arguments))
    outside[value] = {true, argument};
  Interpreter(*function.getOps<DataflowOp>().begin(), state).run(std::move(outside));
  return outcome;
}

} // namespace tfc::controlflow::test
