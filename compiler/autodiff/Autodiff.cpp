//===- Autodiff.cpp - Reverse-mode differentiation of entries -------------===//
//
// Stands before simplify, which shares work between the forward and the
// backward operations and removes what nobody needs, and after state has been
// resolved, so that a variable is the same value wherever it was read.
//
//===----------------------------------------------------------------------===//

#include "compiler/autodiff/Differentiator.h"
#include "compiler/autodiff/Passes.h"
#include "dialects/dfg/Build.h"
#include "dialects/dfg/Gradients.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_BUILDGRADIENTS
#include "compiler/autodiff/Passes.h.inc"
} // namespace tfc

Differentiator::Differentiator(GradientsOp op, GradientContext &context)
    : op(op), context(context), b(op, &context), activity(op), adjoints(b, context), capacity(1) {}

FailureOr<SmallVector<Value>> Differentiator::run() {
  if (failed(tfc::checkPaths(op, context.ops)))
    return failure();
  Value y = op.getY();
  adjoints.set(y, scalarLike(b, y, 1.0));
  for (int64_t position : op.getSparse())
    sparse.try_emplace(op.getXs()[position]);
  if (failed(sweepAround()))
    return failure();

  SmallVector<Value> results;
  for (auto [i, x] : llvm::enumerate(op.getXs())) {
    if (llvm::is_contained(op.getSparse(), int64_t(i)))
      sparseResult(x, results);
    else
      results.push_back(adjoints.get(x));
  }
  return results;
}

/// Walks back from the operation to the start of the entry. Branches and loops that stand before
/// those around the operation are no way: their gradients would be built as often as these run.
LogicalResult Differentiator::sweepAround() {
  for (Operation *anchor = op; !isa<EntryOp>(anchor); anchor = anchor->getParentOp()) {
    if (anchor != op)
      for (Operation &before :
           llvm::make_range(anchor->getBlock()->begin(), Block::iterator(anchor)))
        if (before.getNumRegions() > 0 && concerns(&before))
          return reportPath(&before);
    if (failed(sweepBlock(*anchor->getBlock(), anchor)))
      return failure();
  }
  return success();
}

/// Visits what is active in a block, or before `end` in it, in reverse program order.
LogicalResult Differentiator::sweepBlock(Block &block, Operation *end) {
  SmallVector<Operation *> ops;
  for (Operation &forward : block) {
    if (&forward == end)
      break;
    if (concerns(&forward))
      ops.push_back(&forward);
  }
  for (Operation *forward : llvm::reverse(ops))
    if (failed(visit(forward)))
      return failure();
  return success();
}

bool Differentiator::concerns(Operation *forward) const {
  return activity.concerns(forward) || context.sparseReaders.contains({op, forward});
}

/// Fails where the gradients have become too many operations, and says what those before took.
LogicalResult Differentiator::checkGrowth() {
  static constexpr size_t kMaxShown = 5;
  if (context.created <= context.maxCreated)
    return success();
  InFlightDiagnostic error = op->emitError()
                             << "the gradients up to this one take more than " << context.maxCreated
                             << " operations [expansion-limit]";
  for (auto [location, count] : ArrayRef(context.finished).take_back(kMaxShown))
    error.attachNote(location) << "this gradient takes " << count << " operations";
  error.attachNote() << "help: --max-operations=N allows more";
  return error;
}

LogicalResult Differentiator::visit(Operation *forward) {
  if (failed(checkGrowth()))
    return failure();
  if (auto push = dyn_cast<PushOp>(forward)) {
    visitPush(push);
    return success();
  }
  if (auto pop = dyn_cast<PopOp>(forward)) {
    visitPop(pop);
    return success();
  }
  if (collectSparse(forward))
    return success();
  auto hasGradient = [&](Value result) { return bool(adjoints.lookup(result)); };
  if (llvm::none_of(forward->getResults(), hasGradient) && !activity.usesTapes(forward))
    return success();
  if (auto branch = dyn_cast<IfOp>(forward))
    return visitBranch(branch);
  if (auto loop = dyn_cast<WhileOp>(forward))
    return visitLoop(loop);
  return visitPlain(forward);
}

LogicalResult Differentiator::visitPlain(Operation *forward) {
  // The gradient of an x ends there: what comes before it is held constant only if no other x needs
  // it.
  auto isActive = [&](Value operand) { return activity.isActive(operand); };
  if (llvm::none_of(forward->getOperands(), isActive))
    return success();
  auto differentiable = dyn_cast<DifferentiableOpInterface>(forward);
  if (!differentiable)
    return reportPath(forward);
  SmallVector<Value> resultGrads;
  for (Value result : forward->getResults())
    resultGrads.push_back(adjoints.lookup(result));
  size_t first = context.built.size();
  SmallVector<Value> operandGrads = differentiable.buildOperandGradients(b, resultGrads);
  for (auto [operand, gradient] : llvm::zip_equal(forward->getOperands(), operandGrads))
    if (gradient)
      accumulate(operand, gradient);
  eraseUnneeded(first, forward->getOperands());
  return success();
}

/// Erases what was built from number `first` on for operands that need no gradient, lest a loop
/// saves values for it.
void Differentiator::eraseUnneeded(size_t first, ValueRange operands) {
  llvm::SmallDenseSet<Operation *> kept;
  for (Value operand : operands)
    if (Value gradient = adjoints.lookup(operand))
      kept.insert(gradient.getDefiningOp());
  for (Operation *built : llvm::reverse(ArrayRef(context.built).drop_front(first)))
    if (!kept.contains(built) && context.ops.contains(built) && isOpTriviallyDead(built)) {
      context.ops.erase(built);
      built->erase();
    }
}

void Differentiator::accumulate(Value value, Value gradient) {
  if (activity.isActive(value))
    adjoints.add(value, gradient);
}

/// Forgets values that are about to be erased: others may get their addresses.
void Differentiator::forget(ValueRange values) {
  for (Value value : values) {
    activity.forget(value);
    adjoints.forget(value);
  }
}

/// Follows results of an operation that was replaced by one with more results.
void Differentiator::moveResults(ValueRange from, ValueRange to) {
  for (auto [value, moved] : llvm::zip_equal(from, to)) {
    activity.move(value, moved);
    if (Value original = adjoints.move(value, moved))
      replayed[original] = moved;
  }
}

/// A gather along the first axis of a sparse x contributes rows instead of a dense gradient; rows
/// of zeros where nothing flows, because the type counts the rows of all gathers.
bool Differentiator::collectSparse(Operation *forward) {
  if (forward->getNumOperands() == 0)
    return false;
  auto it = sparse.find(forward->getOperand(0));
  if (it == sparse.end() || !context.sparseReaders.contains({op, forward}))
    return false;
  auto gather = cast<RowGatherOpInterface>(forward);
  Value gradient = adjoints.get(forward->getResult(0));
  auto [indices, rows] = gather.buildRowGradient(b, gradient);
  it->second.indices.push_back(indices);
  it->second.rows.push_back(rows);
  return true;
}

/// The parts one after the other. Gathers that were removed since the types counted their rows
/// leave rows of zeros, with an index that is to be skipped.
void Differentiator::sparseResult(Value x, SmallVectorImpl<Value> &results) {
  SparseGradient &parts = sparse[x];
  auto join = [&](SmallVector<Value> values, double missing) -> Value {
    auto type = cast<RankedTensorType>(op.getGrads()[results.size()].getType());
    Shape rest = shapeOf(type);
    for (Value value : values)
      rest[0] = rest[0] - shapeOf(value.getType())[0];
    if (!rest[0].isConstant(0))
      values.push_back(filled(b, op.getLoc(), tensorOf(rest, type.getElementType()), missing));
    if (values.size() == 1)
      return values.front();
    return ConcatOp::create(b, op.getLoc(), values, b.getI64IntegerAttr(0));
  };
  results.push_back(join(parts.indices, -1.0));
  results.push_back(join(parts.rows, 0.0));
}

/// Shows how an x reaches the operation: backwards along active values.
LogicalResult Differentiator::reportPath(Operation *blocking) {
  SmallVector<Operation *> steps;
  Value start;
  for (Operation *current = blocking; current;) {
    auto operands = current->getOperands();
    auto next = llvm::find_if(operands, [&](Value operand) { return activity.isVaried(operand); });
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

/// Finds the gathers of which sparse gradients consist while the types still tell: the gradient
/// that stands for an inner one may not need them any more.
static void findSparseReaders(ArrayRef<GradientsOp> work, GradientContext &context) {
  for (GradientsOp op : work)
    for (int64_t position : op.getSparse())
      for (Operation *reader : readersTowards(op.getY(), op.getXs()[position]))
        context.sparseReaders.insert({op, reader});
}

namespace {
struct BuildGradientsPass : tfc::impl::BuildGradientsBase<BuildGradientsPass> {
  using Base::Base;

  void runOnOperation() override {
    bool hasFailed = false;
    GradientContext context(getOperation(), maxOperations);
    for (auto entry : getOperation().getOps<EntryOp>()) {
      context.ops.clear();
      context.built.clear();
      context.sparseReaders.clear();
      context.finished.clear();
      SmallVector<GradientsOp> work;
      entry.walk<WalkOrder::PreOrder>([&](GradientsOp op) { work.push_back(op); });
      findSparseReaders(work, context);
      // In program order: the inner gradient of a second derivative is operations by then.
      for (GradientsOp op : work) {
        uint64_t before = context.created;
        FailureOr<SmallVector<Value>> results = Differentiator(op, context).run();
        context.finished.emplace_back(op.getLoc(), context.created - before);
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
