// The entries of a SavedModel: its signatures, and what the command line says about them.
#pragma once

#include "frontend/importer/Diagnostics.h"
#include "frontend/tensorflow/SavedModel.h"
#include "mlir/IR/BuiltinOps.h"

namespace tfc {
struct ForeignFile;
struct ImportOptions;
} // namespace tfc

namespace tfc::tensorflow {

/// Returns the entries that the caller requests, which are signatures or others, or all signatures.
/// Reports those that do not exist, and options about inputs that do not. Inputs that the command
/// line fixes become constants of the graph.
std::vector<EntrySpec> chooseEntries(SavedModel &model, const ForeignFile &file,
                                     mlir::Location location, Diagnostics &diagnostics);

/// Reports bounds of sizes that no entry has, unless they are of nodes.
void checkBounds(mlir::ModuleOp module, const Graph &graph, const ImportOptions &options,
                 Diagnostics &diagnostics);

} // namespace tfc::tensorflow
