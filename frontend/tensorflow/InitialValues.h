// The values that the variables of a SavedModel have when a program begins.
#pragma once

#include "frontend/tensorflow/EntryContext.h"
#include "frontend/tensorflow/SavedModel.h"

namespace tfc {
struct ForeignFile;
} // namespace tfc

namespace tfc::tensorflow {

/// Reads the variables that the entries need from the checkpoint, and adds them to the graph. Those
/// that no entry assigns are constants, unless the caller wants to train them. Variables that are
/// not in the checkpoint may be assigned by the initializer of the model.
void readInitialValues(mlir::MLIRContext *context, SavedModel &model, const Handles &handles,
                       llvm::ArrayRef<EntrySpec> entries, const ForeignFile &file,
                       Diagnostics &diagnostics);

} // namespace tfc::tensorflow
