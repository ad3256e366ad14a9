//===- Autodiff.cpp - Reverse-mode differentiation of entries -------------===//
//
// Runs before simplify, which shares work between forward and backward
// operations and removes unused ones, and after state has been resolved, so
// that all reads of a variable are the same value up to an assignment, and from
// there on the assigned value.
//
//===----------------------------------------------------------------------===//

#include "compiler/autodiff/Differentiator.h"
#include "compiler/autodiff/Passes.h"
#include "dialects/dfg/Build.h"
#include "dialects/dfg/Gradients.h"
#include "dialects/dfg/Help.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_BUILDGRADIENTS
#include "compiler/autodiff/Passes.h.inc"
} // namespace tfc

Differentiator::Differentiator(GradientsOp op, GradientContext &context)
    : sweep(op, context), tapes(sweep), sparse(sweep), branches(sweep, *this, tapes),
      loops(sweep, *this, tapes) {}

FailureOr<SmallVector<Value>> Differentiator::run() {
  GradientsOp op = sweep.op;
  if (failed(tfc::checkPaths(op, sweep.context.ops)))
    return failure();
  Value y = op.getY();
  sweep.adjoints.set(y, scalarLike(sweep.b, y, 1.0));
  if (failed(visitAround()))
    return failure();

  SmallVector<Value> results;
  for (auto [i, x] : llvm::enumerate(op.getXs())) {
    if (!llvm::is_contained(op.getSparse(), int64_t(i)))
      results.push_back(sweep.adjoints.get(x));
    else if (failed(sparse.join(x, results)))
      return failure();
  }
  return results;
}

/// Walks back from the operation to the start of the entry, through all enclosing blocks. Reports
/// active branches and loops that precede an enclosing branch or loop: their gradients would be
/// built in it, and run as often as it does.
LogicalResult Differentiator::visitAround() {
  for (Operation *anchor = sweep.op; !isa<EntryOp>(anchor); anchor = anchor->getParentOp()) {
    if (anchor != sweep.op)
      for (Operation &before :
           llvm::make_range(anchor->getBlock()->begin(), Block::iterator(anchor)))
        if (before.getNumRegions() > 0 && concerns(&before))
          return reportPath(&before);
    if (failed(visitBlock(*anchor->getBlock(), anchor)))
      return failure();
  }
  return success();
}

/// Visits the active operations of a block, or those before `end`, in reverse program order.
LogicalResult Differentiator::visitBlock(Block &block, Operation *end) {
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
  return sweep.activity.concerns(forward) ||
         sweep.context.sparseReaders.contains({sweep.op, forward});
}

/// Fails if the gradients consist of too many operations; notes show the sizes of the earlier ones.
LogicalResult Differentiator::checkGrowth() {
  static constexpr size_t kMaxShown = 5;
  if (sweep.context.created <= sweep.context.maxCreated)
    return success();
  InFlightDiagnostic error = sweep.op->emitError()
                             << "the gradients up to this one take more than "
                             << sweep.context.maxCreated << " operations [expansion-limit]";
  for (auto [location, count] : ArrayRef(sweep.context.finished).take_back(kMaxShown))
    error.attachNote(location) << "this gradient takes " << count << " operations";
  attachHelp(error, "--max-operations=N allows more");
  return error;
}

LogicalResult Differentiator::visit(Operation *forward) {
  if (failed(checkGrowth()))
    return failure();
  if (auto push = dyn_cast<PushOp>(forward)) {
    tapes.visit(push);
    return success();
  }
  if (auto pop = dyn_cast<PopOp>(forward)) {
    tapes.visit(pop);
    return success();
  }
  if (sparse.collect(forward))
    return success();
  auto hasGradient = [&](Value result) { return bool(sweep.adjoints.lookup(result)); };
  if (llvm::none_of(forward->getResults(), hasGradient) && !sweep.activity.usesTapes(forward))
    return success();
  if (auto branch = dyn_cast<IfOp>(forward))
    return branches.visit(branch);
  if (auto loop = dyn_cast<WhileOp>(forward))
    return loops.visit(loop);
  return visitPlain(forward);
}

LogicalResult Differentiator::visitPlain(Operation *forward) {
  // Gradients do not flow past an x, but its producers are visited if another x needs them.
  auto isActive = [&](Value operand) { return sweep.activity.isActive(operand); };
  if (llvm::none_of(forward->getOperands(), isActive))
    return success();
  auto differentiable = dyn_cast<DifferentiableOpInterface>(forward);
  if (!differentiable)
    return reportPath(forward);
  SmallVector<Value> resultGrads;
  for (Value result : forward->getResults())
    resultGrads.push_back(sweep.adjoints.lookup(result));
  size_t first = sweep.context.built.size();
  llvm::SaveAndRestore<Operation *> differentiated(sweep.context.differentiated, forward);
  SmallVector<Value> operandGrads = differentiable.buildOperandGradients(sweep.b, resultGrads);
  for (auto [operand, gradient] : llvm::zip_equal(forward->getOperands(), operandGrads))
    if (gradient)
      sweep.accumulate(operand, gradient);
  sweep.adjoints.eraseReplaced();
  eraseUnneeded(first, forward->getOperands());
  return success();
}

/// Erases operations from number `first` on that were built for operands without a gradient, so
/// that no loop saves values for them.
void Differentiator::eraseUnneeded(size_t first, ValueRange operands) {
  llvm::SmallDenseSet<Operation *> kept;
  for (Value operand : operands)
    if (Value gradient = sweep.adjoints.lookup(operand))
      kept.insert(gradient.getDefiningOp());
  for (Operation *built : llvm::reverse(ArrayRef(sweep.context.built).drop_front(first)))
    if (!kept.contains(built) && sweep.context.ops.contains(built) && isOpTriviallyDead(built)) {
      sweep.context.ops.erase(built);
      built->erase();
    }
}

/// Shows how an x reaches the operation: backwards along active values.
LogicalResult Differentiator::reportPath(Operation *blocking) {
  SmallVector<Operation *> steps;
  Value start;
  for (Operation *current = blocking; current;) {
    auto operands = current->getOperands();
    auto next =
        llvm::find_if(operands, [&](Value operand) { return sweep.activity.isVaried(operand); });
    if (next == operands.end())
      break;
    current = llvm::is_contained(sweep.op.getXs(), *next) ? nullptr : (*next).getDefiningOp();
    if (current)
      steps.push_back(current);
    else
      start = *next;
  }
  return tfc::reportBlocked(sweep.op, blocking, steps, start);
}

/// Finds the gathers of which sparse gradients consist before any gradient is built: a gradient
/// that replaces an inner one may no longer need them.
static LogicalResult findSparseReaders(ArrayRef<GradientsOp> work, GradientContext &context) {
  for (GradientsOp op : work) {
    if (op.getSparse().empty())
      continue;
    ReadersTowards readers(op.getY());
    for (int64_t position : op.getSparse())
      for (Operation *reader : readers.of(op.getXs()[position])) {
        if (!gathersRows(reader)) {
          op.emitOpError("expects only gathers to read an operand with a sparse gradient")
                  .attachNote(reader->getLoc())
              << "'" << reader->getName() << "' reads operand #" << position + 1;
          return failure();
        }
        context.sparseReaders.insert({op, reader});
      }
  }
  return success();
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
      if (failed(findSparseReaders(work, context)))
        return signalPassFailure();
      // In program order, so that the inner gradient of a second derivative has already been
      // replaced by operations.
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
