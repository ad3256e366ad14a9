#include "frontend/Import.h"

#include "dialects/dfg/Dfg.h"
#include "frontend/text/Elaborate.h"
#include "frontend/text/Locations.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace llvm;

namespace tfc {

static OwningOpRef<ModuleOp> importText(text::FileId file, MLIRContext &context,
                                        text::SourceManager &sources) {
  text::DiagnosticEngine diagnostics(sources);
  OwningOpRef<ModuleOp> module(ModuleOp::create(
      FileLineColLoc::get(&context, sources.name(file), /*line=*/1, /*column=*/1)));
  bool succeeded = text::elaborate(*module, sources, file, diagnostics);
  if (succeeded) {
    text::MlirDiagnosticHandler handler(&context, diagnostics);
    succeeded = mlir::succeeded(verify(*module));
  }
  diagnostics.flush(errs());
  return succeeded ? std::move(module) : OwningOpRef<ModuleOp>();
}

static OwningOpRef<ModuleOp> importModule(text::FileId file, MLIRContext &context,
                                          text::SourceManager &sources) {
  text::DiagnosticEngine diagnostics(sources);
  OwningOpRef<ModuleOp> module;
  {
    text::MlirDiagnosticHandler handler(&context, diagnostics);
    module =
        parseSourceString<ModuleOp>(sources.text(file), ParserConfig(&context), sources.name(file));
  }
  diagnostics.flush(errs());
  return module;
}

static OwningOpRef<ModuleOp> importGraphDef(StringRef path, MLIRContext &context,
                                            text::SourceManager &sources,
                                            ArrayRef<tensorflow::EntrySpec> entries) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file) {
    errs() << "tfc: error: cannot read '" << path << "': " << file.getError().message() << '\n';
    return {};
  }
  sources.addInput(path);
  text::DiagnosticEngine diagnostics(sources);
  OwningOpRef<ModuleOp> module;
  {
    text::MlirDiagnosticHandler handler(&context, diagnostics);
    module = tensorflow::importGraphDef(context, path, (*file)->getBuffer(), entries);
    if (module && failed(verify(*module)))
      module = nullptr;
  }
  diagnostics.flush(errs());
  return module;
}

OwningOpRef<ModuleOp> importFile(StringRef path, MLIRContext &context, text::SourceManager &sources,
                                 ArrayRef<tensorflow::EntrySpec> entries) {
  context.loadDialect<dfg::DfgDialect>();
  StringRef suffix = sys::path::extension(path);
  if (suffix == ".pb")
    return importGraphDef(path, context, sources, entries);
  if (suffix != ".graph" && suffix != ".mlir") {
    errs() << "tfc: error: cannot tell the form of '" << path
           << "': expected a name that ends in .graph, .mlir or .pb\n";
    return {};
  }
  std::string reason;
  std::optional<text::FileId> file = sources.load(path, reason);
  if (!file) {
    errs() << "tfc: error: cannot read '" << path << "': " << reason << '\n';
    return {};
  }
  return suffix == ".graph" ? importText(*file, context, sources)
                            : importModule(*file, context, sources);
}

} // namespace tfc
