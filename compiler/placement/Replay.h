//===- Replay.h - The time of an entry as it will be divided --------------===//

#pragma once

#include "compiler/placement/EntryGraph.h"

namespace tfc::placement {

/// The modelled seconds of an entry with a schedule, whose devices run the operations of its body
/// in the order of `body`. More exact than the schedule's makespan, which lets the parts of loops
/// run apart: here a loop ends on all of its devices at once, after the messages in it, and
/// partitions wait for each other's checks.
double replay(const EntryGraph &graph, const Schedule &schedule,
              llvm::ArrayRef<mlir::Operation *> body);

} // namespace tfc::placement
