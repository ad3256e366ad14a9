//===- EarlySends.h - Order that sends values early -----------------------===//

#pragma once

#include "compiler/placement/EntryGraph.h"
#include "compiler/placement/Order.h"

namespace tfc::placement {

/// Reorders `operations`, those of the body of an entry, so that each device sends as early as it
/// can between two waits for messages: first it runs checks, then what the values that others read
/// need, those with the least work first, and then the rest. Everything else keeps its order, and
/// the result keeps all dependences.
void sendEarly(dfg::EntryOp entry, llvm::SmallVectorImpl<mlir::Operation *> &operations,
               const EntryGraph &graph, const Schedule &schedule);

} // namespace tfc::placement
