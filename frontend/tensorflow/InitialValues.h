// The values that the variables of a SavedModel have when a program begins.
#pragma once

#include "frontend/tensorflow/EntryContext.h"
#include "frontend/tensorflow/SavedModel.h"

namespace tfc {
struct ForeignFile;
} // namespace tfc

namespace tfc::tensorflow {

/// Reads the variables that the entries need from the checkpoint, and adds them to the graph. Those
/// that no entry assigns are constants, unless the caller wants to train them.
void readInitialValues(mlir::MLIRContext *context, SavedModel &model, const Handles &handles,
                       llvm::ArrayRef<EntrySpec> entries, const ForeignFile &file,
                       Diagnostics &diagnostics);

/// Builds the entry that assigns the initial values of the variables that have been declared.
void buildInitializer(GraphBuilder &builder, const Graph &graph, const ModuleSymbols &symbols);

} // namespace tfc::tensorflow
