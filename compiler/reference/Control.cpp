//===- Control.cpp - Branches and loops as regions ------------------------===//
//
// Executes branches and loops as regions. If a condition is undetermined, everything that the
// regions may change becomes undetermined.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Interpreter.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

/// If the condition is undetermined, results are undetermined, and so are variables that the other
/// side assigns.
static LogicalResult runIf(IfOp op, Interpreter &interpreter) {
  if (failed(interpreter.require(interpreter.get(op.getCondition()))))
    return failure();
  bool isDetermined;
  bool condition = interpreter.decide(op.getCondition(), isDetermined);
  Interpreter::UndeterminedScope scope(interpreter, !isDetermined);
  Block &block = condition ? op.getThenBlock() : op.getElseBlock();
  if (!isDetermined)
    interpreter.blur(condition ? op.getElseRegion() : op.getThenRegion());
  if (failed(interpreter.run(block)))
    return failure();
  interpreter.forward(op.getResults(), interpreter.get(block.getTerminator()->getOperands()));
  return success();
}

/// Evaluates the condition of the next iteration.
static LogicalResult goesOn(WhileOp op, Interpreter &interpreter, bool &result,
                            bool &isDetermined) {
  if (failed(interpreter.run(op.getConditionBlock())))
    return failure();
  Value condition = op.getCondition().getCondition();
  if (failed(interpreter.require(interpreter.get(condition))))
    return failure();
  result = interpreter.decide(condition, isDetermined);
  return success();
}

/// After an iteration that may or may not run, everything is undetermined.
static LogicalResult runWhile(WhileOp op, Interpreter &interpreter) {
  SmallVector<DatumRef> carried = interpreter.get(op.getInits());
  std::deque<Interpreter::UndeterminedScope> scopes;
  interpreter.iterations.push_back(0);
  for (;; ++interpreter.iterations.back()) {
    interpreter.forward(op.getConditionBlock().getArguments(), carried);
    bool more, isDetermined;
    if (failed(interpreter.countVisits(1)) || failed(goesOn(op, interpreter, more, isDetermined)))
      return failure();
    if (!isDetermined && scopes.empty()) {
      scopes.emplace_back(interpreter, true);
      interpreter.blur(op.getBodyRegion());
    }
    carried = interpreter.get(op.getConditionBlock().getArguments());
    if (!more)
      break;
    if (interpreter.iterations.back() >= interpreter.options.mostIterations)
      return interpreter.fail(Status::Code::Internal, "a loop does not end");
    interpreter.forward(op.getBodyBlock().getArguments(), carried);
    if (failed(interpreter.run(op.getBodyBlock())))
      return failure();
    carried = interpreter.get(op.getYield().getValues());
  }
  interpreter.iterations.pop_back();
  interpreter.forward(op.getResults(), carried);
  return success();
}

void addControl(Handlers &handlers) {
  handlers.add<IfOp>(runIf);
  handlers.add<WhileOp>(runWhile);
}

} // namespace tfc::reference
