// Chooses the order of the elements of constants, as the register tiles of products read them.

#include "compiler/cpu/KernelPlan.h"
#include "compiler/cpu/Passes.h"
#include "compiler/kernels/Prepare.h"

namespace tfc::cpu {
#define GEN_PASS_DEF_CPUPACKWEIGHTSPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc::cpu

using namespace mlir;
using namespace tfc::cpu;
using namespace tfc::kernels;
namespace kernel = tfc::kernel;

namespace {

/// Runs before anything else asks for the plans of kernels, which depend on the order.
struct CpuPackWeightsPass : tfc::cpu::impl::CpuPackWeightsPassBase<CpuPackWeightsPass> {
  using CpuPackWeightsPassBase::CpuPackWeightsPassBase;

  void runOnOperation() override {
    auto kernels = findKernels(getOperation(), isForCpu);
    if (failed(kernels))
      return signalPassFailure();
    for (kernel::FuncOp kernel : *kernels) {
      bool hasConstants = false;
      for (unsigned tensor = 0; tensor < kernel.getNumTensors(); ++tensor)
        hasConstants |= kernel.isConstant(tensor);
      if (hasConstants && failed(choose(kernel)))
        return signalPassFailure();
    }
  }

private:
  static LogicalResult choose(kernel::FuncOp kernel) {
    KernelPlan plan(kernel);
    if (plan.failed())
      return failure();
    for (const Nest &nest : plan.getSchedule().nests())
      if (plan.productOf(nest))
        if (auto packing =
                choosePacking(plan.getShapes(), plan.getTarget(), nest.sweeps.front().product->op))
          kernel.setPacking(packing->first, packing->second);
    return success();
  }
};

} // namespace
