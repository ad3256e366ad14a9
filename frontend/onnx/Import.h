// Imports ONNX models as dfg modules.
#pragma once

#include "frontend/ImportOptions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tfc::onnx {

/// Builds a module with one entry for a model, whose inputs and outputs it has. Emits errors;
/// returns null after one.
mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext &context, llvm::StringRef path,
                                              llvm::StringRef bytes,
                                              const ImportOptions &options = {});

} // namespace tfc::onnx
