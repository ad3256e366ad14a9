//===- ControlFlow.cpp - From Switch and Merge to branches and loops ------===//
//
// The first pass: resolving state, gradients and all later passes work on
// regions.
//
//===----------------------------------------------------------------------===//

#include "compiler/controlflow/Frames.h"
#include "compiler/controlflow/Loops.h"
#include "compiler/controlflow/Passes.h"
#include "compiler/controlflow/Regions.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace tfc::controlflow;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_STRUCTURECONTROLFLOW
#include "compiler/controlflow/Passes.h.inc"
} // namespace tfc

/// Inlines a graph that is a node of another graph into that graph.
static LogicalResult splice(DataflowOp inner, DataflowOp outer) {
  llvm::StringMap<bool> taken;
  outer.walk([&](EnterOp enter) {
    if (!inner->isAncestor(enter))
      taken[enter.getFrame()] = true;
  });
  inner.walk([&](EnterOp enter) {
    std::string name = enter.getFrame().str();
    while (taken.contains(name))
      name += "'";
    enter.setFrame(name);
  });
  Block &block = inner.getBody().front();
  Operation *yield = block.getTerminator();
  // A value that is yielded may be a result of the operation itself.
  for (auto [i, result] : llvm::enumerate(inner.getResults())) {
    if (yield->getOperand(i) == result)
      return inner.emitError() << nameOf(inner) << " yields its own result [dataflow-cycle]";
    result.replaceAllUsesWith(yield->getOperand(i));
  }
  yield->erase();
  inner->getBlock()->getOperations().splice(inner->getIterator(), block.getOperations());
  inner.erase();
  return success();
}

/// Inserts checks that fail the call if a result is dead.
static void checkResults(Graph &graph, OpBuilder &b, Liveness &liveness, RegionEmitter &emitter) {
  auto names = graph.op.getNames();
  for (auto [i, edge] : llvm::enumerate(graph.results)) {
    Guard guard = liveness.of(edge);
    if (guard == kAlways)
      continue;
    std::string name =
        names ? ("'" + cast<StringAttr>((*names)[i]).getValue() + "'").str() : nameOf(edge.first);
    Message message(b, graph.op.getLoc());
    message.text("has no value: the branch that computes it did not run")
        .about(name + sitePhrase(graph.op.getLoc()));
    CheckOp::create(b, graph.op.getLoc(), emitter.conditionOf(guard, kAlways), message,
                    Failure::FailedPrecondition);
  }
}

/// Removes unused results of branches and loops, and their computations.
static void cleanUp(ArrayRef<Operation *> created, MLIRContext *context) {
  RewritePatternSet patterns(context);
  IfOp::getCanonicalizationPatterns(patterns, context);
  WhileOp::getCanonicalizationPatterns(patterns, context);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  config.enableFolding(false).enableConstantCSE(false);
  (void)applyOpPatternsGreedily(created, std::move(patterns), config);
}

/// Returns the first name that `op` mentions and that is bound only where it is not known to `op`.
static std::string findUnknownSize(Operation *op, const RunTimeSizes &sizes) {
  for (const std::string &name : RunTimeSizes::namesIn(op)) {
    if (!sizes.binds(name))
      continue;
    BindSizeOp binder = sizes.find(name, op->getBlock());
    Operation *user = binder ? binder->getBlock()->findAncestorOpInBlock(*op) : nullptr;
    if (!user || (user != binder && !binder->isBeforeInBlock(user)))
      return name;
  }
  return "";
}

/// Reports the first operation in `around` that depends on a size of another branch or iteration.
static LogicalResult checkSizes(Operation *around) {
  RunTimeSizes sizes(around);
  if (sizes.empty())
    return success();
  WalkResult result = around->walk([&](Operation *op) {
    std::string name = op == around ? "" : findUnknownSize(op, sizes);
    if (name.empty())
      return WalkResult::advance();
    op->emitError() << nameOf(op) << " has the size '" << name
                    << "', which depends on data of another branch or iteration [size-escapes]";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult structure(DataflowOp op) {
  Graph graph;
  buildGraph(op, graph);
  if (failed(assignFrames(graph)) || failed(structureLoops(graph)))
    return failure();
  Liveness liveness;
  liveness.analyze(graph.nodes);
  if (failed(liveness.check()))
    return failure();
  OpBuilder b(op);
  RegionEmitter emitter(b, op.getLoc(), liveness);
  Operation *before = op->getPrevNode();
  Demand demand{graph.results, {}};
  for (Edge edge : graph.results)
    demand.guards.push_back(liveness.of(edge));
  emitter.emit(graph.nodes, demand, kAlways);
  checkResults(graph, b, liveness, emitter);
  for (auto [edge, result] : llvm::zip_equal(graph.results, op.getResults()))
    result.replaceAllUsesWith(emitter.valueOf(edge));
  SmallVector<Operation *> created;
  for (Operation *next = before ? before->getNextNode() : &op->getBlock()->front(); next != op;
       next = next->getNextNode())
    next->walk([&](Operation *nested) { created.push_back(nested); });
  op.erase();
  cleanUp(created, b.getContext());
  return success();
}

static bool isControl(Operation *op) { return op->hasTrait<RoutingRole>(); }

/// Returns true if a node consists of a single operation of control flow, and its only results are
/// those of the operation.
static bool isWrapper(NodeOp node, Operation *control) {
  Block &block = node.getBody().front();
  return &block.front() == control && control->getNextNode() == block.getTerminator() &&
         llvm::all_of(block.getTerminator()->getOperands(),
                      [&](Value value) { return value.getDefiningOp() == control; });
}

/// Reports operations of the graph form that are in no graph or not alone in their node.
static LogicalResult checkPlaces(ModuleOp module) {
  bool isWrong = false;
  module.walk([&](Operation *op) {
    if (!isa<NodeOp>(op) && !isControl(op))
      return;
    Operation *parent = op->getParentOp();
    if (auto node = dyn_cast<NodeOp>(parent); node && isControl(op)) {
      if (!isWrapper(node, op)) {
        isWrong = true;
        op->emitError() << nameOf(op) << " must be the only operation in its 'node' [misplaced]";
      }
      parent = node->getParentOp();
    }
    if (isa<DataflowOp>(parent))
      return;
    isWrong = true;
    op->emitError() << nameOf(op) << " is outside of a 'dataflow' block [misplaced]";
  });
  return success(!isWrong);
}

namespace {
struct StructureControlFlowPass : tfc::impl::StructureControlFlowBase<StructureControlFlowPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(checkPlaces(getOperation())))
      return signalPassFailure();
    SmallVector<DataflowOp> graphs;
    bool isWrong = false;
    getOperation().walk([&](DataflowOp op) {
      if (auto outer = dyn_cast<DataflowOp>(op->getParentOp()))
        isWrong |= failed(splice(op, outer));
      else
        graphs.push_back(op);
    });
    if (isWrong)
      return signalPassFailure();
    for (DataflowOp op : graphs) {
      Operation *around = op->getParentOp();
      isWrong |= failed(structure(op)) || failed(checkSizes(around));
    }
    if (isWrong)
      signalPassFailure();
  }
};
} // namespace
