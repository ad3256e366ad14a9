#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tfc::text {
class SourceManager;
} // namespace tfc::text

namespace tfc {

/// Reads a graph file of any form that tfc knows, by its suffix: `.graph` (text), `.mlir`. Errors
/// go to stderr in the language's form; null after one. `sources` keeps the texts that were read,
/// for the errors of later stages.
mlir::OwningOpRef<mlir::ModuleOp> importFile(llvm::StringRef path, mlir::MLIRContext &context,
                                             text::SourceManager &sources);

} // namespace tfc
