// The choice of the units of a contraction: their rows, columns and steps.
#pragma once

#include "compiler/cpu/Contraction.h"

namespace tfc::cpu {

/// Products with at most this many rows read b in place: packing would cost more than it saves.
inline constexpr int64_t kFewRows = 6;
/// Assumed depth if it is unknown: packing is not profitable for a small depth.
inline constexpr int64_t kUnknownSteps = 96;
/// The tiles that measurements compare.
inline constexpr size_t kMostTiles = 4;

/// A deviation from what the cost model chooses: another tile of those that it finds nearly as
/// fast, or units of half or twice as many rows.
struct Variation {
  size_t tile = 0;
  enum { Same, Half, Twice } rows = Same;
};

/// The number of units of so many operations that is worth waking a thread for.
int64_t grainOf(int64_t operations);
/// The operations of a unit.
int64_t unitOperations(const ContractionPlan &plan, const ContractionSizes &sizes);

/// Chooses the plan's tile and what a unit covers. The plan has its lanes and steps of words.
void chooseUnits(ContractionPlan &plan, const Target &target, const ContractionSizes &sizes,
                 const ContractionForm &form, mlir::linalg::GenericOp op, KernelShapes &shapes,
                 const Variation &variation);

} // namespace tfc::cpu
