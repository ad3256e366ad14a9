//===- Explain.h - Why operations are where they are ----------------------===//

#pragma once

#include "compiler/placement/EntryGraph.h"

namespace tfc::placement {

/// Prints, for each unit of a scheduled entry, its device and the reason, and then the modelled
/// time of the entry.
void explain(llvm::raw_ostream &os, dfg::EntryOp entry, const EntryGraph &graph,
             const Scheduler &scheduler, const Schedule &schedule, const PlacementContext &context);

/// Prints that all entries are on the caller's device.
void explainSingle(llvm::raw_ostream &os, mlir::ModuleOp module);

} // namespace tfc::placement
