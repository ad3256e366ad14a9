#include "compiler/pipeline/Pipeline.h"
#include "compiler/autodiff/Passes.h"
#include "compiler/controlflow/Passes.h"
#include "compiler/cpu/Passes.h"
#include "compiler/fusion/Passes.h"
#include "compiler/lowering/Passes.h"
#include "compiler/memory/Passes.h"
#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/linalg_ext/LinalgExt.h"
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

// The frontend makes the module; its row is there to be stopped after.
static void addNothing(OpPassManager &, const PipelineOptions &) {}

static void addControlFlow(OpPassManager &passes, const PipelineOptions &) {
  passes.addPass(createStructureControlFlow());
}

static void addAutodiff(OpPassManager &passes, const PipelineOptions &options) {
  // Gradients go through values, so what variables hold must be values first.
  passes.addPass(createResolveState());
  passes.addPass(createBuildGradients({options.maxOperations}));
}

static void addSimplify(OpPassManager &passes, const PipelineOptions &options) {
  // Behind autodiff, which wants composites whole; its gradients need checks of their own.
  passes.addPass(createInsertChecks());
  passes.addPass(createDecomposeComposites());
  passes.addPass(createLimitSizes());
  auto add = [&](StringRef name, auto create) {
    if (options.isEnabled(name))
      passes.addPass(create());
  };
  add("fold", [] { return createFoldConstants(); });
  add("algebra", [] { return createSimplifyAlgebra(); });
  add("hoist", [] { return createHoistInvariants(); });
  add("canonicalize", [] { return createCanonicalizerPass(); });
  add("cse", [] { return createCSEPass(); });
  add("tapes", [] { return createDropTapes(); });
}

static void addFusion(OpPassManager &passes, const PipelineOptions &options) {
  FormKernelsOptions fusion;
  fusion.fuse = options.isEnabled("fuse");
  fusion.printReport = options.verbose;
  fusion.probe = options.probe;
  passes.addPass(createFormKernels(fusion));
}

static void addLowering(OpPassManager &passes, const PipelineOptions &) {
  passes.addPass(createLowerKernels());
}

// What a kernel may overwrite follows from its loops, and the plan needs it.
static void addSchedule(OpPassManager &passes, const PipelineOptions &options) {
  if (options.isEnabled("share"))
    passes.addPass(cpu::createCpuAnnotatePass({options.cpu, options.isEnabled("products")}));
}

static void addMemory(OpPassManager &passes, const PipelineOptions &) {
  passes.addPass(createPlanMemory());
}

// The host functions need the kernels' scratch, grain and extent, so they come behind code
// generation; the lowering to LLVM's dialect is for both.
static void addCodegen(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(cpu::createCpuCodegenPass({options.cpu, options.isEnabled("products")}));
  EmitHostOptions host;
  host.printReport = options.verbose;
  passes.addPass(createEmitHost(host));
  cpu::buildCpuLoweringPipeline(passes);
}

static constexpr Stage kStages[] = {
    {"frontend", "entries and variables, as the author wrote them", addNothing},
    {"controlflow", "branches and loops are regions; no value is dead", addControlFlow},
    {"autodiff", "state is values; no gradients are left", addAutodiff},
    {"simplify", "no operation that another makes unnecessary", addSimplify},
    {"fusion", "entries launch kernels", addFusion},
    {"lowering", "kernels are linalg on tensors", addLowering},
    {"schedule", "kernels say what their results may overwrite", addSchedule},
    {"memory", "launches are in order and every result has its place", addMemory},
    {"codegen", "kernels and host functions are in the LLVM dialect", addCodegen},
};

//===----------------------------------------------------------------------===//
// Leaving optimisations out
//===----------------------------------------------------------------------===//

static constexpr Optimization kOptimizations[] = {
    {"fold", "operations on constants"},
    {"algebra", "identities across operations"},
    {"hoist", "moving what does not change out of loops"},
    {"canonicalize", "folds of single operations, and what nobody reads"},
    {"cse", "common subexpressions"},
    {"tapes", "dropping tapes that nobody reads"},
    {"fuse", "kernels of more than one operation"},
    {"share", "results in the memory of operands"},
    {"products", "code of its own for matrix products"},
};

// Those of the graph go with -O0. Memory and code are the same at all levels.
static constexpr StringLiteral kOfAllLevels[] = {"share", "products"};

ArrayRef<Optimization> tfc::getOptimizations() { return kOptimizations; }

bool PipelineOptions::isEnabled(StringRef name) const {
  return (optLevel > 0 || llvm::is_contained(kOfAllLevels, name)) &&
         !llvm::is_contained(disabled, name);
}

//===----------------------------------------------------------------------===//
// Running them
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
                  vector::VectorDialect, dfg::DfgDialect, linalg_ext::LinalgExtDialect>();
  func::registerAllExtensions(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  return registry;
}

static void dump(ModuleOp module, const Stage &stage) {
  llvm::errs() << "// after " << stage.name << ": " << stage.guarantee << '\n';
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs().elideLargeResourceString();
  module.print(llvm::errs(), flags);
  llvm::errs() << '\n';
}

static LogicalResult runStage(ModuleOp module, const Stage &stage, const PipelineOptions &options,
                              Timer timing) {
  PassManager passes(module.getContext());
  stage.addPasses(passes, options);
  if (passes.empty())
    return success();
  TimingScope scope = timing.nest(stage.name);
  passes.enableTiming(scope);
  return passes.run(module);
}

LogicalResult tfc::runStages(ModuleOp module, const PipelineOptions &options, Timer timing) {
  unsigned begin = 0;
  if (!options.startAfter.empty())
    begin = *findStage(options.startAfter) + 1;
  for (const Stage &stage : getStages().drop_front(begin)) {
    if (failed(runStage(module, stage, options, timing)))
      return failure();
    if (options.onStage)
      options.onStage(stage.name, module);
    if (options.dumpAfter == "all" || options.dumpAfter == stage.name)
      dump(module, stage);
    if (options.stopAfter == stage.name)
      break;
  }
  return success();
}
