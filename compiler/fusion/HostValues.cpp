//===- HostValues.cpp - Values computed by the host function --------------===//
//
// Prepares an entry for grouping: marks scalars that stay in registers, copies views into the
// regions that read them, and reads rows in loops as lists. Grouping relies on the marks and makes
// none.
//
//===----------------------------------------------------------------------===//

#include "compiler/fusion/HostValues.h"
#include "compiler/fusion/StoredViews.h"
#include "dialects/dfg/MessageOps.h"
#include "dialects/dfg/Regions.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::fusion {

/// Returns true if the value is available to the host without waiting for a kernel of the same
/// block.
static bool isAvailable(Value value, Block *block) {
  if (!isRegisterType(value.getType()))
    return false;
  Operation *producer = value.getDefiningOp();
  if (!producer || producer->getBlock() != block)
    return true;
  return isInRegister(producer) || isHostConstant(producer) || producer->getNumRegions() > 0 ||
         isa<ListSizeOp, ReceiveOp>(producer);
}

static bool canBeInRegister(Operation *op) {
  return isa<ScalarOpInterface>(op) && op->getParentOfType<WhileOp>() &&
         llvm::all_of(op->getResultTypes(), isRegisterType) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isAvailable(operand, op->getBlock()); });
}

static bool isComputedByView(Value value) {
  Operation *producer = value.getDefiningOp();
  return producer && producer->getNumRegions() == 0 && isView(producer);
}

/// Returns the value in the block of `b`; views are copied there together with the views that they
/// read.
static Value copyView(Value value, OpBuilder &b, IRMapping &copies) {
  return cloneWithSources(b, value, copies, [](Value other) { return !isComputedByView(other); });
}

static void copyViewsInto(Block &block) {
  OpBuilder b = OpBuilder::atBlockBegin(&block);
  IRMapping copies;
  for (Operation &op : llvm::make_early_inc_range(block))
    for (OpOperand &operand : op.getOpOperands())
      if (operand.get().getParentBlock() != &block)
        operand.set(copyView(operand.get(), b, copies));
}

/// A slice at a position known to the host is a read of the tensor as a list, which the host
/// executes by copying memory.
static void readAsList(GatherOp gather) {
  auto type = cast<RankedTensorType>(gather.getIndices().getType());
  bool isFirstAxis = normalizeAxis(gather.getAxis(), shapeOf(gather.getX().getType()).size()) == 0;
  if (!gather->getParentOfType<WhileOp>() || type.getRank() != 0 || !isFirstAxis ||
      !isAvailable(gather.getIndices(), gather->getBlock()))
    return;
  // A view is not in memory.
  if (Operation *producer = gather.getX().getDefiningOp(); producer && isView(producer))
    return;
  OpBuilder b(gather);
  Value list = ListUnstackOp::create(b, gather.getLoc(), gather.getX());
  Value row = ListReadOp::create(b, gather.getLoc(), list, gather.getIndices());
  gather.getResult().replaceAllUsesWith(row);
  gather.erase();
}

void prepareHostValues(EntryOp entry) {
  storeSteppedFactors(entry);
  // Inner blocks first, so that whole chains of views read from outer blocks are copied.
  entry.walk([](Operation *op) {
    for (Region &region : op->getRegions())
      if (!isa<EntryOp>(op))
        copyViewsInto(region.front());
  });
  entry.walk([](Block *block) { storeDeepViews(*block); });
  entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (canBeInRegister(op))
      putInRegister(op);
  });
  SmallVector<GatherOp> gathers;
  entry.walk([&](GatherOp gather) { gathers.push_back(gather); });
  llvm::for_each(gathers, readAsList);
}

} // namespace tfc::fusion
