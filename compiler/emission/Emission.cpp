// The last stage: drives code generation, descriptor, weights, header and linking for each kind of
// output.
#include "compiler/emission/Emission.h"
#include "compiler/emission/Descriptor.h"
#include "compiler/emission/Header.h"
#include "compiler/emission/Link.h"
#include "compiler/emission/ObjectCache.h"
#include "compiler/emission/OutputFile.h"
#include "compiler/emission/Symbols.h"
#include "compiler/emission/Weights.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/rt/Names.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>

using namespace mlir;
using namespace tfc;
using namespace tfc::emission;

std::string tfc::headerPathFor(StringRef path) {
  SmallString<128> result(llvm::sys::path::parent_path(path));
  StringRef stem = llvm::sys::path::stem(path);
  if (stem.starts_with("lib") && stem.size() > 3)
    stem = stem.drop_front(3);
  llvm::sys::path::append(result, stem + ".h");
  return result.str().str();
}

/// The constants that the code of a module addresses.
static ArrayAttr weightsOf(ModuleOp module) {
  ArrayAttr weights = dfg::DfgDialect::WeightsAttrHelper(module.getContext()).getAttr(module);
  return weights ? weights : ArrayAttr::get(module.getContext(), {});
}

namespace {

class Emitter {
public:
  Emitter(ModuleOp module, const ModelInfo &model, const EmissionOptions &options, Timer timing)
      : module(module), model(model), options(options), timing(timing),
        names(chooseNames(model, options.prefix)), weights(weightsOf(module)) {}

  LogicalResult run();

private:
  LogicalResult report(llvm::Error error);
  std::unique_ptr<llvm::TargetMachine> target() {
    std::string ignored;
    return makeTargetMachine(options, ignored);
  }
  LogicalResult checkFunctions();
  LogicalResult checkDeclarations();
  LogicalResult checkCopiedConstants();
  LogicalResult checkFunctions(const SymbolTable &symbols, const EntryInfo &entry, unsigned number);
  LogicalResult emitText();
  LogicalResult emitBinary();
  LogicalResult openCache();
  LogicalResult compileObjects(const WorkFolder &folder);
  LogicalResult compileObject(ModuleOp part, StringRef path);
  LogicalResult generateObject(llvm::Module &unit, llvm::TargetMachine &machine,
                               SmallVectorImpl<char> &code);
  LogicalResult writeObject(StringRef code, StringRef path);
  /// Returns true if the weights follow the linked library.
  bool appendsWeights() const;
  LogicalResult writeWeightObject(WeightBytes bytes);
  std::vector<std::string> allObjects() const;
  LogicalResult link(const WorkFolder &folder, StringRef path);
  LogicalResult linkLibrary(const WorkFolder &folder, StringRef path);
  /// Writes text to the output, which may be standard output.
  LogicalResult writeText(StringRef text);

  ModuleOp module;
  const ModelInfo &model;
  const EmissionOptions &options;
  Timer timing;
  ModelNames names;
  /// The constants that the code addresses.
  ArrayAttr weights;
  std::vector<std::string> objects;
  std::string weightObject; // empty without weights
  std::optional<ObjectCache> cache;
  std::atomic<unsigned> reused = 0;
};

} // namespace

LogicalResult Emitter::report(llvm::Error error) {
  if (!error)
    return success();
  return emitError(UnknownLoc::get(module.getContext())) << llvm::toString(std::move(error));
}

LogicalResult Emitter::writeText(StringRef text) {
  return report(writeOutput(options.output, text));
}

/// Emits the whole model as LLVM IR or assembler: the contents of the objects in one piece.
LogicalResult Emitter::emitText() {
  std::string text;
  llvm::raw_string_ostream os(text);
  {
    TimingScope scope = timing.nest("llvm");
    std::unique_ptr<llvm::TargetMachine> machine = target();
    std::vector<OwningOpRef<ModuleOp>> parts = splitModule(module, /*whole=*/true);
    FailureOr<CodeUnit> unit = translate(*parts.front(), *machine, options.prefix);
    if (failed(unit))
      return failure();
    optimize(*unit->module, *machine, options.optLevel);
    if (options.kind == OutputKind::LLVM) {
      unit->module->print(os, nullptr);
    } else {
      SmallVector<char, 0> code;
      if (!generateCode(*unit->module, *machine, llvm::CodeGenFileType::AssemblyFile, code))
        return emitError(module.getLoc()) << "the target cannot write assembler";
      os << StringRef(code.data(), code.size());
    }
  }
  return writeText(text);
}

LogicalResult Emitter::generateObject(llvm::Module &unit, llvm::TargetMachine &machine,
                                      SmallVectorImpl<char> &code) {
  optimize(unit, machine, options.optLevel);
  if (!generateCode(unit, machine, llvm::CodeGenFileType::ObjectFile, code))
    return emitError(module.getLoc()) << "the target cannot write objects";
  return success();
}

LogicalResult Emitter::writeObject(StringRef code, StringRef path) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error)
    return report(llvm::createFileError(path, error));
  os << code;
  return report(close(os, path));
}

LogicalResult Emitter::compileObject(ModuleOp part, StringRef path) {
  std::unique_ptr<llvm::TargetMachine> machine = target();
  FailureOr<CodeUnit> unit = translate(part, *machine, options.prefix);
  if (failed(unit))
    return failure();
  std::string key = cache ? cache->keyOf(*unit->module) : "";
  if (std::unique_ptr<llvm::MemoryBuffer> known = cache ? cache->find(key) : nullptr) {
    ++reused;
    return writeObject(known->getBuffer(), path);
  }
  SmallVector<char, 0> code;
  if (failed(generateObject(*unit->module, *machine, code)))
    return failure();
  StringRef object(code.data(), code.size());
  if (cache)
    cache->add(key, object);
  return writeObject(object, path);
}

LogicalResult Emitter::openCache() {
  if (options.cacheFolder.empty())
    return success();
  llvm::Expected<ObjectCache> opened = ObjectCache::open(options);
  if (!opened)
    return report(opened.takeError());
  cache = std::move(*opened);
  return success();
}

LogicalResult Emitter::compileObjects(const WorkFolder &folder) {
  TimingScope scope = timing.nest("llvm");
  std::vector<OwningOpRef<ModuleOp>> parts = splitModule(module, /*whole=*/false);
  for (size_t i = 0; i < parts.size(); ++i)
    objects.push_back(folder.file(i + 1 < parts.size() ? "kernels" + Twine(i) + ".o" : "host.o"));
  std::vector<char> failedParts(parts.size(), false);
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(options.threads));
  for (size_t i = 0; i < parts.size(); ++i)
    pool.async([&, i] { failedParts[i] = failed(compileObject(*parts[i], objects[i])); });
  pool.wait();
  if (llvm::is_contained(failedParts, true))
    return failure();
  if (cache)
    cache->prune();
  if (cache && options.verbose)
    llvm::errs() << "cache: " << reused << " of " << parts.size() << " objects reused\n";

  std::unique_ptr<llvm::TargetMachine> machine = target();
  CodeUnit descriptor = makeDescriptor(model, names, *machine, options.kind == OutputKind::Library);
  SmallVector<char, 0> code;
  if (failed(generateObject(*descriptor.module, *machine, code)))
    return failure();
  objects.push_back(folder.file("descriptor.o"));
  return writeObject(StringRef(code.data(), code.size()), objects.back());
}

bool Emitter::appendsWeights() const {
  constexpr uint64_t kMinAppended = uint64_t(1) << 20; // copying fewer bytes takes no time
  return options.kind == OutputKind::Library && weightBytes(weights) >= kMinAppended;
}

LogicalResult Emitter::writeWeightObject(WeightBytes bytes) {
  TimingScope scope = timing.nest("weights");
  llvm::Triple triple(target()->getTargetTriple());
  return report(
      writeWeights(weights, options.prefix + ".tfc_weights", triple, bytes, weightObject));
}

std::vector<std::string> Emitter::allObjects() const {
  std::vector<std::string> all = objects;
  if (!weightObject.empty())
    all.push_back(weightObject);
  return all;
}

LogicalResult Emitter::link(const WorkFolder &folder, StringRef path) {
  TimingScope scope = timing.nest("link");
  if (options.kind == OutputKind::Object)
    return report(linkObject(llvm::Triple(options.target.getTriple()), allObjects(), path, folder));
  if (options.kind == OutputKind::Archive)
    return report(emission::writeArchive(allObjects(), path));
  return linkLibrary(folder, path);
}

LogicalResult Emitter::linkLibrary(const WorkFolder &folder, StringRef path) {
  LinkJob job;
  job.objects = objects;
  job.triple = llvm::Triple(options.target.getTriple());
  job.runtimeLibrary = options.runtimeLibrary;
  job.sysroot = options.sysroot;
  job.weights = weightObject;
  job.output = path.str();
  // The loader finds the library next to the program, wherever both are moved, without linker
  // flags.
  job.soname = options.soname;
  if (job.soname.empty())
    job.soname = ("$ORIGIN/" + llvm::sys::path::filename(options.output)).str();
  job.prefix = options.prefix;
  job.keepSymbols = options.keepSymbols;
  if (failed(report(emission::linkLibrary(job, folder))))
    return failure();
  if (!appendsWeights())
    return success();
  llvm::Expected<bool> isAppended = appendWeights(weights, path);
  if (!isAppended)
    return report(isAppended.takeError());
  if (*isAppended)
    return success();
  if (failed(writeWeightObject(WeightBytes::Contained)))
    return failure();
  return report(emission::linkLibrary(job, folder));
}

/// Checks that the functions to which the model's description refers exist: a module read from a
/// file may lack them.
LogicalResult Emitter::checkFunctions(const SymbolTable &symbols, const EntryInfo &entry,
                                      unsigned number) {
  MLIRContext *context = module.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context), nothing = LLVM::LLVMVoidType::get(context);
  auto check = [&](StringRef what, Type result, ArrayRef<Type> arguments) -> LogicalResult {
    std::string name = rt::entryFunctionName(number, what);
    auto function = symbols.lookup<LLVM::LLVMFuncOp>(name);
    Type type = LLVM::LLVMFunctionType::get(result, arguments);
    if (function && !function.isExternal() && function.getFunctionType() == type)
      return success();
    return emitError(function ? function.getLoc() : module.getLoc())
           << "expected a function '" << name << "' of type " << type << " for entry '"
           << entry.name << "'";
  };
  if (failed(check("run", IntegerType::get(context, 32), pointer)) ||
      failed(check("shapes", nothing, {pointer, pointer})) ||
      failed(check("arena", IntegerType::get(context, 64), pointer)))
    return failure();
  return entry.found.empty() ? success() : check("found", nothing, {pointer, pointer, pointer});
}

static bool isDeclaration(Operation &op) {
  if (auto global = dyn_cast<LLVM::GlobalOp>(op))
    return !global.getValueAttr() && !global.getInitializerBlock();
  auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
  return function && function.isExternal();
}

/// Checks external declarations, which are arbitrary in a module read from a file.
LogicalResult Emitter::checkDeclarations() {
  auto isKnown = [&](StringRef name) {
    return name.starts_with("llvm.") || isProvided(name) ||
           (name == rt::kWeightsName && !weights.empty());
  };
  for (Operation &op : *module.getBody()) {
    kernel::AbiAttr abi = kernel::abiOf(&op);
    if (!isDeclaration(op) || (abi && !abi.getGrids().empty()))
      continue;
    StringRef name = SymbolTable::getSymbolName(&op);
    if (!isKnown(name))
      return op.emitError() << "'" << name
                            << "' is declared, but neither the C library nor the runtime has it";
  }
  return success();
}

/// Checks that copied constants are parts of the weights, which they may not be in a module read
/// from a file.
LogicalResult Emitter::checkCopiedConstants() {
  auto bytes = static_cast<int64_t>(weightBytes(weights));
  auto devices = static_cast<int64_t>(model.devices.size());
  for (const CopiedConstant &constant : model.copiedConstants)
    if (constant.offset > bytes || constant.bytes > bytes - constant.offset ||
        constant.device >= devices)
      return module.emitError() << "expects copied constants within " << bytes
                                << " bytes, on one of " << devices << " devices";
  return success();
}

LogicalResult Emitter::checkFunctions() {
  SymbolTable symbols(module);
  for (auto [number, entry] : llvm::enumerate(model.entries))
    if (failed(checkFunctions(symbols, entry, number)))
      return failure();
  return model.init ? checkFunctions(symbols, *model.init, model.entries.size()) : success();
}

LogicalResult Emitter::emitBinary() {
  if (failed(checkFunctions()) || failed(checkDeclarations()) || failed(checkCopiedConstants()))
    return failure();
  llvm::Expected<WorkFolder> folder = WorkFolder::create();
  if (!folder)
    return report(folder.takeError());
  // Begin both outputs first, so that an output that cannot be written is reported before the work.
  std::optional<llvm::Expected<PendingFile>> header;
  if (!isSpecialFile(options.output)) {
    header.emplace(PendingFile::create(headerPathFor(options.output)));
    if (!*header)
      return report(header->takeError());
  }
  llvm::Expected<PendingFile> output = PendingFile::create(options.output);
  if (!output)
    return report(output.takeError());
  if (failed(openCache()) || failed(compileObjects(*folder)))
    return failure();
  if (!weights.empty()) {
    weightObject = folder->file("weights.o");
    if (failed(
            writeWeightObject(appendsWeights() ? WeightBytes::Appended : WeightBytes::Contained)))
      return failure();
  }
  if (failed(report(checkSymbols(allObjects(), options.prefix))) ||
      failed(link(*folder, output->temporary())))
    return failure();
  if (header && failed(report((*header)->write(makeHeader(model, names)))))
    return failure();
  if (failed(report(output->keep())))
    return failure();
  return header ? report((*header)->keep()) : success();
}

LogicalResult Emitter::run() {
  if (options.kind == OutputKind::Header)
    return writeText(makeHeader(model, names));
  std::string error;
  if (!makeTargetMachine(options, error))
    return emitError(module.getLoc()) << "no code generator: " << error;
  // The operations that describe the model are no longer needed.
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (isa<dfg::EntryOp, dfg::VariableOp>(op))
      op.erase();
  bool isText = options.kind == OutputKind::LLVM || options.kind == OutputKind::Assembly;
  return isText ? emitText() : emitBinary();
}

LogicalResult tfc::emit(ModuleOp module, const ModelInfo &model, const EmissionOptions &options,
                        Timer timing) {
  return Emitter(module, model, options, timing).run();
}
