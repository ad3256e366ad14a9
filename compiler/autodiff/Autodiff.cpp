//===- Autodiff.cpp - Reverse-mode differentiation of entries -------------===//
//
// Stands before simplify, which shares work between the forward and the
// backward operations and removes what nobody needs, and after state has been
// resolved, so that a variable is the same value wherever it was read.
//
//===----------------------------------------------------------------------===//

#include "compiler/autodiff/Passes.h"
#include "compiler/autodiff/Paths.h"
#include "dialects/dfg/Build.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_BUILDGRADIENTS
#include "compiler/autodiff/Passes.h.inc"
} // namespace tfc

namespace {
/// Touched rows of a value that is only gathered from, in the order of the gathers.
struct SparseGradient {
  SmallVector<Value> indices, rows;
};

/// Remembers the operations of gradients.
struct Recorder : OpBuilder::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { ops.insert(op); }

  tfc::OperationSet ops;
};

/// Differentiates one `dfg.gradients`.
class Differentiator {
public:
  Differentiator(GradientsOp op, Recorder &recorder)
      : op(op), recorder(recorder), b(op, &recorder) {}

  /// Builds the gradients before the operation; fails with an error.
  FailureOr<SmallVector<Value>> run();

private:
  void markActive();
  LogicalResult visit(Operation *forward);
  LogicalResult reportPath(Operation *blocking);
  void accumulate(Value value, Value gradient);
  bool collectSparse(Operation *forward, ArrayRef<Value> resultGrads);
  Value denseResult(Value x);
  void sparseResult(Value x, SmallVectorImpl<Value> &results);

  GradientsOp op;
  Recorder &recorder;
  OpBuilder b;
  llvm::DenseSet<Value> active;              // on a path from some x, floating point or not
  llvm::SetVector<Operation *> contributing; // on a path to y
  DenseMap<Value, Value> gradients;
  DenseMap<Value, SparseGradient> sparse;
};
} // namespace

static bool isFloating(Value value) { return isa<FloatType>(elementTypeOf(value.getType())); }

/// Marks what depends on an x, and collects what y depends on in reverse program order.
void Differentiator::markActive() {
  SmallVector<Value> work(op.getXs());
  active.insert(work.begin(), work.end());
  while (!work.empty()) {
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (user->getBlock() != op->getBlock() || !user->isBeforeInBlock(op))
        continue;
      for (Value result : user->getResults())
        if (active.insert(result).second)
          work.push_back(result);
    }
  }

  llvm::DenseSet<Operation *> seen;
  SmallVector<Operation *> ops;
  auto push = [&](Value value) {
    Operation *producer = value.getDefiningOp();
    if (producer && active.contains(value) && seen.insert(producer).second)
      ops.push_back(producer);
  };
  push(op.getY());
  for (size_t i = 0; i < ops.size(); ++i)
    for (Value operand : ops[i]->getOperands())
      push(operand);
  llvm::sort(ops, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  contributing.insert(ops.begin(), ops.end());
}

FailureOr<SmallVector<Value>> Differentiator::run() {
  if (failed(tfc::checkPaths(op, recorder.ops)))
    return failure();
  markActive();
  Value y = op.getY();
  gradients[y] = scalarLike(b, y, 1.0);
  for (int64_t position : op.getSparse())
    sparse.try_emplace(op.getXs()[position]);
  for (Operation *forward : contributing)
    if (failed(visit(forward)))
      return failure();

  SmallVector<Value> results;
  for (auto [i, x] : llvm::enumerate(op.getXs())) {
    if (llvm::is_contained(op.getSparse(), int64_t(i)))
      sparseResult(x, results);
    else
      results.push_back(denseResult(x));
  }
  return results;
}

LogicalResult Differentiator::visit(Operation *forward) {
  SmallVector<Value> resultGrads;
  for (Value result : forward->getResults())
    resultGrads.push_back(gradients.lookup(result));
  if (collectSparse(forward, resultGrads))
    return success();
  if (llvm::none_of(resultGrads, [](Value grad) { return bool(grad); }))
    return success();
  // The gradient of an x ends there: what comes before it is held constant only if no other x needs
  // it.
  auto isActive = [&](Value operand) { return active.contains(operand) && isFloating(operand); };
  if (llvm::none_of(forward->getOperands(), isActive))
    return success();
  auto differentiable = dyn_cast<DifferentiableOpInterface>(forward);
  if (!differentiable)
    return reportPath(forward);
  SmallVector<Value> operandGrads = differentiable.buildOperandGradients(b, resultGrads);
  for (auto [operand, gradient] : llvm::zip_equal(forward->getOperands(), operandGrads))
    if (gradient && isActive(operand))
      accumulate(operand, gradient);
  return success();
}

void Differentiator::accumulate(Value value, Value gradient) {
  gradient = sumTo(b, gradient, shapeOf(value.getType()));
  Value &sum = gradients[value];
  sum = sum ? AddOp::create(b, value.getLoc(), sum, gradient).getResult() : gradient;
}

/// A gather along the first axis of a sparse x contributes rows instead of a dense gradient; rows
/// of zeros where nothing flows, because the type counts the rows of all gathers.
bool Differentiator::collectSparse(Operation *forward, ArrayRef<Value> resultGrads) {
  if (forward->getNumOperands() == 0)
    return false;
  auto it = sparse.find(forward->getOperand(0));
  auto gather = dyn_cast<RowGatherOpInterface>(forward);
  if (it == sparse.end() || !gather || !gather.takesRows())
    return false;
  Value gradient = resultGrads[0];
  if (!gradient)
    gradient =
        filled(b, forward->getLoc(), cast<RankedTensorType>(forward->getResult(0).getType()), 0.0);
  auto [indices, rows] = gather.buildRowGradient(b, gradient);
  it->second.indices.push_back(indices);
  it->second.rows.push_back(rows);
  return true;
}

Value Differentiator::denseResult(Value x) {
  if (Value gradient = gradients.lookup(x))
    return gradient;
  return filled(b, op.getLoc(), cast<RankedTensorType>(x.getType()), 0.0);
}

void Differentiator::sparseResult(Value x, SmallVectorImpl<Value> &results) {
  SparseGradient &parts = sparse[x];
  auto join = [&](ArrayRef<Value> values) -> Value {
    if (values.size() == 1)
      return values.front();
    return ConcatOp::create(b, op.getLoc(), values, b.getI64IntegerAttr(0));
  };
  results.push_back(join(parts.indices));
  results.push_back(join(parts.rows));
}

/// Shows how an x reaches the operation: backwards along active values.
LogicalResult Differentiator::reportPath(Operation *blocking) {
  SmallVector<Operation *> steps;
  Value start;
  for (Operation *current = blocking; current;) {
    auto operands = current->getOperands();
    auto next = llvm::find_if(operands, [&](Value operand) { return active.contains(operand); });
    if (next == operands.end())
      break;
    current = llvm::is_contained(op.getXs(), *next) ? nullptr : (*next).getDefiningOp();
    if (current)
      steps.push_back(current);
    else
      start = *next;
  }
  return tfc::reportBlocked(op, blocking, steps, start);
}

namespace {
struct BuildGradientsPass : tfc::impl::BuildGradientsBase<BuildGradientsPass> {
  using Base::Base;

  void runOnOperation() override {
    bool hasFailed = false;
    for (auto entry : getOperation().getOps<EntryOp>()) {
      Recorder recorder;
      // In program order: the inner gradient of a second derivative is operations by then.
      for (auto op : llvm::to_vector(entry.getBody().getOps<GradientsOp>())) {
        FailureOr<SmallVector<Value>> results = Differentiator(op, recorder).run();
        if (failed(results)) {
          hasFailed = true;
          break;
        }
        op->replaceAllUsesWith(*results);
        op.erase();
      }
    }
    if (hasFailed)
      signalPassFailure();
  }
};
} // namespace
