// Imports TensorFlow graphs (GraphDef) as dfg modules.
#pragma once

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

} // namespace tfc::tensorflow
