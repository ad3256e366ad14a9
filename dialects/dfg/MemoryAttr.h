//===- MemoryAttr.h - Memory of results of launches -----------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc::dfg {

/// Emits an error and fails unless the memory of each result exists, has as many bytes as the
/// result, and is where the kernel writes the result.
llvm::LogicalResult verifyMemory(LaunchOp launch, mlir::SymbolTableCollection &symbols);

} // namespace tfc::dfg
