// Imports ONNX models as dfg modules.
#pragma once

#include "frontend/importer/OperationList.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tfc {
struct ForeignFile;
} // namespace tfc

namespace tfc::onnx {

/// Builds a module with one entry for a model, whose inputs and outputs it has. Emits errors;
/// returns null after one.
mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext &context, const ForeignFile &file);

/// Adds all supported operations to a list.
void listOperations(mlir::MLIRContext &context, importer::OperationList &list);

} // namespace tfc::onnx
