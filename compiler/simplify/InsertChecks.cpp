//===- InsertChecks.cpp - Explicit checks of data -------------------------===//
//
// Runs before composites are decomposed, because their parts no longer show
// which operation the author called.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_INSERTCHECKS
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

/// Checks that sizes computed from data-dependent sizes, such as `k - 1`, are not negative. The
/// call fails as soon as they are known, even for a branch that does not run.
static void checkSizes(EntryOp entry) {
  RunTimeSizes sizes(entry);
  llvm::DenseMap<Operation *, llvm::StringSet<>> checked;
  auto check = [&](Operation *op, const DimExpr &size) {
    BindSizeOp binder = sizes.findLast(size, op->getBlock());
    if (!binder || isNonNegative(size) == true || !checked[binder].insert(size.str()).second)
      return;
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(binder);
    if (Value holds = buildNonNegative(b, op, size))
      CheckOp::create(b, op->getLoc(), holds, negativeMessage(b, binder, size),
                      Failure::OutOfRange);
  };
  if (sizes.empty())
    return;
  entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (isa<RankedTensorType>(type))
        for (const DimExpr &size : shapeOf(type))
          check(op, size);
  });
}

namespace {
struct InsertChecksPass : tfc::impl::InsertChecksBase<InsertChecksPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](CheckedOpInterface op) {
      PlacementListener placement(op);
      OpBuilder b(op, &placement);
      if (std::optional<DataCheck> check = buildDataCheck(b, op))
        CheckOp::create(b, op.getLoc(), check->holds, check->message, op.getCheckStatus());
    });
    for (auto entry : getOperation().getOps<EntryOp>())
      checkSizes(entry);
  }
};
} // namespace
