// Creates a module for a model.

#include "frontend/onnx/Import.h"

#include "frontend/onnx/EntryBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

OwningOpRef<ModuleOp> importModel(MLIRContext &context, StringRef path, StringRef bytes,
                                  const ImportOptions &options) {
  std::optional<Model> model = readModel(&context, path, bytes);
  if (!model)
    return {};
  OwningOpRef<ModuleOp> module(ModuleOp::create(model->locate(&context)));
  GraphBuilder builder(*module);
  text::LibraryCalls functions(builder, "onnx", options);
  Diagnostics diagnostics(&context);
  EntryContext entry{builder, *model, functions, diagnostics, options, {}};
  EntryBuilder(entry).build();
  return diagnostics.getErrorCount() ? OwningOpRef<ModuleOp>() : std::move(module);
}

} // namespace tfc::onnx
