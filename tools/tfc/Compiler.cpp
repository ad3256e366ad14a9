#include "tools/tfc/Compiler.h"
#include "compiler/emission/Cpu.h"
#include "compiler/emission/Link.h"
#include "frontend/Import.h"
#include "frontend/text/Print.h"
#include "tools/tfc/LoadedModel.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tfc;

int tfc::reportError(const Twine &message) {
  llvm::errs() << "tfc: error: " << message << '\n';
  return 1;
}

int tfc::reportError(llvm::Error error) { return reportError(llvm::toString(std::move(error))); }

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

Session::Session()
    : diagnostics(sources), context(makeRegistry()), handler(&context, diagnostics) {}

Session::~Session() { diagnostics.flush(llvm::errs()); }

OwningOpRef<ModuleOp> Session::load(const CompileRequest &request, Timing &timing) {
  Timing::Scope scope(timing, "frontend");
  // Errors show what the author wrote, not the operation that it became.
  context.printOpOnDiagnostic(false);
  context.loadAllAvailableDialects();
  return importFile(request.input, context, sources, request.entries);
}

LogicalResult Session::runStages(ModuleOp module, const CompileRequest &request, Timing &timing) {
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
// Compilation
//===----------------------------------------------------------------------===//

namespace {

class Compilation {
public:
  Compilation(const CompileRequest &request, Timing &timing) : request(request), timing(timing) {}

  LogicalResult run();

private:
  LogicalResult writeFile(StringRef path, StringRef content);
  LogicalResult writeModule(ModuleOp module);
  LogicalResult writeGraph(ModuleOp module);
  EmissionOptions emissionOptions(const ModelInfo &model);
  LogicalResult fail(llvm::Error error) { return session.fail(std::move(error)); }

  const CompileRequest &request;
  Timing &timing;
  Session session;
};

} // namespace

LogicalResult Compilation::writeFile(StringRef path, StringRef content) {
  llvm::Expected<emission::PendingFile> file = emission::PendingFile::create(path);
  if (!file)
    return fail(file.takeError());
  if (llvm::Error error = file->write(content))
    return fail(std::move(error));
  if (llvm::Error error = file->keep())
    return fail(std::move(error));
  return success();
}

LogicalResult Compilation::writeModule(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  os << '\n';
  if (request.output != "-")
    return writeFile(request.output, text);
  llvm::outs() << text;
  return success();
}

/// Long constants stand beside a file, and in the text on standard output.
LogicalResult Compilation::writeGraph(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (request.output == "-") {
    if (failed(text::printGraph(module, os)))
      return failure();
    llvm::outs() << text;
    return success();
  }
  SmallString<128> weights(request.output);
  llvm::sys::path::replace_extension(weights, "safetensors");
  text::LongConstants constants(llvm::sys::path::filename(weights));
  if (failed(text::printGraph(module, os, &constants)))
    return failure();
  if (!constants.isEmpty()) {
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    constants.write(stream);
    if (failed(writeFile(weights, bytes)))
      return failure();
  }
  return writeFile(request.output, text);
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
  case EmitKind::Mlir:
    options.kind = OutputKind::Library;
    break;
  }
  options.output = request.output;
  options.soname = request.soname;
  options.keepSymbols = request.keepSymbols;
  StringRef name = request.prefix;
  if (name.empty())
    name = model.name.empty() ? llvm::sys::path::stem(request.input) : StringRef(model.name);
  options.prefix = toIdentifier(name);
  CpuName cpu = *findCpu(request.pipeline.cpu);
  options.cpu = cpu.cpu;
  options.features = cpu.features;
  options.optLevel = request.pipeline.optLevel;
  options.runtimeLibrary = findRuntimeLibrary();
  return options;
}

LogicalResult Compilation::run() {
  OwningOpRef<ModuleOp> module = session.load(request, timing);
  if (!module)
    return failure();
  if (request.kind == EmitKind::Graph) {
    // Only the first stages leave what a graph can say.
    bool isFirst = request.pipeline.stopAfter.empty();
    if (!isFirst && failed(session.runStages(*module, request, timing)))
      return failure();
    return writeGraph(*module);
  }
  requireSizes(*module);
  // Read now: the stages take apart what it describes.
  FailureOr<ModelInfo> model = describeModel(*module);
  if (failed(model))
    return failure();
  EmissionOptions options = emissionOptions(*model);
  if (options.prefix == "tfc") // its functions would be those of tfc.h
    return fail(llvm::createStringError("the prefix 'tfc' is the runtime's: choose another with "
                                        "--prefix"));
  if (request.kind == EmitKind::Header)
    return emit(*module, *model, options, timing);
  if (failed(session.runStages(*module, request, timing)))
    return failure();
  if (request.kind == EmitKind::Mlir)
    return writeModule(*module);
  if (auto chunks = (*module)->getAttrOfType<IntegerAttr>("tfc.chunks"))
    model->chunks = chunks.getInt();
  return emit(*module, *model, options, timing);
}

LogicalResult tfc::compile(const CompileRequest &request, Timing &timing) {
  return Compilation(request, timing).run();
}
