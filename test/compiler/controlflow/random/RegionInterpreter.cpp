//===- RegionInterpreter.cpp - Runs branches and loops --------------------===//
//
// Executes the structured form, which is what the stage creates. It must not know the graph form.
//
//===----------------------------------------------------------------------===//

#include "Interpreters.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::controlflow::test {

namespace {
class Interpreter {
public:
  Interpreter(State &state) : state(state) {}

  std::vector<Tensor> run(Block &block, const std::vector<Tensor> &arguments) {
    for (auto [value, argument] : llvm::zip_equal(block.getArguments(), arguments))
      values[value] = argument;
    for (Operation &op : block.without_terminator()) {
      std::vector<Tensor> results = step(&op, read(op.getOperands()));
      for (auto [value, result] : llvm::zip_equal(op.getResults(), results))
        values[value] = result;
    }
    return read(block.getTerminator()->getOperands());
  }

private:
  std::vector<Tensor> read(ValueRange range) {
    std::vector<Tensor> result;
    for (Value value : range)
      result.push_back(values.find(value)->second);
    return result;
  }

  std::vector<Tensor> step(Operation *op, const std::vector<Tensor> &operands) {
    if (auto branch = dyn_cast<IfOp>(op))
      return run(operands[0][0] ? branch.getThenBlock() : branch.getElseBlock(), {});
    if (auto loop = dyn_cast<WhileOp>(op))
      return repeat(loop, operands);
    auto check = dyn_cast<CheckOp>(op);
    if (!check)
      return compute(op, operands, state);
    if (!operands[0][0])
      state.outcome->dead.insert(check.getMessage().split('\'').second.split('\'').first.str());
    return {};
  }

  std::vector<Tensor> repeat(WhileOp loop, std::vector<Tensor> carried) {
    for (unsigned iteration = 0; run(loop.getConditionBlock(), carried)[0][0]; ++iteration) {
      if (iteration > kMostIterations)
        state.outcome->failure = "a loop does not end";
      if (!state.outcome->failure.empty())
        return carried;
      carried = run(loop.getBodyBlock(), carried);
    }
    return carried;
  }

  State &state;
  llvm::DenseMap<Value, Tensor> values;
};
} // namespace

Outcome runRegions(func::FuncOp function, const std::vector<Tensor> &arguments) {
  Outcome outcome;
  State state{{}, &outcome};
  for (auto variable : function->getParentOfType<ModuleOp>().getOps<VariableOp>())
    state.variables[variable.getSymName().str()] = {0.5};
  outcome.results = Interpreter(state).run(function.getBody().front(), arguments);
  return outcome;
}

} // namespace tfc::controlflow::test
