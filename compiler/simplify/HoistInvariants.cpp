//===- HoistInvariants.cpp - Hoisting loop-invariant operations -----------===//
//
// Runs after the algebra, which merges chains of views into the operations that
// read them, and before the canonicalization that drops unused carried values.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/Passes.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_HOISTINVARIANTS
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

/// Returns true if every kernel computes the operation where it reads it; outside of the loop its
/// result would be stored.
static bool isFree(Operation *op) { return op->hasTrait<ViewRole>(); }

/// Moves a view back into the region of a loop that contains all its readers.
static void sink(Operation *op, WhileOp loop) {
  for (Region *region : loop.getLoopRegions()) {
    auto isInside = [&](Operation *user) { return region->isAncestor(user->getParentRegion()); };
    if (!op->use_empty() && llvm::all_of(op->getUsers(), isInside))
      op->moveBefore(&region->front(), region->front().begin());
  }
}

static void hoist(WhileOp loop) {
  SmallVector<Operation *> hoisted;
  RunTimeSizes boundInside(loop);
  auto mayLeave = [&](Operation *op) {
    return llvm::none_of(RunTimeSizes::namesIn(op),
                         [&](StringRef name) { return boundInside.binds(name); });
  };
  moveLoopInvariantCode(
      loop.getLoopRegions(),
      [](Value value, Region *region) { return value.getParentRegion()->isProperAncestor(region); },
      [&](Operation *op, Region *) {
        return isMemoryEffectFree(op) && isSpeculatable(op) &&
               (boundInside.empty() || mayLeave(op));
      },
      [&](Operation *op, Region *) {
        op->moveBefore(loop);
        hoisted.push_back(op);
      });
  // Views were hoisted together with their readers.
  for (Operation *op : llvm::reverse(hoisted))
    if (isFree(op))
      sink(op, loop);
}

namespace {
struct HoistInvariantsPass : tfc::impl::HoistInvariantsBase<HoistInvariantsPass> {
  using Base::Base;

  // Visits inner loops first: operations hoisted out of them may be invariant in the outer loops,
  // too.
  void runOnOperation() override { getOperation().walk(hoist); }
};
} // namespace
