//===- ResolveState.cpp - Variables become values inside an entry ---------===//
//
// The first pass after the frontend: autodiff needs one value per variable, and
// nothing later needs to think about the order of effects.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/Regions.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_RESOLVESTATE
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

namespace {
/// The state of a variable at a point of the program.
struct VariableState {
  Value current;
  std::optional<Location> assigned; // the last assignment so far, if any
};

/// Variables with their types, in program order.
using Variables = llvm::MapVector<StringAttr, Type>;

/// Follows the variables of an entry through its program.
class Resolver {
public:
  explicit Resolver(EntryOp entry);
  void run();

private:
  void resolve(Block &block);
  void resolve(ReadOp read);
  void resolve(AssignOp assign);
  void resolve(IfOp op);
  void resolve(WhileOp op);
  void moveToStart(ReadOp read);
  SmallVector<Value> currentOf(const Variables &variables, Location loc);
  void setCurrent(const Variables &variables, ValueRange values);

  Block &body;
  Operation *lastRead = nullptr; // of those at the start of the entry
  llvm::MapVector<StringAttr, VariableState> states;
  DenseMap<Operation *, Variables> assignedIn; // of branches and loops
};
} // namespace

Resolver::Resolver(EntryOp entry) : body(entry.getBody().front()) {
  entry.walk([&](AssignOp assign) {
    for (Operation *op = assign->getParentOp(); op != entry.getOperation(); op = op->getParentOp())
      if (!assignedIn[op].insert({assign.getVariableAttr().getAttr(), assign.getType()}).second)
        break;
  });
}

void Resolver::run() {
  resolve(body);
  OpBuilder end(body.getTerminator());
  for (auto &[name, state] : states)
    if (state.assigned)
      AssignOp::create(end, *state.assigned, state.current.getType(), FlatSymbolRefAttr::get(name),
                       state.current);
}

void Resolver::resolve(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto read = dyn_cast<ReadOp>(op))
      resolve(read);
    else if (auto assign = dyn_cast<AssignOp>(op))
      resolve(assign);
    else if (auto branch = dyn_cast<IfOp>(op))
      resolve(branch);
    else if (auto loop = dyn_cast<WhileOp>(op))
      resolve(loop);
  }
}

void Resolver::resolve(ReadOp read) {
  VariableState &state = states[read.getVariableAttr().getAttr()];
  if (state.current) {
    read.replaceAllUsesWith(state.current);
    read.erase();
    return;
  }
  state.current = read;
  moveToStart(read);
}

/// Moves a first read to the start of the entry, after the other first reads, in program order.
void Resolver::moveToStart(ReadOp read) {
  if (lastRead)
    read->moveAfter(lastRead);
  else
    read->moveBefore(&body, body.begin());
  lastRead = read;
}

void Resolver::resolve(AssignOp assign) {
  VariableState &state = states[assign.getVariableAttr().getAttr()];
  state.current = assign.getValue();
  state.assigned = assign.getLoc();
  assign.getResult().replaceAllUsesWith(assign.getValue());
  assign.erase();
}

/// Returns the current values of the variables; variables that have not been read yet are read at
/// the start of the entry.
SmallVector<Value> Resolver::currentOf(const Variables &variables, Location loc) {
  SmallVector<Value> values;
  for (auto &[name, type] : variables) {
    Value &current = states[name].current;
    if (!current) {
      auto b = OpBuilder::atBlockBegin(&body);
      auto read = ReadOp::create(b, loc, type, FlatSymbolRefAttr::get(name));
      moveToStart(read);
      current = read;
    }
    values.push_back(current);
  }
  return values;
}

void Resolver::setCurrent(const Variables &variables, ValueRange values) {
  for (auto [variable, value] : llvm::zip_equal(variables, values))
    states[variable.first].current = value;
}

/// Variables that are assigned in a branch become results.
void Resolver::resolve(IfOp op) {
  Location loc = op.getLoc();
  const Variables variables = assignedIn.lookup(op);
  SmallVector<Value> before = currentOf(variables, loc);
  resolve(op.getThenBlock());
  SmallVector<Value> onTrue = currentOf(variables, loc);
  setCurrent(variables, before);
  resolve(op.getElseBlock());
  SmallVector<Value> onFalse = currentOf(variables, loc);
  if (!variables.empty())
    setCurrent(variables, addResults(op, onTrue, onFalse).getResults().take_back(variables.size()));
}

/// Variables that are assigned in a loop become carried values.
void Resolver::resolve(WhileOp op) {
  Location loc = op.getLoc();
  const Variables variables = assignedIn.lookup(op);
  size_t count = variables.size();
  if (count > 0)
    op = addCarried(op, currentOf(variables, loc));
  setCurrent(variables, op.getConditionBlock().getArguments().take_back(count));
  resolve(op.getConditionBlock());
  setCurrent(variables, op.getBodyBlock().getArguments().take_back(count));
  resolve(op.getBodyBlock());
  addYields(op, currentOf(variables, loc));
  setCurrent(variables, op.getResults().take_back(count));
}

/// Moves a condition that assigns variables before the loop and to the end of its body, because
/// values of the condition's region cannot leave it.
static void rotate(WhileOp loop) {
  OpBuilder b(loop);
  Block &condition = loop.getConditionBlock();
  auto compute = [&](ValueRange carried) {
    IRMapping mapping;
    mapping.map(condition.getArguments(), carried);
    cloneBlock(b, condition, mapping);
    return mapping.lookupOrDefault(loop.getCondition().getCondition());
  };
  Value first = compute(loop.getInits());
  b.setInsertionPoint(loop.getYield());
  Value next = compute(loop.getYield().getValues());
  loop = addCarried(loop, first);
  ConditionOp last = loop.getCondition();
  last.getConditionMutable().assign(condition.getArguments().back());
  while (Operation *op = last->getPrevNode())
    op->erase();
  addYields(loop, next);
}

static bool assignsInCondition(WhileOp loop) {
  return loop.getConditionRegion()
      .walk([](AssignOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

namespace {
struct ResolveStatePass : tfc::impl::ResolveStateBase<ResolveStatePass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](WhileOp loop) {
      if (assignsInCondition(loop))
        rotate(loop);
    });
    for (auto entry : getOperation().getOps<EntryOp>())
      Resolver(entry).run();
  }
};
} // namespace
