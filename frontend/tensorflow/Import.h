// Imports TensorFlow graphs (GraphDef) as dfg modules.
#pragma once

#include "frontend/ImportOptions.h"
#include "frontend/importer/EntrySpec.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tfc::tensorflow {

/// Builds a module with the given entries of a binary GraphDef. Emits errors; returns null after
/// one.
mlir::OwningOpRef<mlir::ModuleOp> importGraphDef(mlir::MLIRContext &context, llvm::StringRef path,
                                                 llvm::StringRef bytes,
                                                 llvm::ArrayRef<importer::EntrySpec> entries,
                                                 const ImportOptions &options = {});

} // namespace tfc::tensorflow
