// Annotates kernels with the arguments that their results may overwrite. Separate from code
// generation, because the memory plan, which chooses among these arguments, runs between the two.

#include "compiler/cpu/KernelPlan.h"
#include "compiler/cpu/Passes.h"
#include "compiler/kernels/Prepare.h"
#include "compiler/kernels/Sharing.h"

namespace tfc::cpu {
#define GEN_PASS_DEF_CPUANNOTATEPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc::cpu

using namespace mlir;
using namespace tfc::cpu;
using namespace tfc::kernels;
namespace kernel = tfc::kernel;

namespace {

/// Runs before the memory plan, which decides which of these buffers the results use.
struct CpuAnnotatePass : tfc::cpu::impl::CpuAnnotatePassBase<CpuAnnotatePass> {
  using CpuAnnotatePassBase::CpuAnnotatePassBase;

  void runOnOperation() override {
    auto kernels = findKernels(getOperation(), isForCpu);
    if (failed(kernels))
      return signalPassFailure();
    for (kernel::FuncOp kernel : *kernels) {
      auto &plan = getChildAnalysis<KernelPlan>(kernel);
      if (plan.failed())
        return signalPassFailure();
      annotateSharing(kernel, plan.getSchedule(), plan.getShapes());
    }
    markAnalysesPreserved<kernel::BodyAnalyses>();
  }
};

} // namespace
