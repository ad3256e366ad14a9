// Writes the binary form of graphs.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace tfc::flatbuffer {

/// Writes a module of the frontend as a `.tfg` file; large constants are not copied. Fails with an
/// error at an operation that the file cannot represent, before it writes.
llvm::LogicalResult exportGraph(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace tfc::flatbuffer
