//===- PlaceAttr.h - The memory of results of launches --------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc::dfg {

/// Fails with an error unless every place of the launch exists, has as many bytes as the result,
/// and is the one to which the kernel writes.
llvm::LogicalResult verifyPlaces(LaunchOp launch, mlir::SymbolTableCollection &symbols);

} // namespace tfc::dfg
