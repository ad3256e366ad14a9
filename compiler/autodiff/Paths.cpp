//===- Paths.cpp - How values reach a loss --------------------------------===//
//
// Explains why no gradient reaches an x: finds a path to the loss and names the operation that
// blocks it. It only reads the graph, and nothing that is built depends on it.
//
//===----------------------------------------------------------------------===//

#include "compiler/autodiff/Paths.h"
#include "compiler/autodiff/Flow.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

namespace {
/// The next operation on a path to y, and its result on the path.
struct Step {
  Operation *op = nullptr;
  Value result;
};

/// Values from which y can be reached.
using Paths = DenseMap<Value, Step>;
} // namespace

/// Further steps are counted instead of shown.
static constexpr size_t kMaxSteps = 8;

static std::string nameOf(Operation *op) {
  return ("'" + op->getName().stripDialect() + "'").str();
}

/// Shortest paths to y over the operands for which `isStep` returns true.
static Paths findPaths(const Flow &flow, Value y, function_ref<bool(OpOperand &)> isStep) {
  Paths paths{{y, Step()}};
  SmallVector<Value> work{y};
  for (size_t i = 0; i < work.size(); ++i) {
    Value result = work[i];
    flow.visitSources(result, [&](OpOperand &source) {
      Operation *user = source.getOwner();
      Step step{isa<YieldOp>(user) ? user->getParentOp() : user, result};
      if (isStep(source) && paths.try_emplace(source.get(), step).second)
        work.push_back(source.get());
    });
  }
  return paths;
}

/// Returns true if the author would regard the operand as part of a path to the loss.
static bool isWay(OpOperand &operand) {
  if (auto select = dyn_cast<SelectOp>(operand.getOwner()))
    return operand.get() == select.getOnTrue() || operand.get() == select.getOnFalse();
  return !isa<StopGradientOp>(operand.getOwner());
}

/// The operations from x to y, and the number of those before the first whose result is not
/// floating-point.
static std::pair<SmallVector<Operation *>, size_t> follow(const Paths &paths, Value x) {
  SmallVector<Operation *> ops;
  std::optional<size_t> blocking;
  for (Step step = paths.lookup(x); step.op; step = paths.lookup(step.result)) {
    if (!blocking && !isDifferentiable(step.result.getType()))
      blocking = ops.size();
    ops.push_back(step.op);
  }
  return {ops, blocking.value_or(0)};
}

/// Notes the rest of the path after the blocking operation.
static void noteRest(InFlightDiagnostic &error, ArrayRef<Operation *> rest) {
  if (rest.empty())
    return;
  std::string names;
  for (Operation *op : rest.take_front(kMaxSteps))
    names += (names.empty() ? "" : ", ") + nameOf(op);
  if (rest.size() > kMaxSteps)
    names += " and " + std::to_string(rest.size() - kMaxSteps) + " more";
  error.attachNote(rest.front()->getLoc())
      << "from there the path continues to the loss through " << names;
}

InFlightDiagnostic tfc::reportBlocked(GradientsOp op, Operation *blocking,
                                      ArrayRef<Operation *> steps, Value start) {
  InFlightDiagnostic error =
      op->emitError()
      << "no gradient flows through " << nameOf(blocking)
      << ", which lies between the loss and the values that it is differentiated by "
         "[no-gradient]";
  error.attachNote(blocking->getLoc()) << nameOf(blocking) << " is used here";
  for (Operation *step : steps.take_front(kMaxSteps))
    error.attachNote(step->getLoc()) << "through " << nameOf(step);
  if (steps.size() > kMaxSteps)
    error.attachNote(steps.back()->getLoc())
        << "through " << steps.size() - kMaxSteps << " more operations";
  if (start)
    error.attachNote(start.getLoc()) << "the path starts here";
  return error;
}

LogicalResult tfc::checkPaths(GradientsOp op, const OperationSet &ofGradients) {
  Flow flow(op);
  Paths flows = findPaths(flow, op.getY(), [&](OpOperand &operand) {
    return isDifferentiable(operand.get().getType()) && isWay(operand);
  });
  Paths ways = findPaths(flow, op.getY(), [&](OpOperand &operand) {
    return isWay(operand) && !ofGradients.contains(operand.getOwner());
  });
  OperationSet reported;
  for (Value x : op.getXs()) {
    if (flows.contains(x) || !ways.contains(x))
      continue;
    auto [ops, index] = follow(ways, x);
    if (!reported.insert(ops[index]).second)
      continue;
    SmallVector<Operation *> before(llvm::reverse(ArrayRef(ops).take_front(index)));
    InFlightDiagnostic error = reportBlocked(op, ops[index], before, x);
    noteRest(error, ArrayRef(ops).drop_front(index + 1));
  }
  return success(reported.empty());
}
