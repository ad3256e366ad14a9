// The reader's entry point: reads a model and builds its one entry. The objects that all nodes of
// the entry share are created here and live until it is built.

#include "frontend/onnx/Import.h"

#include "frontend/ForeignFile.h"
#include "frontend/onnx/EntryBuilder.h"
#include "frontend/onnx/Rules.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

/// The shipped files with operations that are functions.
static constexpr StringRef kFiles[] = {"onnx",          "onnx_attention",    "onnx_images",
                                       "onnx_networks", "onnx_quantization", "onnx_signals",
                                       "onnx_training"};

OwningOpRef<ModuleOp> importModel(MLIRContext &context, const ForeignFile &file) {
  std::optional<Model> model = readModel(&context, file);
  if (!model)
    return {};
  OwningOpRef<ModuleOp> module(ModuleOp::create(model->locate(&context)));
  GraphBuilder builder(*module);
  text::LibraryCalls functions(builder, kFiles, file.options);
  Diagnostics diagnostics(&context);
  EntryContext entry{builder, *model, functions, diagnostics, file.options, {}};
  EntryBuilder(entry).build();
  return diagnostics.getErrorCount() ? OwningOpRef<ModuleOp>() : std::move(module);
}

void listOperations(MLIRContext &context, OperationList &list) {
  OwningOpRef<ModuleOp> module(ModuleOp::create(UnknownLoc::get(&context)));
  GraphBuilder builder(*module);
  text::LibraryCalls functions(builder, kFiles);
  list.addTable(operations());
  list.addFunctions(functions);
}

} // namespace tfc::onnx
