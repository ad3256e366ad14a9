// Launches that share a function.
#pragma once

#include "compiler/gpu/GridPlan.h"

namespace tfc::gpu {

using Bundle = llvm::SmallVector<const Grid *>;

/// Divides the grids of a kernel, in order, into those that are launched together: neighbours with
/// a thread for each point, of which none writes memory that another one reads or writes. An
/// optimizer that updates a hundred variables has few launches then, each of which fills the GPU.
std::vector<Bundle> bundleGrids(kernel::FuncOp kernel, const GridPlan &plan);

} // namespace tfc::gpu
