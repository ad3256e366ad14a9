//===- Ways.cpp - Paths from values to a loss -----------------------------===//
//
// Finds the operations with a path to a loss in the graph, whether or not a call executes them. The
// record of a call, on which Gradients.cpp works, shows only what was executed.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Ways.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

Ways::Ways(GradientsOp gradients) : entry(gradients->getParentOfType<EntryOp>()) {
  entry.getBody().walk([&](Operation *op) { hasChoice |= op->getNumRegions() > 0; });
  if (!hasChoice)
    return;
  reach(gradients.getY());
  while (!work.empty())
    visitSources(work.pop_back_val());
}

/// Derivatives flow through floats and lists of them.
void Ways::reach(Value value) {
  Type type = value.getType();
  if (auto list = dyn_cast<ListType>(type))
    type = list.getElementType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && isa<FloatType>(tensor.getElementType()) && reached.insert(value).second)
    work.push_back(value);
}

/// Visits the values that the regions of `around` yield at a position.
void Ways::visitYields(Operation *around, unsigned index) {
  for (Region &region : around->getRegions())
    for (Block &block : region)
      if (Operation *yield = &block.back(); index < yield->getNumOperands())
        reach(yield->getOperand(index));
}

void Ways::visitSources(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<WhileOp>(argument.getOwner()->getParentOp());
    if (!loop)
      return;
    reach(loop.getInits()[argument.getArgNumber()]);
    visitYields(loop, argument.getArgNumber());
    return;
  }
  Operation *op = value.getDefiningOp();
  if (isa<StopGradientOp>(op))
    return;
  throughGradients |= isa<GradientsOp>(op);
  if (auto read = dyn_cast<ReadOp>(op))
    entry.walk([&](AssignOp assign) {
      if (assign.getVariable() == read.getVariable())
        reach(assign.getValue());
    });
  visitYields(op, cast<OpResult>(value).getResultNumber());
  for (Value operand : op->getOperands())
    reach(operand);
}

bool Ways::mayBeLeftOut(Operation *op) const {
  if (!hasChoice)
    return false;
  if (!entry->isAncestor(op))
    return throughGradients;
  return llvm::any_of(op->getResults(), [&](Value result) { return reached.contains(result); });
}

} // namespace tfc::reference
