//===- Compiled.cpp - Programs as libraries, and their calls --------------===//
//
// Compiles a program in one of many variants and calls the library. It knows nothing about the
// oracle.
//
//===----------------------------------------------------------------------===//

#include "Compare.h"
#include "Random.h"
#include "Targets.h"
#include "compiler/emission/Emission.h"
#include "compiler/kernels/Target.h"
#include "dialects/dfg/Devices.h"
#include "runtime/Cpu.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

std::string Variant::text() const {
  std::string text = "-O" + std::to_string(pipeline.optLevel);
  if (!pipeline.cpu.empty() && pipeline.cpu != "native")
    text += " --mcpu=" + pipeline.cpu;
  if (!pipeline.device.empty())
    text += " --device=" + pipeline.device;
  if (!pipeline.disabled.empty())
    text += " --disable=" + llvm::join(pipeline.disabled, ",");
  return text;
}

ArrayRef<StringRef> getTargets() {
  static const SmallVector<StringRef> targets = [] {
    SmallVector<StringRef> names;
    StringRef(kTargets).split(names, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    return names;
  }();
  return targets;
}

StringRef drawTarget(StringRef name, unsigned number) {
  ArrayRef<StringRef> targets = getTargets();
  return targets[(llvm::crc32(llvm::arrayRefFromStringRef(name)) + number) % targets.size()];
}

bool canRun(StringRef target) {
  char missing[32];
  return !runtime::findMissingFeature(
      kernels::findProcessor(target, *kernels::findTriple(""))->features.c_str(), missing,
      sizeof(missing));
}

Variant makeVariant(uint64_t seed, StringRef target) {
  Random random(seed * 0x9e3779b97f4a7c15 + 7);
  Variant variant;
  variant.pipeline.cpu = target.str();
  variant.llvmLevel = random.chance(0.15) ? 3 : 1;
  double choice = random.unit();
  if (choice < 0.15) {
    variant.pipeline.optLevel = 0;
    variant.llvmLevel = 0;
  } else if (choice < 0.5) {
    for (const Optimization &option : getOptimizations())
      if (option.name != "partition" && random.chance(0.3)) // see `compare`
        variant.pipeline.disabled.push_back(option.name.str());
  }
  return variant;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

static LogicalResult compileTo(const Program &program, const Variant &variant, StringRef path) {
  ModuleOp module = *program.module;
  requireSizes(module);
  FailureOr<ModelInfo> model = describeModel(module);
  PipelineOptions pipeline = variant.pipeline;
  pipeline.startAfter = program.after;
  if (failed(model) || failed(runStages(module, pipeline)))
    return failure();
  describeCode(module, *model);
  EmissionOptions options;
  options.output = path.str();
  options.prefix = "random";
  options.target =
      kernels::findTarget(module.getContext(), variant.pipeline.cpu, *kernels::findTriple(""));
  options.optLevel = variant.llvmLevel;
  options.threads = 1;
  options.runtimeLibrary = findRuntimeLibrary(*kernels::findTriple(""));
  return emit(module, *model, options);
}

llvm::Expected<Compiled> Compiled::compile(const Program &program, const Variant &variant) {
  llvm::Expected<emission::WorkFolder> folder = emission::WorkFolder::create();
  if (!folder)
    return folder.takeError();
  Compiled result(std::move(*folder));
  Program copy = program.clone();
  std::string messages;
  ScopedDiagnosticHandler handler(copy.module->getContext(), [&](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return success();
  });
  if (failed(compileTo(copy, variant, result.path())))
    return llvm::createStringError(messages.empty() ? "no message" : messages);
  result.deviceCount = devicesOf(*copy.module).size();
  return result;
}

//===----------------------------------------------------------------------===//
// Calling
//===----------------------------------------------------------------------===//

static EntryOp findEntry(ModuleOp module, StringRef name) {
  for (auto entry : module.getOps<EntryOp>())
    if (entry.getSymName() == name)
      return entry;
  return {};
}

/// Bytes after a fetch that must not be written.
static constexpr size_t kGuard = 64;
static constexpr char kGarbage = 0x5a;
/// The size of the memory for a feed without elements.
static constexpr size_t kEmptyBytes = 4096;

/// Fills fetches and guards after them, so that elements that a call omits, and writes past the
/// end, are visible.
static void fillWithGarbage(std::vector<Array> &arrays) {
  for (Array &array : arrays) {
    llvm::fill(array.data, array.dtype == TFC_BOOL ? 1 : kGarbage);
    array.data.resize(array.data.size() + kGuard, kGarbage);
  }
}

static bool removeGuards(std::vector<Array> &arrays) {
  bool isWhole = true;
  for (Array &array : arrays) {
    isWhole &=
        llvm::all_of(ArrayRef(array.data).take_back(kGuard), [](char c) { return c == kGarbage; });
    array.data.resize(array.data.size() - kGuard);
  }
  return isWhole;
}

static CallResult call(LoadedModel &model, const Entry &entry, std::vector<Array> feeds) {
  CallResult result;
  // Kernels may read at the address of a tensor without elements.
  for (Array &feed : feeds)
    if (feed.data.empty())
      feed.data.resize(kEmptyBytes);
  llvm::Expected<std::vector<Array>> fetches = model.makeFetches(entry, feeds);
  if (!fetches)
    return {TFC_INTERNAL, llvm::toString(fetches.takeError()), {}, {}};
  result.fetches = std::move(*fetches);
  fillWithGarbage(result.fetches);
  std::vector<Array> before = feeds;
  if (llvm::Error error = model.call(entry, feeds, result.fetches))
    return {TFC_INTERNAL, llvm::toString(std::move(error)), {}, {}};
  if (!removeGuards(result.fetches))
    return {TFC_INTERNAL, "the memory after a fetch was overwritten", {}, {}};
  if (llvm::Error error = model.cutToFound(result.fetches))
    return {TFC_INTERNAL, llvm::toString(std::move(error)), {}, {}};
  for (auto [now, then] : llvm::zip_equal(feeds, before))
    if (now.data != then.data)
      return {TFC_INTERNAL, "a feed was overwritten", {}, {}};
  return result;
}

static llvm::Expected<std::vector<Array>> readVariables(LoadedModel &model) {
  std::vector<Array> values;
  for (const std::string &name : model.getVariables()) {
    llvm::Expected<Array> value = model.getVariable(name);
    if (!value)
      return value.takeError();
    values.push_back(std::move(*value));
  }
  return values;
}

static bool isEqual(ArrayRef<Array> one, ArrayRef<Array> other) {
  return llvm::equal(one, other, [](const Array &a, const Array &b) { return a.data == b.data; });
}

llvm::Expected<std::vector<CallResult>> Compiled::run(const Program &program, int threads) {
  llvm::Expected<LoadedModel> model = LoadedModel::load(path(), threads);
  if (!model)
    return model.takeError();
  std::vector<CallResult> results;
  llvm::Expected<std::vector<Array>> initial = readVariables(*model);
  if (!initial)
    return initial.takeError();
  std::vector<Array> before = std::move(*initial);
  for (const CallPlan &plan : program.calls) {
    EntryOp entry = findEntry(*program.module, plan.entry);
    std::optional<std::vector<Array>> feeds;
    if (entry)
      feeds = makeFeeds(entry, plan);
    llvm::Expected<const Entry *> compiled = model->findEntry(plan.entry);
    if (!compiled)
      return compiled.takeError();
    if (feeds)
      results.push_back(call(*model, **compiled, std::move(*feeds)));
    else
      results.push_back({TFC_INVALID_ARGUMENT, "no feeds", {}, {}});
    llvm::Expected<std::vector<Array>> variables = readVariables(*model);
    if (!variables)
      return variables.takeError();
    results.back().variables = std::move(*variables);
    if (results.back().status != TFC_OK && !isEqual(results.back().variables, before))
      results.back().message += " (which changed variables)";
    before = results.back().variables;
  }
  return results;
}

} // namespace tfc::random
