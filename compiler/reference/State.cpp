//===- State.cpp - Variables, tapes ---------------------------------------===//
//
// Executes operations on variables and tapes, whose state other operations of the call see.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Interpreter.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

/// All reads between two assignments return the same datum, so that a gradient finds every use.
static LogicalResult runRead(ReadOp op, Interpreter &interpreter) {
  interpreter.set(op.getValue(), interpreter.state.variables[op.getVariable().str()]);
  return success();
}

static LogicalResult runAssign(AssignOp op, Interpreter &interpreter) {
  if (failed(interpreter.require(interpreter.get(op.getValue()))))
    return failure();
  DatumRef value = interpreter.get(op.getValue());
  if (interpreter.isUndetermined()) {
    interpreter.forward(op.getResult(), value);
    value = interpreter.get(op.getResult());
  }
  interpreter.set(op.getResult(), value);
  interpreter.state.variables[op.getVariable().str()] = value;
  return success();
}

static LogicalResult runPush(PushOp op, Interpreter &interpreter) {
  interpreter.tapes[op.getTape().str()].push_back(interpreter.get(op.getValue()));
  return success();
}

static LogicalResult runPop(PopOp op, Interpreter &interpreter) {
  std::vector<DatumRef> &tape = interpreter.tapes[op.getTape().str()];
  if (tape.empty())
    return interpreter.fail(Status::Code::FailedPrecondition, "'" + op.getTape() + "' is empty");
  interpreter.set(op.getValue(), tape.back());
  tape.pop_back();
  return success();
}

void addState(Handlers &handlers) {
  handlers.add<ReadOp>(runRead);
  handlers.add<AssignOp>(runAssign);
  handlers.add<PushOp>(runPush);
  handlers.add<PopOp>(runPop);
}

} // namespace tfc::reference
