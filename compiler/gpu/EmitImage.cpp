//===- EmitImage.cpp - PTX of a GPU's functions ---------------------------===//
//
// Compiles the functions of a GPU with LLVM's code generator, some at a time in each thread. It
// ends the process where it cannot select an instruction, so what it is given is checked before
// (Selectable.h).
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/Assembler.h"
#include "compiler/gpu/Legalize.h"
#include "compiler/gpu/Libclc.h"
#include "compiler/gpu/Passes.h"
#include "compiler/gpu/Selectable.h"
#include "compiler/gpu/Target.h"
#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

namespace tfc::gpu {
#define GEN_PASS_DEF_GPUEMITIMAGEPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc::gpu

using namespace mlir;
using namespace tfc::gpu;
namespace kernel = tfc::kernel;

static bool isLaunched(const llvm::Function &function) {
  return function.getCallingConv() == llvm::CallingConv::PTX_Kernel;
}

/// Denormals count as zero in f32, as they do on CPUs while a call runs; f64 has them.
static void setFloatMode(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration()) {
      function.setDoesNotThrow();
      function.addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
    }
}

/// Makes everything but the functions that are launched part of these.
static void inlineFunctions(llvm::Module &module) {
  llvm::internalizeModule(module, [](const llvm::GlobalValue &value) {
    auto function = dyn_cast<llvm::Function>(&value);
    return function && isLaunched(*function);
  });
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && !isLaunched(function)) {
      function.removeFnAttr(llvm::Attribute::NoInline);
      function.removeFnAttr(llvm::Attribute::OptimizeNone);
      function.removeFnAttr("target-cpu");
      function.removeFnAttr("target-features");
      function.addFnAttr(llvm::Attribute::AlwaysInline);
    }
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine, unsigned level) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  // Threads are the lanes; the code generator joins loads and stores that are adjacent.
  tuning.LoopVectorization = tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  using Level = llvm::OptimizationLevel;
  static const Level kLevels[] = {Level::O0, Level::O1, Level::O2, Level::O3};
  // Functions are inlined at all levels.
  Level chosen = kLevels[std::clamp(level, 1u, 3u)];
  builder.buildPerModuleDefaultPipeline(chosen).run(module, modules);
}

namespace {

/// Runs when the functions are in the LLVM dialect.
struct GpuEmitImagePass : tfc::gpu::impl::GpuEmitImagePassBase<GpuEmitImagePass> {
  using GpuEmitImagePassBase::GpuEmitImagePassBase;

  void runOnOperation() override {
    auto device =
        dyn_cast_or_null<ModuleOp>(SymbolTable::lookupSymbolIn(getOperation(), kDeviceCode));
    if (!device)
      return markAllAnalysesPreserved();
    FailureOr<std::string> code = compile(device);
    if (failed(code))
      return signalPassFailure();
    FailureOr<ArrayAttr> binaries = assembleAll(*code);
    if (failed(binaries))
      return signalPassFailure();
    OpBuilder b(device);
    kernel::ImageOp::create(b, device.getLoc(), b.getStringAttr(kTargetName),
                            b.getStringAttr(*code), *binaries);
    device.erase();
  }

private:
  FailureOr<std::string> compile(ModuleOp device);
  LogicalResult compilePart(ModuleOp device, kernel::TargetAttr target, StringRef bitcode,
                            unsigned number, std::string &code);
  FailureOr<ArrayAttr> assembleAll(StringRef code);
};

} // namespace

/// Returns null without capabilities. Errors concern the assembler, no place in a graph.
FailureOr<ArrayAttr> GpuEmitImagePass::assembleAll(StringRef code) {
  if (capabilities.empty())
    return ArrayAttr();
  llvm::Expected<std::vector<std::string>> binaries = assemble(code, capabilities);
  if (!binaries)
    return emitError(UnknownLoc::get(&getContext())) << llvm::toString(binaries.takeError());
  OpBuilder b(&getContext());
  SmallVector<Attribute> attributes;
  for (auto [capability, binary] : llvm::zip_equal(capabilities, *binaries))
    attributes.push_back(
        kernel::BinaryAttr::get(&getContext(), capability, b.getStringAttr(binary)));
  return b.getArrayAttr(attributes);
}

/// The functions that are compiled at once. The division is the same on all machines, and so is the
/// code.
static constexpr unsigned kFunctionsOfPart = 16;

/// Removes the functions of other parts from a module.
static void keepPart(llvm::Module &module, unsigned part) {
  unsigned number = 0;
  for (llvm::Function &function : llvm::make_early_inc_range(module))
    if (isLaunched(function) && number++ / kFunctionsOfPart != part)
      function.eraseFromParent();
}

/// Gives what is not launched names that no other part has.
static void renamePart(llvm::Module &module, unsigned part) {
  auto rename = [&](llvm::GlobalValue &value) {
    if (value.hasLocalLinkage())
      value.setName(value.getName() + "_" + llvm::Twine(part));
  };
  llvm::for_each(module.globals(), rename);
  llvm::for_each(module.functions(), rename);
}

LogicalResult GpuEmitImagePass::compilePart(ModuleOp device, kernel::TargetAttr target,
                                            StringRef bitcode, unsigned number, std::string &code) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(target, error);
  if (!machine)
    return device.emitError() << "cannot generate code for a GPU: " << error;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      llvm::cantFail(llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, kDeviceCode), context));
  keepPart(*module, number);
  module->setDataLayout(machine->createDataLayout());
  module->setTargetTriple(machine->getTargetTriple());
  if (!linkLibclc(*module, error))
    return device.emitError() << error;
  setFloatMode(*module);
  inlineFunctions(*module);
  optimize(*module, *machine, optLevel);
  legalize(*module);
  renamePart(*module, number);
  if (failed(checkSelectable(*module, device)))
    return failure();
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return device.emitError("cannot generate code for a GPU");
  passes.run(*module);
  code.assign(text.data(), text.size());
  return success();
}

/// Appends the code of a part to that of others, of which the first one has the directives at the
/// beginning: the version, the target and the size of addresses.
static void append(StringRef part, std::string &code) {
  constexpr StringLiteral kLast = ".address_size";
  if (!code.empty())
    part = part.substr(part.find(kLast)).split('\n').second;
  code += part;
}

FailureOr<std::string> GpuEmitImagePass::compile(ModuleOp device) {
  DictionaryAttr targets = kernel::getTargets(device);
  auto target = targets ? targets.getAs<kernel::TargetAttr>(kTargetName) : kernel::TargetAttr();
  if (!target ||
      target != describeTarget(&getContext(), !target.getWithoutProducts(), target.getFactors()))
    return device.emitError("expected the description of GPUs by tfc-gpu-attach-target");
  llvm::SmallVector<char, 0> bitcode;
  unsigned launched = 0;
  {
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(device, context, kDeviceCode);
    if (!module)
      return failure();
    launched = unsigned(llvm::count_if(module->functions(), isLaunched));
    llvm::raw_svector_ostream stream(bitcode);
    llvm::WriteBitcodeToFile(*module, stream);
  }
  std::vector<std::string> parts(std::max<size_t>(1, llvm::divideCeil(launched, kFunctionsOfPart)));
  LogicalResult result = failableParallelForEachN(&getContext(), 0, parts.size(), [&](size_t i) {
    return compilePart(device, target, StringRef(bitcode.data(), bitcode.size()), unsigned(i),
                       parts[i]);
  });
  if (failed(result))
    return failure();
  std::string code;
  for (const std::string &part : parts)
    append(part, code);
  return code;
}
