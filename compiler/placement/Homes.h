//===- Homes.h - Where branches and loops leave their results -------------===//

#pragma once

#include "compiler/placement/Placement.h"

namespace tfc::placement {

/// Finds the devices of values. A carried value of a loop is where its next one is made, a result
/// of a branch where a region makes it.
class Homes {
public:
  explicit Homes(const Placement &placement) : placement(placement) {}

  /// The number of the device that has the value; std::nullopt if each one computes it.
  std::optional<unsigned> homeOf(mlir::Value value);

private:
  std::optional<unsigned> find(mlir::Value value);
  std::optional<unsigned> homeOfCarried(dfg::WhileOp loop, unsigned number);
  std::optional<unsigned> homeOfBranch(mlir::OpResult result);

  const Placement &placement;
  llvm::DenseMap<mlir::Value, std::optional<unsigned>> known;
};

} // namespace tfc::placement
