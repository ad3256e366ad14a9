//===- InsertChecks.cpp - Failing calls, made explicit --------------------===//
//
// Stands after dead code is gone, so that nobody waits for the check of what is
// never computed, and before composites are taken apart, because their parts
// no longer know what the author called.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Dfg.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_INSERTCHECKS
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

namespace {
struct InsertChecksPass : tfc::impl::InsertChecksBase<InsertChecksPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](CheckedOpInterface op) {
      OpBuilder b(op);
      if (Value isValid = op.buildCheck(b))
        CheckOp::create(b, op.getLoc(), isValid, op.getCheckMessage(), op.getCheckStatus());
    });
  }
};
} // namespace
