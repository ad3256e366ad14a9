// A SavedModel: a graph, the signatures by which programs call it, and how its variables are
// restored.
#pragma once

#include "frontend/importer/EntrySpec.h"
#include "frontend/tensorflow/GraphDef.h"
#include "frontend/tensorflow/SavedObjects.h"

namespace tfc::tensorflow {

/// A function of a SavedModel: tensors by the names that callers see.
struct SavedSignature {
  std::string key; // in the file
  EntrySpec entry;
  std::string error; // why it cannot become an entry; empty if it can
};

struct SavedModel {
  Graph graph;
  std::string name; // of the folder
  std::vector<SavedSignature> signatures;
  std::string restoreOp, checkpointTensor;  // restores the variables of the checkpoint so named
  std::string initializer;                  // what runs after that; empty if nothing does
  std::vector<SavedObject> objects;         // the outermost one is the first
  std::map<std::string, unsigned> captured; // objects, by tensors that stand for them
  bool listsTrained = false;                // the file lists the variables that are trained:
  std::vector<std::string> trained;         // their tensors

  /// Returns false for a variable that is not trained, by its name and its key in the checkpoint.
  bool isTrainable(llvm::StringRef variable, llvm::StringRef key) const;
};

/// Reads the SavedModel with this file. Emits all errors; returns std::nullopt if there are any.
std::optional<SavedModel> readSavedModel(mlir::MLIRContext *context, const ForeignFile &file);

} // namespace tfc::tensorflow
