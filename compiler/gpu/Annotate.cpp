// Annotates kernels with the arguments that their results may overwrite.

#include "compiler/gpu/GridPlan.h"
#include "compiler/gpu/Passes.h"
#include "compiler/kernels/Prepare.h"
#include "compiler/kernels/Sharing.h"

namespace tfc::gpu {
#define GEN_PASS_DEF_GPUANNOTATEPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc::gpu

using namespace mlir;
using namespace tfc::gpu;
namespace kernel = tfc::kernel;

namespace {

/// Runs before the memory plan, which decides which of these buffers the results use.
struct GpuAnnotatePass : tfc::gpu::impl::GpuAnnotatePassBase<GpuAnnotatePass> {
  using GpuAnnotatePassBase::GpuAnnotatePassBase;

  void runOnOperation() override {
    auto kernels = findKernels(getOperation(), isForGpu);
    if (failed(kernels))
      return signalPassFailure();
    for (kernel::FuncOp kernel : *kernels) {
      auto &plan = getChildAnalysis<GridPlan>(kernel);
      if (plan.failed())
        return signalPassFailure();
      annotateSharing(kernel, plan.getSchedule(), plan.getShapes());
    }
    markAnalysesPreserved<kernel::BodyAnalyses>();
  }
};

} // namespace
