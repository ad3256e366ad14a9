//===- ResolveState.cpp - Variables become values inside an entry ---------===//
//
// The first pass after the frontend: autodiff needs one value per variable, and
// nothing later needs to think about the order of effects.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Dfg.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_RESOLVESTATE
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

namespace {
/// What is known of a variable at a point of the program.
struct VariableState {
  Value current;
  AssignOp lastAssign;
};
} // namespace

static void resolve(EntryOp entry) {
  Block &block = entry.getBody().front();
  llvm::MapVector<StringAttr, VariableState> states;
  SmallVector<Operation *> dead;
  OpBuilder start = OpBuilder::atBlockBegin(&block);
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      VariableState &state = states[read.getVariableAttr().getAttr()];
      if (state.current) {
        read.replaceAllUsesWith(state.current);
        read.erase();
        continue;
      }
      state.current = read;
      // All first reads stand together at the start, in the order of the program.
      read->moveBefore(start.getInsertionBlock(), start.getInsertionPoint());
    } else if (auto assign = dyn_cast<AssignOp>(op)) {
      VariableState &state = states[assign.getVariableAttr().getAttr()];
      assign.getResult().replaceAllUsesWith(assign.getValue());
      state.current = assign.getValue();
      if (state.lastAssign)
        state.lastAssign.erase();
      state.lastAssign = assign;
    }
  }
  for (auto &[name, state] : states)
    if (state.lastAssign)
      state.lastAssign->moveBefore(block.getTerminator());
}

namespace {
struct ResolveStatePass : tfc::impl::ResolveStateBase<ResolveStatePass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto entry : getOperation().getOps<EntryOp>())
      resolve(entry);
  }
};
} // namespace
