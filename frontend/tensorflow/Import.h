// Imports TensorFlow graphs (GraphDef) as dfg modules.
#pragma once

#include "frontend/importer/OperationList.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tfc {
struct ForeignFile;
} // namespace tfc

namespace tfc::tensorflow {

/// Builds a module with the requested entries of a binary GraphDef. Emits errors; returns null
/// after one.
mlir::OwningOpRef<mlir::ModuleOp> importGraphDef(mlir::MLIRContext &context,
                                                 const ForeignFile &file);

/// Adds all supported operations to a list.
void listOperations(mlir::MLIRContext &context, importer::OperationList &list);

} // namespace tfc::tensorflow
