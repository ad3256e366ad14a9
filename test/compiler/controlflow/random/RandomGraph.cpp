//===- RandomGraph.cpp - Random control flow ------------------------------===//
//
// Generates graphs of switches, merges and frames, and mutates them into mostly invalid ones. It
// computes nothing; the interpreters define the meaning of graphs.
//
//===----------------------------------------------------------------------===//

#include "RandomGraph.h"
#include "mlir/IR/Builders.h"
#include <random>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::controlflow::test {

namespace {
/// A value with the block in which it was created: values of one block are likely to be live
/// together.
struct Item {
  Value value;
  unsigned place;
};

/// The values that can be read at a point of the graph.
struct Scope {
  std::vector<Item> items, tokens;
  unsigned depth = 0;
  /// A token of the frame; none outside of all.
  Value frame;
};

class Generator {
public:
  Generator(MLIRContext *context, unsigned seed)
      : b(context), loc(b.getUnknownLoc()), random(seed * 7919 + 13) {}

  OwningOpRef<ModuleOp> make();

private:
  //===--------------------------------------------------------------------===//
  // Chance
  //===--------------------------------------------------------------------===//

  unsigned below(unsigned bound) { return random() % bound; }
  bool chance(unsigned percent) { return below(100) < percent; }

  Type number() { return RankedTensorType::get({}, b.getF64Type()); }
  Type vector() { return RankedTensorType::get({3}, b.getF64Type()); }
  Type index() { return RankedTensorType::get({}, b.getI64Type()); }
  Type boolean() { return RankedTensorType::get({}, b.getI1Type()); }

  Type anyType() {
    switch (below(6)) {
    case 0:
      return vector();
    case 1:
      return boolean();
    default:
      return number();
    }
  }

  /// A value of a type; mostly a recent one, and one of the block `place` if there is one.
  Value pick(Scope &scope, Type type, unsigned *place = nullptr) {
    SmallVector<Item> fitting, near;
    for (const Item &item : scope.items)
      if (item.value.getType() == type) {
        fitting.push_back(item);
        if (place && item.place == *place)
          near.push_back(item);
      }
    if (!near.empty() && chance(80))
      fitting = near;
    if (fitting.empty())
      return constant(type);
    size_t last = fitting.size() - 1;
    Item item = fitting[chance(60) ? last - below(std::min<size_t>(last + 1, 4)) : below(last + 1)];
    if (place)
      *place = item.place;
    return item.value;
  }

  Value constant(Type type) {
    auto tensor = cast<RankedTensorType>(type);
    Attribute element;
    if (tensor.getElementType().isF64())
      element = b.getF64FloatAttr(below(8) * 0.25 - 1.0);
    else
      element = b.getIntegerAttr(tensor.getElementType(), below(2));
    return ConstantOp::create(b, loc, DenseElementsAttr::get(tensor, element));
  }

  void add(Scope &scope, Value value, unsigned place) { scope.items.push_back({value, place}); }

  //===--------------------------------------------------------------------===//
  // Nodes
  //===--------------------------------------------------------------------===//

  /// Puts the operations that `body` creates into a node after some tokens; adds its token.
  SmallVector<Value> wrap(Scope &scope, ValueRange after, bool always, unsigned place,
                          llvm::function_ref<SmallVector<Value>()> body) {
    OperationState state(loc, NodeOp::getOperationName());
    state.addOperands(after);
    Region *region = state.addRegion();
    Block &block = region->emplaceBlock();
    OpBuilder::InsertPoint point = b.saveInsertionPoint();
    b.setInsertionPointToEnd(&block);
    SmallVector<Value> values = body();
    YieldOp::create(b, loc, values);
    b.restoreInsertionPoint(point);
    state.addTypes(ValueRange(values).getTypes());
    state.addTypes(TokenType::get(b.getContext()));
    if (always)
      state.addAttribute("always", b.getUnitAttr());
    auto node = cast<NodeOp>(b.create(state));
    scope.tokens.push_back({node.getDone(), place});
    return SmallVector<Value>(node.getResults());
  }

  SmallVector<Value> someTokens(Scope &scope, unsigned place) {
    SmallVector<Value> result;
    for (unsigned i = below(3); i > 0 && !scope.tokens.empty(); --i) {
      const Item &item = scope.tokens[below(scope.tokens.size())];
      if (item.place == place || chance(30))
        result.push_back(item.value);
    }
    return result;
  }

  /// A node without operations, whose token is live where `value` is.
  Value tokenOf(Scope &scope, Value value, unsigned place) {
    wrap(scope, {}, false, place, [&] { return SmallVector<Value>{value}; });
    return scope.tokens.back().value;
  }

  /// `value` where `token` is live as well.
  Value gated(Scope &scope, Value value, Value token, unsigned place) {
    return wrap(scope, token, false, place, [&] { return SmallVector<Value>{value}; })[0];
  }

  void addArithmetic(Scope &scope) {
    Type type = chance(25) ? vector() : number();
    unsigned place = 0;
    Value x = pick(scope, type, &place), y = pick(scope, type, &place);
    Value result;
    switch (below(4)) {
    case 0:
      result = AddOp::create(b, loc, x, y);
      break;
    case 1:
      result = SubOp::create(b, loc, x, y);
      break;
    case 2:
      result = MulOp::create(b, loc, x, y);
      break;
    default:
      result = TanhOp::create(b, loc, x);
    }
    add(scope, result, place);
  }

  void addPredicate(Scope &scope) {
    unsigned place = 0;
    Type type = chance(60) ? number() : boolean();
    Value x = pick(scope, type, &place), y = pick(scope, type, &place);
    if (type == number())
      add(scope, LessOp::create(b, loc, x, y), place);
    else if (chance(50))
      add(scope, LogicalNotOp::create(b, loc, x), place);
    else
      add(scope, LogicalAndOp::create(b, loc, x, y), place);
  }

  void addSwitch(Scope &scope) {
    unsigned place = 0;
    Value data = pick(scope, anyType(), &place);
    Value predicate = pick(scope, boolean(), &place);
    auto fork = SwitchOp::create(b, loc, data, predicate);
    unsigned first = places += 2;
    add(scope, fork.getOnTrue(), first);
    add(scope, fork.getOnFalse(), first + 1);
  }

  void addMerge(Scope &scope) {
    Type type = anyType();
    SmallVector<Value> inputs;
    unsigned place = ++places;
    for (unsigned i = 1 + below(3) + chance(70); i > 0; --i)
      inputs.push_back(pick(scope, type));
    SmallVector<Value> results;
    if (chance(15))
      results = wrap(scope, someTokens(scope, place), false, place, [&] {
        auto op = MergeOp::create(b, loc, inputs);
        return SmallVector<Value>{op.getValue(), op.getIndex()};
      });
    else
      llvm::append_range(results, MergeOp::create(b, loc, inputs).getResults());
    add(scope, results[0], place);
    add(scope, results[1], place);
  }

  void addEffect(Scope &scope) {
    unsigned place = 0;
    Value value = pick(scope, number(), &place);
    unsigned kind = below(3);
    std::string variable = chance(50) ? "v" : "w";
    auto make = [&]() -> SmallVector<Value> {
      if (kind == 0)
        return {AssignOp::create(b, loc, number(), variable, value)};
      if (kind == 1)
        return {ReadOp::create(b, loc, number(), variable)};
      EnqueueOp::create(b, loc, "q", value);
      return {};
    };
    SmallVector<Value> results;
    if (kind == 1 || chance(50)) {
      SmallVector<Value> after = someTokens(scope, place);
      // A read belongs to the frame of its tokens.
      if (kind == 1)
        after.push_back(tokenOf(scope, value, place));
      results = wrap(scope, after, chance(10) && kind == 1, place, make);
    } else {
      results = make();
    }
    for (Value result : results)
      add(scope, result, place);
  }

  //===--------------------------------------------------------------------===//
  // Structures
  //===--------------------------------------------------------------------===//

  /// A conditional in the form of `if`.
  void addBranch(Scope &scope) {
    unsigned place = 0;
    Value predicate = pick(scope, boolean(), &place);
    Scope sides[2];
    unsigned first = places += 2;
    for (unsigned i = 1 + below(3); i > 0; --i) {
      auto fork = SwitchOp::create(b, loc, pick(scope, anyType(), &place), predicate);
      for (unsigned side : {0, 1})
        add(sides[side], fork->getResult(side), first + side);
    }
    for (Scope &side : sides) {
      side.depth = scope.depth + 1;
      side.frame = scope.frame;
      // Constants have no block: they are live wherever any other value is.
      side.tokens.push_back(
          {tokenOf(side, side.items[0].value, side.items[0].place), side.items[0].place});
      addNodes(side, 1 + below(5));
    }
    for (unsigned i = 1 + below(2); i > 0; --i) {
      Type type = anyType();
      Value x = fetch(sides[0], type), y = fetch(sides[1], type);
      auto join = MergeOp::create(b, loc, ValueRange{x, y});
      add(scope, join.getValue(), place);
    }
    // Sometimes a value from the middle of a branch is read after it.
    for (Scope &side : sides)
      if (chance(30))
        scope.items.push_back(side.items[below(side.items.size())]);
  }

  /// A value of a side of a branch, dead on the other one.
  Value fetch(Scope &side, Type type) {
    Value value = pick(side, type);
    if (value.getDefiningOp<ConstantOp>())
      return gated(side, value, side.tokens[0].value, 0);
    return value;
  }

  struct Variable {
    MergeOp merge;
    Value init, onTrue, onFalse;
  };

  Value enter(Value value, StringAttr frame, bool isConstant) {
    return EnterOp::create(b, loc, value, frame, b.getBoolAttr(isConstant));
  }

  void addLoop(Scope &scope);
  Value makeCondition(Scope &head, Value counter, Value limit, unsigned place);
  void addExits(Scope &scope, Scope &last, ArrayRef<Variable> variables, unsigned place);

  void addNodes(Scope &scope, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      addNode(scope);
  }

  void addNode(Scope &scope) {
    unsigned kind = below(100);
    if (kind < 30)
      addArithmetic(scope);
    else if (kind < 42)
      addPredicate(scope);
    else if (kind < 54)
      addSwitch(scope);
    else if (kind < 66)
      addMerge(scope);
    else if (kind < 80)
      addEffect(scope);
    else if (kind < 91 && scope.depth < 4)
      addBranch(scope);
    else if (scope.depth < 3)
      addLoop(scope);
  }

  OpBuilder b;
  Location loc;
  std::mt19937 random;
  unsigned places = 0, frames = 0;
};
} // namespace

/// The condition for another iteration: a limit of the counter, often combined with another one.
Value Generator::makeCondition(Scope &head, Value counter, Value limit, unsigned place) {
  Value less = LessOp::create(b, loc, counter, limit);
  if (chance(60))
    return less;
  Scope more = head;
  addNodes(more, 1 + below(4));
  Value other = pick(more, boolean(), &place);
  if (chance(50))
    return LogicalAndOp::create(b, loc, less, other);
  // Short-circuited: if the counter is at its limit, the condition is that comparison.
  Value onTrue = SwitchOp::create(b, loc, other, less).getOnTrue();
  Value onFalse = SwitchOp::create(b, loc, less, less).getOnFalse();
  return MergeOp::create(b, loc, ValueRange{onTrue, onFalse}).getValue();
}

void Generator::addLoop(Scope &scope) {
  auto frame = b.getStringAttr("f" + std::to_string(++frames));
  unsigned place = 0;
  SmallVector<Variable> variables;
  // All values that enter are computed before the loop.
  Type limitType = index();
  Value anchor = pick(scope, number(), &place);
  Value token = tokenOf(scope, anchor, place);
  auto start = [&](int64_t value) {
    auto type = cast<RankedTensorType>(limitType);
    Value constant =
        ConstantOp::create(b, loc, DenseElementsAttr::get(type, b.getI64IntegerAttr(value)));
    if (!scope.frame)
      return chance(70) ? gated(scope, constant, token, place) : constant;
    SmallVector<Value> after{scope.frame};
    if (chance(70))
      after.push_back(token);
    return wrap(scope, after, false, place, [&] { return SmallVector<Value>{constant}; })[0];
  };
  variables.push_back({{}, start(below(2)), {}, {}});
  Value one = start(1), limit = start(below(4));
  for (unsigned i = below(3) + 1; i > 0; --i)
    variables.push_back({{}, pick(scope, anyType(), &place), {}, {}});
  SmallVector<Value> captures;
  for (unsigned i = below(3); i > 0; --i)
    captures.push_back(pick(scope, anyType(), &place));

  Scope head;
  head.depth = scope.depth + 1;
  unsigned inside = places += 3, going = inside + 1, last = inside + 2;
  for (Variable &variable : variables) {
    Value entry = enter(variable.init, frame, false);
    variable.merge = MergeOp::create(b, loc, ValueRange{entry, entry});
    add(head, variable.merge.getValue(), inside);
    if (chance(20))
      add(head, variable.merge.getIndex(), inside);
  }
  for (Value capture : captures)
    add(head, chance(70) ? enter(capture, frame, true) : capture, inside);
  limit = chance(50) ? enter(limit, frame, true) : limit;
  one = chance(50) ? enter(one, frame, true) : one;
  head.frame = tokenOf(head, variables[0].merge.getValue(), inside);
  if (chance(40))
    addNodes(head, 1 + below(3));

  Value go =
      LoopCondOp::create(b, loc, makeCondition(head, variables[0].merge.getValue(), limit, inside));
  Scope body, end;
  body.depth = head.depth;
  body.frame = end.frame = head.frame;
  for (Variable &variable : variables) {
    auto fork = SwitchOp::create(b, loc, variable.merge.getValue(), go);
    variable.onTrue = fork.getOnTrue();
    variable.onFalse = fork.getOnFalse();
    add(body, variable.onTrue, going);
    add(end, variable.onFalse, last);
  }
  for (const Item &item : head.items)
    if (chance(30))
      body.items.push_back(item);
  Value gate = tokenOf(body, variables[0].onTrue, going);
  addNodes(body, 1 + below(6));
  if (chance(20)) // an operation in each iteration, after the condition
    addEffect(body);
  for (auto [i, variable] : llvm::enumerate(variables)) {
    Value next = variable.onTrue;
    if (i == 0)
      next = AddOp::create(b, loc, next, one);
    else if (chance(80))
      next = gated(body, pick(body, next.getType(), &going), gate, going);
    if (i == 0 && chance(4))
      next = gated(body, next, body.tokens[below(body.tokens.size())].value, going);
    variable.merge->setOperand(1, NextIterationOp::create(b, loc, next));
  }
  addExits(scope, end, variables, place);
}

void Generator::addExits(Scope &scope, Scope &last, ArrayRef<Variable> variables, unsigned place) {
  Value gate = tokenOf(last, variables[0].onFalse, last.items[0].place);
  last.depth = 3;
  if (chance(30))
    addNodes(last, 1 + below(3));
  for (const Variable &variable : variables) {
    if (!chance(80))
      continue;
    Value value = variable.onFalse;
    if (chance(20))
      value = gated(last, pick(last, value.getType()), gate, 0);
    add(scope, ExitOp::create(b, loc, value), place);
    if (chance(10))
      add(scope, ExitOp::create(b, loc, value), place);
  }
}

OwningOpRef<ModuleOp> Generator::make() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(b, loc);
  b.setInsertionPointToEnd(module->getBody());
  for (StringRef name : {"v", "w"})
    VariableOp::create(b, loc, b.getStringAttr(name), TypeAttr::get(number()), UnitAttr(),
                       StringAttr(), SliceAttr());
  QueueOp::create(b, loc, b.getStringAttr("q"), b.getTypeArrayAttr({number()}),
                  b.getStrArrayAttr({"x"}), QueueKindAttr::get(b.getContext(), QueueKind::Fifo),
                  b.getI64IntegerAttr(8), nullptr, nullptr);
  SmallVector<Type> inputs{number(), number(), vector(), boolean(), boolean(), boolean()};
  auto function = func::FuncOp::create(b, loc, "f", b.getFunctionType(inputs, {}));
  Block *block = function.addEntryBlock();
  b.setInsertionPointToEnd(block);
  Scope scope;
  for (Value argument : block->getArguments())
    add(scope, argument, 0);

  OperationState state(loc, DataflowOp::getOperationName());
  Block &graph = state.addRegion()->emplaceBlock();
  b.setInsertionPointToEnd(&graph);
  addNodes(scope, 3 + below(14));
  SmallVector<Value> results;
  SmallVector<Attribute> names;
  for (unsigned i = 1 + below(4); i > 0; --i)
    results.push_back(scope.items[below(scope.items.size())].value);
  for (size_t i = 0; i < results.size(); ++i)
    names.push_back(b.getStringAttr("r" + std::to_string(i)));
  YieldOp::create(b, loc, results);
  b.setInsertionPointToEnd(block);
  state.addTypes(ValueRange(results).getTypes());
  state.addAttribute("names", b.getArrayAttr(names));
  Operation *op = b.create(state);
  func::ReturnOp::create(b, loc, op->getResults());
  function.setFunctionType(b.getFunctionType(inputs, op->getResultTypes()));
  return module;
}

OwningOpRef<ModuleOp> makeRandomGraph(MLIRContext *context, unsigned seed) {
  return Generator(context, seed).make();
}

std::vector<Tensor> makeArguments(func::FuncOp function, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Tensor> result;
  for (Type type : function.getArgumentTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    Tensor value;
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      value.push_back(tensor.getElementType().isInteger(1) ? random() % 2
                                                           : (random() % 17) * 0.125 - 1.0);
    result.push_back(value);
  }
  return result;
}

void mutate(ModuleOp module, unsigned seed) {
  std::mt19937 random(seed);
  Block &block = (*functionOf(module).getOps<DataflowOp>().begin()).getBody().front();
  std::vector<Value> values(functionOf(module).getArguments().begin(),
                            functionOf(module).getArguments().end());
  std::vector<OpOperand *> operands;
  for (Operation &op : block) {
    values.insert(values.end(), op.result_begin(), op.result_end());
    op.walk([&](Operation *nested) {
      for (OpOperand &operand : nested->getOpOperands())
        if (operand.get().getParentBlock() == &block)
          operands.push_back(&operand);
    });
  }
  for (unsigned i = 1 + random() % 4; i > 0 && !operands.empty(); --i) {
    OpOperand *operand = operands[random() % operands.size()];
    Value value = values[random() % values.size()];
    if (value.getType() == operand->get().getType())
      operand->set(value);
  }
}

func::FuncOp functionOf(ModuleOp module) { return *module.getOps<func::FuncOp>().begin(); }

} // namespace tfc::controlflow::test
