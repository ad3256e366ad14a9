//===- RunStages.cpp - Running the stages ---------------------------------===//
//
// All stages are one pass manager, which keeps the analyses of kernels from one
// stage to the next. A pass between two stages shows the module to those who
// asked for it.
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/Pipeline.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/rt/Rt.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassInstrumentation.h"

using namespace mlir;
using namespace tfc;

static void dump(ModuleOp module, const Stage &stage) {
  llvm::errs() << "// after " << stage.name << ": " << stage.guarantee << '\n';
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs().elideLargeResourceString();
  module.print(llvm::errs(), flags);
  llvm::errs() << '\n';
}

namespace {

/// Ends a stage.
struct StageEnd : PassWrapper<StageEnd, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StageEnd)

  StageEnd(const Stage &stage, const PipelineOptions &options) : stage(stage), options(options) {}

  void runOnOperation() override {
    if (options.onStage)
      options.onStage(stage.name, getOperation());
    else
      markAllAnalysesPreserved();
    if (options.dumpAfter == "all" || options.dumpAfter == stage.name)
      dump(getOperation(), stage);
  }

  const Stage &stage;
  const PipelineOptions &options;
};

/// Times each pass below the stage that it belongs to, and announces the stages.
class StageTiming : public PassInstrumentation {
public:
  StageTiming(Timer timing, ArrayRef<Stage> stages, const PipelineOptions &options)
      : timing(timing), stages(stages), options(options) {
    begin();
  }

  void runBeforePass(Pass *pass, Operation *op) override {
    // A group of passes that run on each function has no argument.
    if (isa<ModuleOp>(op) && !isa<StageEnd>(pass))
      current = stage.nest(pass->getArgument().empty() ? "Functions" : pass->getName());
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    if (isa<StageEnd>(pass))
      begin();
    else if (isa<ModuleOp>(op))
      current.stop();
  }
  void runAfterPassFailed(Pass *pass, Operation *op) override { runAfterPass(pass, op); }

private:
  void begin() {
    stage.stop();
    if (stages.empty())
      return;
    stage = TimingScope(timing.nest(stages.front().name));
    if (options.onBegin)
      options.onBegin(stages.front().name);
    stages = stages.drop_front();
  }

  Timer timing;
  ArrayRef<Stage> stages;
  const PipelineOptions &options;
  TimingScope stage, current;
};

} // namespace

/// Verifies that the entries describe the model still; code generation replaces them by functions.
static LogicalResult verifyHasEntries(ModuleOp module) {
  if (!module.getOps<dfg::EntryOp>().empty())
    return success();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (rt::isEntryFunction(function))
      return function.emitError("the entries of this module have already been compiled to code and "
                                "cannot be called; expected the output of a stage before 'host'");
  return success();
}

LogicalResult tfc::runStages(ModuleOp module, const PipelineOptions &options, Timer timing) {
  if (failed(verifyHasEntries(module)))
    return failure();
  unsigned begin = options.startAfter.empty() ? 0 : *findStage(options.startAfter) + 1;
  ArrayRef<Stage> stages = getStages().drop_front(begin);
  auto isLast = [&](const Stage &stage) { return stage.name == options.stopAfter; };
  if (const Stage *last = llvm::find_if(stages, isLast); last != stages.end())
    stages = stages.take_front(last - stages.begin() + 1);
  PassManager passes(module.getContext());
  for (const Stage &stage : stages) {
    stage.addPasses(passes, options);
    passes.addPass(std::make_unique<StageEnd>(stage, options));
  }
  passes.addInstrumentation(std::make_unique<StageTiming>(timing, stages, options));
  return stages.empty() ? success() : passes.run(module);
}
