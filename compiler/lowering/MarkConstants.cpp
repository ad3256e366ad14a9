//===- MarkConstants.cpp - Arguments that are always constants ------------===//
//
// Finds the arguments of kernels for which all launches pass constants that nothing else reads,
// such as the weights of an imported model. Code generation may choose the order of their elements.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Passes.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/kernel/Kernel.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_MARKCONSTANTS
#include "compiler/lowering/Passes.h.inc"
} // namespace tfc

/// Returns true if nothing but the kernel reads the constant, and it only as one argument.
static bool isReadAs(ConstantOp constant, StringRef kernel, unsigned argument) {
  return llvm::all_of(constant->getUses(), [&](OpOperand &use) {
    auto launch = dyn_cast<LaunchOp>(use.getOwner());
    return launch && launch.getKernel() == kernel && use.getOperandNumber() == argument;
  });
}

namespace {
struct MarkConstantsPass : tfc::impl::MarkConstantsBase<MarkConstantsPass> {
  using Base::Base;

  void runOnOperation() override {
    llvm::StringMap<SmallVector<LaunchOp>> launches;
    getOperation().walk([&](LaunchOp launch) { launches[launch.getKernel()].push_back(launch); });
    for (auto kernel : getOperation().getOps<tfc::kernel::FuncOp>())
      for (unsigned tensor = 0; tensor < kernel.getNumTensors(); ++tensor) {
        ArrayRef<LaunchOp> own = launches[kernel.getName()];
        bool isConstant = !own.empty() && llvm::all_of(own, [&](LaunchOp launch) {
          auto constant = launch.getInputs()[tensor].getDefiningOp<ConstantOp>();
          return constant && isReadAs(constant, kernel.getName(), tensor);
        });
        if (isConstant)
          kernel.setConstant(tensor);
      }
  }
};
} // namespace
