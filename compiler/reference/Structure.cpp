//===- Structure.cpp - Checks and kernels ---------------------------------===//
//
// Executes checks and launches of kernels.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Interpreter.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

static LogicalResult runCheck(CheckOp op, Interpreter &interpreter) {
  if (failed(interpreter.require(interpreter.get(op.getCondition()))))
    return failure();
  bool isDetermined;
  if (interpreter.decide(op.getCondition(), isDetermined))
    return success();
  SmallVector<int64_t> values;
  for (Value value : op.getValues()) {
    if (failed(interpreter.require(interpreter.get(value))))
      return failure();
    values.push_back(interpreter.tensor(value).integer(0));
  }
  return interpreter.fail(codeOf(op.getStatus()), fillFormat(op.getFormat(), values));
}

/// Runs the kernel's operations, with its own named sizes.
static LogicalResult runLaunch(LaunchOp op, Interpreter &interpreter) {
  auto kernel = dyn_cast_or_null<KernelOp>(interpreter.symbols.lookup(op.getKernel()));
  if (!kernel)
    return interpreter.fail(Status::Code::Internal,
                            "'" + op.getKernel() + "' is not a kernel in the dfg form");
  SmallVector<DatumRef> inputs = interpreter.get(op.getInputs());
  Sizes own;
  if (ArrayAttr names = kernel.getSymbolsAttr())
    for (auto [name, size] :
         llvm::zip_equal(names.getAsValueRange<StringAttr>(), op.getSizes().getExprs()))
      own[name] = sizeOf(size, interpreter.sizes);
  std::swap(interpreter.sizes, own);
  Block &body = kernel.getBody().front();
  for (auto [argument, input] : llvm::zip_equal(body.getArguments(), inputs))
    interpreter.set(argument, input);
  LogicalResult result = interpreter.run(body);
  std::swap(interpreter.sizes, own);
  if (failed(result))
    return failure();
  interpreter.publish(op, inputs, interpreter.get(body.getTerminator()->getOperands()));
  return success();
}

/// There is one process.
static LogicalResult runOwnFeed(OwnFeedOp op, Interpreter &interpreter) {
  Block &body = op->getParentOfType<EntryOp>().getBody().front();
  interpreter.forward(op.getValue(), interpreter.get(body.getArgument(op.getNumber())));
  return success();
}

void addStructure(Handlers &handlers) {
  handlers.add<OwnFeedOp>(runOwnFeed);
  handlers.add<CheckOp>(runCheck);
  handlers.add<LaunchOp>(runLaunch);
}

} // namespace tfc::reference
