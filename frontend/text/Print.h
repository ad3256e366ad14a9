#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace tfc::text {

/// Prints a dfg module in entry form as graph source that elaborates to the same operations. Fails,
/// with an error at the operation, where something has no text.
mlir::LogicalResult printGraph(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace tfc::text
