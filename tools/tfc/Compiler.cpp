// The command `tfc compile`: reads the input, runs the stages and writes the output.
#include "tools/tfc/Compiler.h"
#include "compiler/emission/Link.h"
#include "compiler/emission/OutputFile.h"
#include "compiler/kernels/Target.h"
#include "compiler/reference/ConstantEvaluation.h"
#include "dialects/dfg/HostForm.h"
#include "frontend/Import.h"
#include "frontend/flatbuffer/Export.h"
#include "frontend/text/print/Print.h"
#include "tools/tfc/LoadedModel.h"
#include "tools/tfc/Message.h"
#include "tools/tfc/Progress.h"
#include "tools/tfc/Schedules.h"
#include "tools/tfc/SessionRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tfc;

int tfc::reportError(const Twine &message) {
  llvm::errs() << "tfc: error: " << message << '\n';
  return 1;
}

int tfc::reportError(llvm::Error error) {
  if (!error.isA<LocatedError>())
    return reportError(llvm::toString(std::move(error)));
  llvm::errs() << llvm::toString(std::move(error));
  return 1;
}

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

DialectRegistry tfc::makeSessionRegistry() {
  DialectRegistry registry = makeDialectRegistry();
  reference::registerConstantEvaluation(registry);
  return registry;
}

Session::Session()
    : diagnostics(sources), context(makeSessionRegistry()), handler(&context, diagnostics) {}

Session::~Session() { diagnostics.flush(llvm::errs()); }

/// Refuses probe addresses in files, which belong to another process, except in files that this
/// process wrote.
static LogicalResult verifyProbe(ModuleOp module, const CompileRequest &request) {
  dfg::DfgDialect::ProbeFunctionAttrHelper function(module.getContext());
  if (!function.getAttr(module) || request.pipeline.probe)
    return success();
  return module.emitOpError("expects no '") << function.getNameStr() << "' of another process";
}

OwningOpRef<ModuleOp> Session::load(const CompileRequest &request) {
  // Errors show the author's source, not the resulting operation.
  context.printOpOnDiagnostic(false);
  context.loadAllAvailableDialects();
  auto module = importFile(request.input, context, sources, request.entries, request.importOptions);
  // Other inputs have no such attributes.
  bool isModule = StringRef(request.input).ends_with(".mlir");
  if (module && isModule && failed(verifyProbe(*module, request)))
    module = nullptr;
  return module;
}

LogicalResult Session::runStages(ModuleOp module, const CompileRequest &request, Timer timing) {
  LogicalResult result = tfc::runStages(module, request.pipeline, timing);
  if (failed(result) && !diagnostics.hasErrors())
    diagnostics.error({}, "internal", "internal error: a stage failed without a message");
  return result;
}

LogicalResult Session::fail(llvm::Error error) {
  diagnostics.error({}, "", llvm::toString(std::move(error)));
  return failure();
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

llvm::Error tfc::checkOutputs(const CompileRequest &request, llvm::ArrayRef<std::string> inputs) {
  llvm::SmallVector<emission::Output> outputs;
  bool isHeader = request.kind == EmitKind::Header;
  outputs.push_back({request.output, isHeader ? kHeaderMark.str() : ""});
  bool hasHeader = request.kind == EmitKind::Library || request.kind == EmitKind::Object ||
                   request.kind == EmitKind::Archive;
  if (hasHeader && !emission::isSpecialFile(request.output))
    outputs.push_back({headerPathFor(request.output), kHeaderMark.str()});
  return emission::checkOutputs(outputs, inputs);
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

namespace {

class Compilation {
public:
  Compilation(const CompileRequest &request, Timer timing) : request(request), timing(timing) {}

  LogicalResult run();
  CompileNotes getNotes() const { return {session.sources.getInputs().vec()}; }

private:
  LogicalResult write(StringRef path, StringRef content) {
    llvm::Error error = emission::writeOutput(path, content);
    return error ? fail(std::move(error)) : success();
  }
  LogicalResult writeModule(ModuleOp module);
  LogicalResult expressDataflow(ModuleOp module);
  LogicalResult writeGraph(ModuleOp module);
  LogicalResult writeFlatBuffer(ModuleOp module);
  EmissionOptions emissionOptions(const ModelInfo &model);
  LogicalResult emitCode(ModuleOp module, const ModelInfo &model, const EmissionOptions &options);
  LogicalResult findRuntime(const llvm::Triple &triple, std::string &path);
  LogicalResult checkRuntime();
  kernel::TargetAttr targetOf(ModuleOp module);
  LogicalResult fail(llvm::Error error) { return session.fail(std::move(error)); }

  const CompileRequest &request;
  Timer timing;
  Session session;
};

} // namespace

LogicalResult Compilation::writeModule(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  os << '\n';
  return write(request.output, text);
}

/// Replaces dataflow regions by branches and loops if the graph language cannot express them.
LogicalResult Compilation::expressDataflow(ModuleOp module) {
  bool hasDataflow =
      module.walk([](dfg::DataflowOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (!hasDataflow)
    return success();
  {
    ScopedDiagnosticHandler silent(&session.context, [](Diagnostic &) { return success(); });
    llvm::raw_null_ostream nowhere;
    text::LongConstants constants("");
    if (succeeded(text::printGraph(module, nowhere, &constants, request.importOptions.isTrainable)))
      return success();
  }
  CompileRequest lowered = request;
  lowered.pipeline.stopAfter = "controlflow";
  return session.runStages(module, lowered, timing);
}

/// Long constants are in a separate file, or in the text on standard output.
LogicalResult Compilation::writeGraph(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  SmallString<128> weights(request.output);
  llvm::sys::path::replace_extension(weights, "safetensors");
  text::LongConstants constants(llvm::sys::path::filename(weights));
  bool isFile = request.output != "-" && !emission::isSpecialFile(request.output);
  if (failed(text::printGraph(module, os, isFile ? &constants : nullptr,
                              request.importOptions.isTrainable)))
    return failure();
  if (!constants.isEmpty()) {
    emission::Output outputs[] = {{request.output, ""},
                                  {weights.str().str(), text::LongConstants::kMark.str()}};
    if (llvm::Error error = emission::checkOutputs(outputs, session.sources.getInputs()))
      return fail(std::move(error));
    auto content = [&](llvm::raw_ostream &stream) { constants.write(stream); };
    if (llvm::Error error = emission::writeFile(weights, content))
      return fail(std::move(error));
  }
  return write(request.output, text);
}

LogicalResult Compilation::writeFlatBuffer(ModuleOp module) {
  llvm::Expected<emission::PendingFile> file = emission::PendingFile::create(request.output);
  if (!file)
    return fail(file.takeError());
  LogicalResult result = failure();
  auto content = [&](llvm::raw_ostream &os) { result = flatbuffer::exportGraph(module, os); };
  if (llvm::Error error = file->write(content))
    return fail(std::move(error));
  if (failed(result))
    return failure();
  llvm::Error error = file->keep();
  return error ? fail(std::move(error)) : success();
}

EmissionOptions Compilation::emissionOptions(const ModelInfo &model) {
  EmissionOptions options;
  switch (request.kind) {
  case EmitKind::Object:
    options.kind = OutputKind::Object;
    break;
  case EmitKind::Archive:
    options.kind = OutputKind::Archive;
    break;
  case EmitKind::Header:
    options.kind = OutputKind::Header;
    break;
  case EmitKind::Llvm:
    options.kind = OutputKind::LLVM;
    break;
  case EmitKind::Assembly:
    options.kind = OutputKind::Assembly;
    break;
  case EmitKind::Library:
  case EmitKind::Graph:
  case EmitKind::FlatBuffer:
  case EmitKind::Mlir:
    options.kind = OutputKind::Library;
    break;
  }
  options.output = request.output;
  options.soname = request.soname;
  options.keepSymbols = request.keepSymbols;
  options.cacheFolder = request.cacheFolder;
  options.verbose = request.pipeline.verbose;
  StringRef name = request.prefix;
  if (name.empty())
    name = model.name.empty() ? llvm::sys::path::stem(request.input) : StringRef(model.name);
  options.prefix = makePrefix(name);
  options.optLevel = request.pipeline.optLevel;
  options.sysroot = request.sysroot;
  return options;
}

LogicalResult Compilation::emitCode(ModuleOp module, const ModelInfo &model,
                                    const EmissionOptions &options) {
  if (request.pipeline.onBegin)
    request.pipeline.onBegin("emission");
  return emit(module, model, options, timing);
}

/// Finds the runtime that is linked into a library for the triple.
LogicalResult Compilation::findRuntime(const llvm::Triple &triple, std::string &path) {
  path = findRuntimeLibrary(triple);
  if (request.kind != EmitKind::Library || llvm::sys::fs::exists(path))
    return success();
  return fail(makeError("there is no runtime for '{}' at {}: build tfc with a C library of that "
                        "target installed, or write an object (.o)",
                        triple.str(), path));
}

/// Reports a missing runtime before the stages run.
LogicalResult Compilation::checkRuntime() {
  std::string path;
  return findRuntime(*kernels::findTriple(request.pipeline.triple), path);
}

/// Returns the target that the kernels were made for, which a module read from a file describes;
/// null after an error.
kernel::TargetAttr Compilation::targetOf(ModuleOp module) {
  DictionaryAttr targets = kernel::getTargets(module);
  auto target = targets ? targets.getAs<kernel::TargetAttr>(kernel::kDefaultTarget) : nullptr;
  if (!target)
    return kernels::findTarget(&session.context, request.pipeline.cpu,
                               *kernels::findTriple(request.pipeline.triple));
  return failed(kernels::verifyTarget(module, target)) ? kernel::TargetAttr() : target;
}

LogicalResult Compilation::run() {
  if (request.pipeline.onBegin)
    request.pipeline.onBegin("frontend");
  TimingScope frontend = timing.nest("frontend");
  OwningOpRef<ModuleOp> module = session.load(request);
  frontend.stop();
  if (!module)
    return failure();
  if (llvm::Error error = checkOutputs(request, session.sources.getInputs()))
    return fail(std::move(error));
  if (request.kind == EmitKind::FlatBuffer)
    return writeFlatBuffer(*module);
  if (request.kind == EmitKind::Graph) {
    // Only after the first stages can a graph file express the module.
    bool isFirst = request.pipeline.stopAfter.empty();
    if (!isFirst && failed(session.runStages(*module, request, timing)))
      return failure();
    if (request.expressesDataflow && failed(expressDataflow(*module)))
      return failure();
    return writeGraph(*module);
  }
  if (failed(checkRuntime()))
    return failure();
  requireSizes(*module);
  // Must be read before the stages transform the module.
  FailureOr<ModelInfo> model = describeModel(*module);
  if (failed(model))
    return failure();
  EmissionOptions options = emissionOptions(*model);
  if (isRuntimePrefix(options.prefix)) // its functions could be those of tfc.h
    return fail(
        makeError("the prefix '{}' is reserved for the runtime: choose another with --prefix",
                  options.prefix));
  if (request.kind == EmitKind::Header) {
    CompileRequest placed = request;
    placed.pipeline.stopAfter = "placement"; // a header names the devices
    if (failed(session.runStages(*module, placed, timing)))
      return failure();
    describeCode(*module, *model);
    return emitCode(*module, *model, options);
  }
  if (failed(session.runStages(*module, request, timing)))
    return failure();
  if (request.kind == EmitKind::Mlir)
    return writeModule(*module);
  describeCode(*module, *model);
  options.target = targetOf(*module);
  if (!options.target ||
      failed(findRuntime(llvm::Triple(options.target.getTriple()), options.runtimeLibrary)))
    return failure();
  return emitCode(*module, *model, options);
}

/// Returns true unless the compilation itself prints before it ends.
static bool showsProgress(const CompileRequest &request) {
  return !request.isQuiet && !request.pipeline.verbose && request.pipeline.dumpAfter.empty() &&
         request.output != "-";
}

std::map<std::string, SizeFacts> tfc::sizeFactsOf(const ModelInfo &model) {
  std::map<std::string, SizeFacts> facts;
  for (const EntryInfo &entry : model.entries)
    facts[entry.name] = {entry.where, entry.solved, entry.site};
  return facts;
}

LogicalResult tfc::compile(const CompileRequest &request, CompileNotes *notes) {
  DefaultTimingManager timing;
  timing.setEnabled(request.printTimes);
  TimingScope total = timing.getRootScope();
  CompileRequest shown = request;
  if (llvm::Error error = applySchedules(shown)) {
    reportError(std::move(error));
    return failure();
  }
  Compilation compilation(shown, timing.getRootTimer());
  Progress progress(showsProgress(request));
  shown.pipeline.onBegin = [&](StringRef stage) {
    size_t count = getStages().size();
    progress.begin(stage, findStage(stage).value_or(count) + 1, count + 1);
  };
  LogicalResult result = compilation.run();
  progress.stop(); // before the diagnostics
  if (notes)
    *notes = compilation.getNotes();
  return result;
}
