//===- DropTapes.cpp - Removing unused tapes ------------------------------===//
//
// Runs last, when it is known which popped values are used.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Dfg.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_DROPTAPES
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

/// Erases operations, and then their producers that have become unused.
static void eraseWithProducers(ArrayRef<Operation *> ops) {
  llvm::SetVector<Operation *> producers;
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        producers.insert(producer);
    op->erase();
  }
  while (!producers.empty()) {
    Operation *op = producers.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        producers.insert(producer);
    op->erase();
  }
}

namespace {
struct DropTapesPass : tfc::impl::DropTapesBase<DropTapesPass> {
  using Base::Base;

  void runOnOperation() override {
    llvm::MapVector<StringAttr, SmallVector<Operation *>> accesses;
    llvm::DenseSet<StringAttr> read;
    getOperation().walk([&](Operation *op) {
      if (auto tape = dyn_cast<TapeOp>(op))
        accesses[tape.getSymNameAttr()].push_back(op);
      else if (auto push = dyn_cast<PushOp>(op))
        accesses[push.getTapeAttr().getAttr()].push_back(op);
      else if (auto pop = dyn_cast<PopOp>(op)) {
        accesses[pop.getTapeAttr().getAttr()].push_back(op);
        if (!pop->use_empty())
          read.insert(pop.getTapeAttr().getAttr());
      }
    });
    for (auto &[tape, ops] : accesses)
      if (!read.contains(tape))
        eraseWithProducers(ops);
  }
};
} // namespace
