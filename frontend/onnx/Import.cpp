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

/// Builds a module whose entry has the facts `limits`, which become those that it may need.
static OwningOpRef<ModuleOp> build(MLIRContext &context, const Model &model,
                                   const ImportOptions &options, std::vector<dfg::Fact> &limits) {
  OwningOpRef<ModuleOp> module(ModuleOp::create(model.locate(&context)));
  GraphBuilder builder(*module);
  text::LibraryCalls functions(builder, kFiles, options);
  Diagnostics diagnostics(&context);
  EntryContext entry{builder, model, functions, diagnostics, options, {}, {}, limits, {}};
  EntryBuilder(entry).build();
  limits = std::move(entry.limits);
  return diagnostics.getErrorCount() ? OwningOpRef<ModuleOp>() : std::move(module);
}

/// Builds the module. If that fails, but would not if sizes were within the constant ones that
/// limit them, these limits become facts of the entry; otherwise the errors are those without them.
static OwningOpRef<ModuleOp> buildWithin(MLIRContext &context, const Model &model,
                                         const ImportOptions &options,
                                         std::vector<Diagnostic> &errors) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors.push_back(std::move(diagnostic));
    return success();
  });
  std::vector<dfg::Fact> limits;
  OwningOpRef<ModuleOp> module = build(context, model, options, limits);
  if (module || limits.empty())
    return module;
  size_t count = errors.size();
  module = build(context, model, options, limits);
  errors.erase(module ? errors.begin() : errors.begin() + count,
               module ? errors.begin() + count : errors.end());
  return module;
}

OwningOpRef<ModuleOp> importModel(MLIRContext &context, const ForeignFile &file) {
  std::optional<Model> model = readModel(&context, file);
  if (!model)
    return {};
  std::vector<Diagnostic> errors;
  OwningOpRef<ModuleOp> module = buildWithin(context, *model, file.options, errors);
  for (Diagnostic &error : errors)
    context.getDiagEngine().emit(std::move(error));
  return module;
}

void listOperations(MLIRContext &context, OperationList &list) {
  list.addTable(operations());
  list.addFunctions(context, kFiles);
}

} // namespace tfc::onnx
