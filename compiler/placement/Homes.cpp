//===- Homes.cpp - Where branches and loops leave their results -----------===//
//
// Follows values to the operations that make them, through branches and loops.
//
//===----------------------------------------------------------------------===//

#include "compiler/placement/Homes.h"
#include "dialects/dfg/FreeValues.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::placement {

/// Loops make cycles of values: one that is being looked for has no home yet.
std::optional<unsigned> Homes::homeOf(Value value) {
  auto [entry, isNew] = known.try_emplace(value, std::nullopt);
  if (!isNew)
    return entry->second;
  std::optional<unsigned> home = find(value);
  return known[value] = home;
}

std::optional<unsigned> Homes::find(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  if (auto loop = dyn_cast<WhileOp>(op)) {
    unsigned number = argument ? argument.getArgNumber() : cast<OpResult>(value).getResultNumber();
    return homeOfCarried(loop, number);
  }
  if (argument)
    return 0;
  if (isa<IfOp>(op))
    return homeOfBranch(cast<OpResult>(value));
  if (!isLargeView(op))
    return placement.deviceOf(op);
  for (Value operand : op->getOperands())
    if (std::optional<unsigned> home = homeOf(operand))
      return home;
  return std::nullopt;
}

std::optional<unsigned> Homes::homeOfCarried(WhileOp loop, unsigned number) {
  Value result = loop.getResult(number);
  // All names of the carried value have the same home.
  auto [entry, isNew] = known.try_emplace(result, std::nullopt);
  if (!isNew && entry->second)
    return entry->second;
  std::optional<unsigned> home = homeOf(loop.getYield().getValues()[number]);
  return known[result] = home ? home : homeOf(loop.getInits()[number]);
}

/// Prefers a value that a region makes to one that it captures, and then the home of a reader.
std::optional<unsigned> Homes::homeOfBranch(OpResult result) {
  std::optional<unsigned> made, captured;
  for (Region &region : result.getOwner()->getRegions()) {
    Value value = region.front().getTerminator()->getOperand(result.getResultNumber());
    std::optional<unsigned> &home = region.isAncestor(value.getParentRegion()) ? made : captured;
    if (!home)
      home = homeOf(value);
  }
  return made ? made : captured;
}

} // namespace tfc::placement
