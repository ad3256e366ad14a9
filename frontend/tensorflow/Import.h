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

/// Builds a module with the signatures of the SavedModel in whose folder a file is, or with the
/// requested ones and other entries. Emits errors; returns null after one.
mlir::OwningOpRef<mlir::ModuleOp> importSavedModel(mlir::MLIRContext &context,
                                                   const ForeignFile &file);

/// Adds all supported operations to a list.
void listOperations(mlir::MLIRContext &context, importer::OperationList &list);

} // namespace tfc::tensorflow
