// Creates a module with an entry for each specification of a graph file.

#include "frontend/tensorflow/Import.h"

#include "frontend/tensorflow/EntryBuilder.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

OwningOpRef<ModuleOp> importGraphDef(MLIRContext &context, StringRef path, StringRef bytes,
                                     ArrayRef<EntrySpec> entries, const ImportOptions &options) {
  std::optional<Graph> graph = readGraphDef(&context, path, bytes);
  if (!graph)
    return {};
  Location location = graph->locate(&context);
  if (entries.empty()) {
    emitError(location)
        << "a GraphDef does not declare entries: expected --entry 'name: feeds -> fetches ; "
           "targets' [graph-entry]";
    return {};
  }
  OwningOpRef<ModuleOp> module(ModuleOp::create(location));
  GraphBuilder builder(*module);
  ModuleSymbols symbols;
  Handles handles(*graph);
  text::LibraryCalls functions(builder, "tensorflow", options);
  Diagnostics diagnostics(&context);
  llvm::StringSet<> names;
  for (const EntrySpec &spec : entries) {
    symbols.claim<dfg::EntryOp>(spec.name);
    if (!names.insert(spec.name).second)
      diagnostics.error(location) << "expected one entry '" << spec.name
                                  << "', but got two [graph-entry]";
    EntryContext entry(builder, *graph, handles, symbols, functions, diagnostics, spec);
    (void)EntryBuilder(entry).build();
  }
  return diagnostics.getErrorCount() ? OwningOpRef<ModuleOp>() : std::move(module);
}

} // namespace tfc::tensorflow
