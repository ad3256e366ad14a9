//===- DecomposeComposites.cpp - Composite operations to simple ones ------===//
//
// Runs after autodiff, because the gradient of a composite (softmax, cross
// entropy) is shorter and more accurate than that of its parts.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/OnCpu.h"
#include "compiler/simplify/Passes.h"
#include "dialects/dfg/PoolingOps.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_DECOMPOSECOMPOSITES
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

/// Returns true for positions along axes other than the last one, which processors find in one
/// pass, where a lane is a position: the composition has one for the extreme and one for its place.
static bool staysWhole(Operation *op) {
  if (!isa<ArgmaxOp, ArgminOp, MaxWithIndexOp>(op) || !tfc::isOnCpu(op))
    return false;
  int64_t rank = shapeOf(op->getOperand(0).getType()).size();
  if (isa<MaxWithIndexOp>(op)) {
    auto axes = reducedAxes(op->getAttrOfType<DenseI64ArrayAttr>("axis"), rank);
    return !axes.empty() && axes.back() != rank - 1;
  }
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  return *normalizeAxis(axis ? axis.getInt() : -1, rank) + 1 != rank;
}

/// Lets pooling take its result from the operation that finds the positions for its gradient.
static void shareLargest(MaxPoolWithIndicesOp op) {
  NamedAttrList attributes(op->getAttrs());
  attributes.erase(op.getDtypeAttrName());
  for (Operation *user : llvm::to_vector(op.getX().getUsers())) {
    auto pool = dyn_cast<MaxPoolOp>(user);
    if (!pool || pool->getBlock() != op->getBlock() ||
        NamedAttrList(pool->getAttrs()) != attributes)
      continue;
    if (pool->isBeforeInBlock(op))
      op->moveBefore(pool);
    pool.replaceAllUsesWith(op.getY());
    pool.erase();
  }
}

namespace {
struct DecomposeCompositesPass : tfc::impl::DecomposeCompositesBase<DecomposeCompositesPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<MaxPoolWithIndicesOp> pools;
    getOperation().walk([&](MaxPoolWithIndicesOp op) { pools.push_back(op); });
    llvm::for_each(pools, shareLargest);
    // A part may be composite, too, so parts are visited after the operation that they replace.
    SmallVector<CompositeOpInterface> work;
    getOperation().walk([&](CompositeOpInterface op) { work.push_back(op); });
    while (!work.empty()) {
      CompositeOpInterface op = work.pop_back_val();
      if (staysWhole(op))
        continue;
      OpBuilder b(op);
      Operation *before = op->getPrevNode();
      SmallVector<Value> results = op.decompose(b);
      op->replaceAllUsesWith(results);
      Block *block = op->getBlock();
      auto first = before ? std::next(Block::iterator(before)) : block->begin();
      for (Operation &part : llvm::make_range(first, Block::iterator(op))) {
        copyPlacement(op, &part);
        if (auto composite = dyn_cast<CompositeOpInterface>(part))
          work.push_back(composite);
      }
      op->erase();
    }
  }
};
} // namespace
