// Defines the table of stages, the passes of each, and the optimisations that can be disabled. The
// stages are run in RunStages.cpp.
#include "compiler/pipeline/Pipeline.h"
#include "compiler/autodiff/Passes.h"
#include "compiler/controlflow/Passes.h"
#include "compiler/cpu/Passes.h"
#include "compiler/fusion/Passes.h"
#include "compiler/gpu/Passes.h"
#include "compiler/host/Passes.h"
#include "compiler/kernels/Passes.h"
#include "compiler/lowering/Passes.h"
#include "compiler/memory/Passes.h"
#include "compiler/partition/Passes.h"
#include "compiler/placement/Passes.h"
#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "dialects/rt/Rt.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/Extensions/AllExtensions.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tfc;

//===----------------------------------------------------------------------===//
// The stages
//===----------------------------------------------------------------------===//

// The frontend has created the module; its row exists for --stop-after.
static void addNothing(OpPassManager &, const PipelineOptions &) {}

static void addControlFlow(OpPassManager &passes, const PipelineOptions &) {
  passes.addPass(createStructureControlFlow());
}

static void addAutodiff(OpPassManager &passes, const PipelineOptions &options) {
  // Gradients flow through values, so variables must become values first.
  passes.addPass(createResolveState());
  if (options.isEnabled("hoist"))
    passes.addPass(createHoistProducts());
  passes.addPass(createBuildGradients({options.maxOperations}));
}

static void addSimplify(OpPassManager &passes, const PipelineOptions &options) {
  // After autodiff, which needs composites as a whole; its gradients need checks of their own.
  passes.addPass(createInsertChecks());
  passes.addPass(createDecomposeComposites());
  passes.addPass(createLimitSizes());
  passes.addPass(createNumberLists({/*divides=*/!options.devicesFile.empty()}));
  auto add = [&](StringRef name, auto create) {
    if (options.isEnabled(name))
      passes.addPass(create());
  };
  add("fold", [] { return createFoldConstants(); });
  add("algebra", [] { return createSimplifyAlgebra(); });
  add("hoist", [] { return createHoistInvariants(); });
  add("hoist", [] { return createSumAfterLoops(); });
  add("canonicalize", [] { return createCanonicalizerPass(); });
  add("cse", [] { return createCSEPass(); });
  add("tapes", [] { return createDropTapes(); });
}

static void addPlacement(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createPlaceOperations({options.device, options.cluster, options.devicesFile,
                                        options.movesUnsupported, options.explainsPlacement}));
  // Before weights are stored otherwise.
  if (options.isEnabled("integers"))
    passes.addPass(createIntegerProducts());
  if (options.isEnabled("algebra"))
    passes.addPass(createDivideProducts());
  if (options.weights != Weights::F32)
    passes.addPass(createStoreWeights({/*bytes=*/options.weights == Weights::Int8}));
  if (!options.isStrict && options.isEnabled("winograd"))
    passes.addPass(createWinogradVariables());
}

static void addPartition(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createOrderByQueues());
  passes.addPass(createSinkReads());
  passes.addPass(createCopyToReaders());
  passes.addPass(createNumberEpochs());
  if (options.isEnabled("partition"))
    passes.addPass(createPartitionEntries());
  passes.addPass(createHoistReads());
  passes.addPass(createCheckMessages());
}

static void addFusion(OpPassManager &passes, const PipelineOptions &options) {
  FormKernelsOptions fusion;
  fusion.fuse = options.isEnabled("fuse");
  fusion.joinAttention = options.isEnabled("attention");
  fusion.printReport = options.verbose;
  fusion.probe = options.probe;
  passes.addPass(createFormKernels(fusion));
}

static void addLowering(OpPassManager &passes, const PipelineOptions &) {
  passes.addPass(createLowerKernels());
  passes.addPass(createMarkConstants());
}

// Kernels take the description of their target from the module. It comes before each stage that
// reads it, for the pipeline may start at any of them.
static void addTarget(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(kernels::createAttachTarget(
      {options.triple, options.cpu, options.isEnabled("products"), options.isStrict}));
  passes.addPass(
      gpu::createGpuAttachTargetPass({options.isEnabled("products"), options.precision}));
}

// The loops of a kernel determine which operands it may overwrite, which the memory plan needs.
static void addSchedule(OpPassManager &passes, const PipelineOptions &options) {
  addTarget(passes, options);
  passes.addPass(kernels::createPrepareKernels());
  bool transforms = !options.isStrict && options.isEnabled("winograd");
  if (!options.schedules.empty() || options.candidate >= 0)
    passes.addPass(cpu::createCpuChooseSchedulesPass(
        {llvm::to_vector(options.schedules), options.candidate, transforms}));
  if (options.traces)
    passes.addPass(kernels::createMeasureWork());
  if (transforms)
    passes.addPass(cpu::createCpuTransformWeightsPass());
  if (options.isEnabled("pack")) {
    passes.addPass(cpu::createCpuPackWeightsPass());
    passes.addPass(createPackConstants());
  }
  if (!options.isEnabled("share"))
    return;
  passes.addPass(gpu::createGpuAnnotatePass());
  passes.addPass(cpu::createCpuAnnotatePass());
}

static void addMemory(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createPlanMemory());
  if (options.isEnabled("guard"))
    passes.addPass(createGuardUpdates());
  passes.addPass(createCheckMessages());
}

static void addKernels(OpPassManager &passes, const PipelineOptions &options) {
  addTarget(passes, options);
  passes.addPass(kernels::createPrepareKernels());
  if (options.traces)
    passes.addPass(kernels::createMeasureWork());
  passes.addPass(gpu::createGpuCodegenPass());
  passes.addPass(cpu::createCpuCodegenPass());
}

// After the kernels: the arena holds their scratch, and their grain decides who runs them.
static void addHost(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createAllocateArena());
  passes.addPass(createBuildHost({options.verbose, options.traces}));
  passes.addPass(createSplitHost());
}

// A call of the runtime that may end the entry must be in a block of the function, not in a region.
static void addCodegen(OpPassManager &passes, const PipelineOptions &options) {
  gpu::buildGpuLoweringPipeline(passes, options.optLevel, options.capabilities);
  cpu::buildCpuLoweringPipeline(passes);
  passes.addPass(createLowerRt());
}

static constexpr Stage kStages[] = {
    {"frontend", "entries and variables, as the author wrote them", addNothing},
    {"controlflow", "branches and loops are regions; no value is dead", addControlFlow},
    {"autodiff", "state is values; no gradients are left", addAutodiff},
    {"simplify", "no redundant operations are left", addSimplify},
    {"placement", "every operation has a device", addPlacement},
    {"partition", "an entry is a function for each device", addPartition},
    {"fusion", "entries launch kernels", addFusion},
    {"lowering", "kernels are linalg on tensors", addLowering},
    {"schedule", "kernels declare which operands their results may overwrite", addSchedule},
    {"memory", "launches are in order and every result has its memory", addMemory},
    {"kernels", "kernels are loops over memory", addKernels},
    {"host", "a host function runs each entry", addHost},
    {"codegen", "kernels and host functions are in the LLVM dialect", addCodegen},
};

//===----------------------------------------------------------------------===//
// Leaving optimisations out
//===----------------------------------------------------------------------===//

static constexpr Optimization kOptimizations[] = {
    {"fold", "operations on constants"},
    {"algebra", "identities across operations"},
    {"integers", "products of quantised tensors as sums of integers"},
    {"hoist", "hoisting invariant operations out of loops"},
    {"canonicalize", "folds of single operations, and unused operations"},
    {"cse", "common subexpressions"},
    {"tapes", "removal of unused tapes"},
    {"partition", "a function for each device of an entry"},
    {"fuse", "kernels of more than one operation"},
    {"attention", "attention in kernels that do not store its scores"},
    {"winograd", "convolutions with fewer multiplications and larger errors"},
    {"pack", "weights in the order in which products read them"},
    {"share", "results in the memory of operands"},
    {"guard", "checks by a GPU before it changes variables"},
    {"products", "special code for matrix products"},
};

// -O0 disables the optimisations of the graph. Memory planning and code are the same at all levels.
static constexpr StringLiteral kOfAllLevels[] = {"partition", "share", "guard", "products"};

ArrayRef<Optimization> tfc::getOptimizations() { return kOptimizations; }

bool PipelineOptions::isEnabled(StringRef name) const {
  return (optLevel > 0 || llvm::is_contained(kOfAllLevels, name)) &&
         !llvm::is_contained(disabled, name);
}

//===----------------------------------------------------------------------===//
// Looking them up
//===----------------------------------------------------------------------===//

ArrayRef<Stage> tfc::getStages() { return kStages; }

std::optional<unsigned> tfc::findStage(StringRef name) {
  for (auto [i, stage] : llvm::enumerate(getStages()))
    if (stage.name == name)
      return i;
  return std::nullopt;
}

DialectRegistry tfc::makeDialectRegistry() {
  DialectRegistry registry;
  registry.insert<affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect, DLTIDialect,
                  func::FuncDialect, index::IndexDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect, tensor::TensorDialect, ub::UBDialect,
                  vector::VectorDialect, dfg::DfgDialect, kernel::KernelDialect,
                  linalg_ext::LinalgExtDialect, rt::RtDialect>();
  func::registerAllExtensions(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  return registry;
}
