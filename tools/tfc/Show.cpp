// The command `tfc show`: draws an entry, with what it does on each device.
#include "compiler/emission/OutputFile.h"
#include "frontend/Fmt.h"
#include "tools/tfc/Commands.h"
#include "tools/tfc/Message.h"
#include "tools/tfc/drawing/Drawing.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tfc;

/// The number of the entry of that name; that of the only one if `name` is empty.
static llvm::Expected<size_t> findEntry(const ModelInfo &model, StringRef name) {
  if (name.empty() && model.entries.size() == 1)
    return 0;
  for (auto [i, entry] : llvm::enumerate(model.entries))
    if (entry.name == name)
      return i;
  if (model.entries.empty())
    return makeError("the graph has no entry to show");
  std::string known = llvm::join(
      llvm::map_range(model.entries, [](const EntryInfo &entry) { return entry.name; }), ", ");
  if (name.empty())
    return makeError("the graph has several entries; choose one with --entry: {}", known);
  return makeError("the graph has no entry '{}'; it has: {}", name, known);
}

static LogicalResult show(const ShowOptions &options, Session &session) {
  OwningOpRef<ModuleOp> module = session.load(options.compile);
  if (!module)
    return failure();
  emission::Output output = {options.compile.output, ""};
  if (llvm::Error error = emission::checkOutputs(output, session.sources.getInputs()))
    return session.fail(std::move(error));
  requireSizes(*module);
  FailureOr<ModelInfo> model = describeModel(*module);
  if (failed(model))
    return failure();
  llvm::Expected<size_t> number = findEntry(*model, options.entry);
  if (!number)
    return session.fail(number.takeError());
  if (failed(session.runStages(*module, options.compile)))
    return failure();
  SymbolTable symbols(*module);
  const EntryInfo &info = model->entries[*number];
  drawing::Drawing drawing =
      drawing::drawEntry(symbols.lookup<dfg::EntryOp>(info.name), info, symbols);
  drawing::layOut(drawing);
  std::string text;
  llvm::raw_string_ostream os(text);
  drawing::writeSvg(drawing, os);
  llvm::Error error = emission::writeOutput(options.compile.output, text);
  return error ? session.fail(std::move(error)) : success();
}

int tfc::runShow(ShowOptions options) {
  if (llvm::Error error = checkOutputs(options.compile, options.compile.input)) {
    reportError(std::move(error));
    return 2;
  }
  options.compile.pipeline.stopAfter = "partition";
  Session session;
  return failed(show(options, session));
}
