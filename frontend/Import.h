#pragma once

#include "frontend/ImportOptions.h"
#include "frontend/tensorflow/Import.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tfc::text {
class SourceManager;
} // namespace tfc::text

namespace tfc {

/// Reads a graph file of any form that tfc knows, by its suffix: `.graph` (text), `.mlir`, `.pb`
/// (TensorFlow's GraphDef, of which `entries` are made). Errors go to stderr in the language's
/// form; null after one. `sources` keeps the texts that were read, for the errors of later stages.
mlir::OwningOpRef<mlir::ModuleOp> importFile(llvm::StringRef path, mlir::MLIRContext &context,
                                             text::SourceManager &sources,
                                             llvm::ArrayRef<tensorflow::EntrySpec> entries = {},
                                             const ImportOptions &options = {});

} // namespace tfc
