//===- Order.h - The order of operations in an entry ----------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc::placement {

/// Moves the operations of each block of an entry into the order of their starts, as far as
/// dependences and effects allow; equal ones keep their order. `startOf` returns the start of an
/// operation, std::nullopt for one that may be anywhere.
void orderByStart(dfg::EntryOp entry,
                  llvm::function_ref<std::optional<double>(mlir::Operation *)> startOf);

} // namespace tfc::placement
