//===- DecomposeComposites.cpp - Composite operations to simple ones ------===//
//
// Runs after autodiff, because the gradient of a composite (softmax, cross
// entropy) is shorter and more accurate than that of its parts.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/Dfg.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_DECOMPOSECOMPOSITES
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

namespace {
struct DecomposeCompositesPass : tfc::impl::DecomposeCompositesBase<DecomposeCompositesPass> {
  using Base::Base;

  void runOnOperation() override {
    // A part may be composite, too, so parts are visited after the operation that they replace.
    SmallVector<CompositeOpInterface> work;
    getOperation().walk([&](CompositeOpInterface op) { work.push_back(op); });
    while (!work.empty()) {
      CompositeOpInterface op = work.pop_back_val();
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
