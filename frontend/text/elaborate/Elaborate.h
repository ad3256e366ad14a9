// The interface of the elaborator: graph source becomes a dfg module.
#pragma once

#include "frontend/ImportOptions.h"
#include "frontend/text/syntax/Diagnostics.h"
#include "mlir/IR/BuiltinOps.h"

namespace tfc::text {

/// Fills `module` with the graph of `file` and of the files that it uses, which are added to
/// `sources`. Reports every error; false if there was one.
bool elaborate(mlir::ModuleOp module, SourceManager &sources, FileId file,
               DiagnosticEngine &diagnostics, const ImportOptions &options = {});

} // namespace tfc::text
