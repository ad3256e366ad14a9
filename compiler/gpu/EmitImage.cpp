//===- EmitImage.cpp - PTX of a GPU's functions ---------------------------===//
//
// Compiles the functions of a GPU with LLVM's code generator, which ends the process where it
// cannot select an instruction. So what it is given is checked before (Selectable.h).
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/Assembler.h"
#include "compiler/gpu/Legalize.h"
#include "compiler/gpu/Libclc.h"
#include "compiler/gpu/Passes.h"
#include "compiler/gpu/Selectable.h"
#include "compiler/gpu/Target.h"
#include "mlir/Target/LLVMIR/Export.h"
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
    return function && function->getCallingConv() == llvm::CallingConv::PTX_Kernel;
  });
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && function.getCallingConv() != llvm::CallingConv::PTX_Kernel) {
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

FailureOr<std::string> GpuEmitImagePass::compile(ModuleOp device) {
  std::string error;
  DictionaryAttr targets = kernel::getTargets(device);
  auto target = targets ? targets.getAs<kernel::TargetAttr>(kTargetName) : kernel::TargetAttr();
  if (!target ||
      target != describeTarget(&getContext(), !target.getWithoutProducts(), target.getFactors()))
    return device.emitError("expected the description of GPUs by tfc-gpu-attach-target");
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(target, error);
  if (!machine)
    return device.emitError() << "cannot generate code for a GPU: " << error;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(device, context, kDeviceCode);
  if (!module)
    return failure();
  module->setDataLayout(machine->createDataLayout());
  module->setTargetTriple(machine->getTargetTriple());
  if (!linkLibclc(*module, error))
    return device.emitError() << error;
  setFloatMode(*module);
  inlineFunctions(*module);
  optimize(*module, *machine, optLevel);
  legalize(*module);
  if (failed(checkSelectable(*module, device)))
    return failure();
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return device.emitError("cannot generate code for a GPU");
  passes.run(*module);
  return std::string(text.data(), text.size());
}
