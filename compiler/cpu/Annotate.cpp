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

/// Records for each result of a kernel which arguments it may overwrite.
static void annotate(kernel::FuncOp kernel, KernelPlan &plan) {
  auto tensors = kernel.getArguments().drop_front(kernel.getNumSizes());
  for (OpOperand &operand : kernel.getBody().front().getTerminator()->getOpOperands()) {
    SmallVector<int32_t> shared;
    for (auto [k, argument] : llvm::enumerate(tensors))
      if (mayShare(plan.getSchedule(), plan.getShapes(), operand.get(), argument))
        shared.push_back(k);
    kernel.setMayShare(operand.getOperandNumber(), shared);
  }
}

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
      annotate(kernel, plan);
    }
    markAnalysesPreserved<kernel::BodyAnalyses>();
  }
};

} // namespace
