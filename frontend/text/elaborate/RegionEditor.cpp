// Moves reads and other operations out of the regions of an entry.
#include "frontend/text/elaborate/RegionEditor.h"

#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace tfc::text {

void RegionEditor::finishRegions(mlir::Operation *op) {
  StringSet<> assigned;
  SmallVector<dfg::ReadOp> found;
  op->walk([&](mlir::Operation *nested) {
    if (auto assign = dyn_cast<dfg::AssignOp>(nested))
      assigned.insert(assign.getVariable());
    else if (auto read = dyn_cast<dfg::ReadOp>(nested))
      found.push_back(read);
  });
  bool isGraph = isa<dfg::DataflowOp>(context.builder.currentBlock()->getParentOp());
  for (dfg::ReadOp read : found) {
    Variable *variable = context.program.variablesByPath.lookup(read.getVariable());
    if (assigned.contains(read.getVariable()) || isa<dfg::NodeOp>(read->getParentOp()))
      continue;
    mlir::Value known = isGraph ? mlir::Value() : context.entry.reads.lookup(variable);
    if (known) {
      read.getValue().replaceAllUsesWith(known);
      read.erase();
      continue;
    }
    read->moveBefore(op);
    if (!isGraph)
      context.entry.reads[variable] = read.getValue();
  }
  for (const auto &name : assigned)
    context.entry.reads.erase(context.program.variablesByPath.lookup(name.getKey()));
}

void RegionEditor::outsideOfRegions(function_ref<void()> build) {
  mlir::Block *block = context.builder.currentBlock();
  mlir::Block *top =
      context.builder.currentEntry() ? &context.builder.currentEntry().getBody().front() : nullptr;
  if (!top || !block || block == top) {
    build();
    return;
  }
  mlir::OpBuilder::InsertPoint point = context.builder.position();
  context.builder.before(top->findAncestorOpInBlock(*block->getParentOp()));
  auto knownReads = std::move(context.entry.reads);
  auto outerLoops = std::move(context.entry.loops);
  context.entry.reads.clear();
  context.entry.loops.clear();
  build();
  context.entry.reads = std::move(knownReads);
  context.entry.loops = std::move(outerLoops);
  context.builder.restore(point);
}

//===----------------------------------------------------------------------===//
// Carried values
//===----------------------------------------------------------------------===//

unsigned RegionEditor::addCarried(LoopContext &loop, mlir::Value init) {
  loop.added.push_back(init);
  loop.addedNext.push_back({});
  loop.op.getConditionBlock().addArgument(init.getType(), init.getLoc());
  return loop.op.getBodyBlock().addArgument(init.getType(), init.getLoc()).getArgNumber();
}

} // namespace tfc::text
