#include "frontend/Import.h"

#include "dialects/dfg/Dfg.h"
#include "frontend/text/Elaborate.h"
#include "frontend/text/Locations.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace llvm;

namespace tfc {

static OwningOpRef<ModuleOp> importText(text::FileId file, MLIRContext &context,
                                        text::SourceManager &sources,
                                        const ImportOptions &options) {
  text::DiagnosticEngine diagnostics(sources);
  OwningOpRef<ModuleOp> module(ModuleOp::create(
      FileLineColLoc::get(&context, sources.name(file), /*line=*/1, /*column=*/1)));
  bool succeeded = text::elaborate(*module, sources, file, diagnostics, options);
  if (succeeded) {
    text::MlirDiagnosticHandler handler(&context, diagnostics);
    succeeded = mlir::succeeded(verify(*module));
  }
  diagnostics.flush(errs());
  return succeeded ? std::move(module) : OwningOpRef<ModuleOp>();
}

/// Whether text begins as modules of MLIR do: with an operation, an alias or resources.
static bool beginsAsModule(StringRef text, MLIRContext &context) {
  while ((text = text.ltrim()).consume_front("//"))
    text = text.drop_until([](char c) { return c == '\n'; });
  if (text.empty() || text.starts_with("\"") || text.starts_with("%") || text.starts_with("{-#"))
    return true;
  StringRef word = text.take_while([](char c) { return !isSpace(c) && c != '(' && c != '{'; });
  if (word.starts_with("#") || word.starts_with("!"))
    return text.drop_front(word.size()).ltrim(' ').starts_with("=");
  auto [dialect, name] = word.split('.');
  return word == "module" || (!name.empty() && context.getLoadedDialect(dialect));
}

static OwningOpRef<ModuleOp> importModule(text::FileId file, MLIRContext &context,
                                          text::SourceManager &sources) {
  text::DiagnosticEngine diagnostics(sources);
  OwningOpRef<ModuleOp> module;
  // An error would show what stands there.
  if (!beginsAsModule(sources.text(file), context)) {
    errs() << sources.name(file) << ": error: this is not an MLIR module [not-a-graph]\n";
    return module;
  }
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
                                            ArrayRef<tensorflow::EntrySpec> entries,
                                            const ImportOptions &options) {
  std::string reason;
  std::unique_ptr<MemoryBuffer> file = readRegularFile(path, reason);
  if (!file) {
    errs() << "tfc: error: cannot read '" << path << "': " << reason << '\n';
    return {};
  }
  sources.addInput(path);
  text::DiagnosticEngine diagnostics(sources);
  OwningOpRef<ModuleOp> module;
  {
    text::MlirDiagnosticHandler handler(&context, diagnostics);
    module = tensorflow::importGraphDef(context, path, file->getBuffer(), entries, options);
    if (module && failed(verify(*module)))
      module = nullptr;
  }
  diagnostics.flush(errs());
  return module;
}

OwningOpRef<ModuleOp> importFile(StringRef path, MLIRContext &context, text::SourceManager &sources,
                                 ArrayRef<tensorflow::EntrySpec> entries,
                                 const ImportOptions &options) {
  context.loadDialect<dfg::DfgDialect>();
  StringRef suffix = sys::path::extension(path);
  if (suffix == ".pb")
    return importGraphDef(path, context, sources, entries, options);
  if (suffix != ".graph" && suffix != ".mlir") {
    errs() << "tfc: error: cannot tell the form of '" << path
           << "': expected a name that ends in .graph, .mlir or .pb\n";
    return {};
  }
  std::string reason;
  std::optional<text::FileId> file =
      sources.load(path, reason, suffix == ".graph" ? kMaxGraphBytes : kMaxModuleBytes);
  if (!file) {
    errs() << "tfc: error: cannot read '" << path << "': " << reason << '\n';
    return {};
  }
  return suffix == ".graph" ? importText(*file, context, sources, options)
                            : importModule(*file, context, sources);
}

} // namespace tfc
