// Reads the binary form of graphs.
#pragma once

#include "frontend/ForeignFile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tfc::flatbuffer {

/// Reads a `.tfg` file. Everything in it is verified; null after errors, which go to the context's
/// diagnostics.
mlir::OwningOpRef<mlir::ModuleOp> importGraph(mlir::MLIRContext &context, const ForeignFile &file);

} // namespace tfc::flatbuffer
