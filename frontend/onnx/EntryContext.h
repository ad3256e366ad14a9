// The objects that all nodes of a model share.
#pragma once

#include "frontend/GraphBuilder.h"
#include "frontend/ImportOptions.h"
#include "frontend/importer/Diagnostics.h"
#include "frontend/importer/Scope.h"
#include "frontend/onnx/Model.h"
#include "frontend/text/elaborate/LibraryCalls.h"
#include "llvm/ADT/StringSet.h"

namespace tfc::onnx {

struct EntryContext {
  GraphBuilder &builder;
  const Model &model;
  /// Operations that are functions in graph source.
  text::LibraryCalls &functions;
  Diagnostics &diagnostics;
  const ImportOptions &options;

  /// Values whose nodes have failed; nodes that use them are not built.
  llvm::StringSet<> failed;

  mlir::Location locate(llvm::StringRef name) const {
    return model.locate(builder.getContext(), name);
  }
};

/// Returns a constant of a TensorProto.DataType, by its elements if it can be a tensor of sizes.
NodeValue constantValue(EntryContext &entry, mlir::ElementsAttr value, int64_t dtype,
                        llvm::StringRef name);

} // namespace tfc::onnx
