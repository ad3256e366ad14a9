// Transforms the weights of convolutions where that makes them faster.

#include "compiler/cpu/KernelPlan.h"
#include "compiler/cpu/Passes.h"
#include "compiler/cpu/WinogradForm.h"
#include "compiler/kernels/Prepare.h"
#include "dialects/dfg/Dfg.h"

namespace tfc::cpu {
#define GEN_PASS_DEF_CPUTRANSFORMWEIGHTSPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc::cpu

using namespace mlir;
using namespace tfc;
using namespace tfc::cpu;
using namespace tfc::kernels;

namespace {

/// A convolution of a kernel whose weights are transformed, with its tiles.
struct Choice {
  linalg::GenericOp op;
  ImageConvolution convolution;
};

/// Runs before anything else asks for the plans of kernels, and before the weights are packed.
struct CpuTransformWeightsPass
    : tfc::cpu::impl::CpuTransformWeightsPassBase<CpuTransformWeightsPass> {
  using CpuTransformWeightsPassBase::CpuTransformWeightsPassBase;

  void runOnOperation() override {
    auto kernels = findKernels(getOperation(), isForCpu);
    if (failed(kernels))
      return signalPassFailure();
    llvm::StringMap<SmallVector<dfg::LaunchOp>> launches;
    getOperation().walk(
        [&](dfg::LaunchOp launch) { launches[launch.getKernel()].push_back(launch); });
    for (kernel::FuncOp kernel : *kernels)
      if (std::optional<Choice> choice = choose(kernel))
        rewrite(kernel, *choice, launches[kernel.getName()]);
  }

private:
  static std::optional<Choice> choose(kernel::FuncOp kernel);
  static void rewrite(kernel::FuncOp kernel, const Choice &choice,
                      ArrayRef<dfg::LaunchOp> launches);
};

} // namespace

BlockArgument tfc::cpu::transformableWeights(linalg::GenericOp op) {
  std::optional<ImageConvolution> c = matchConvolution(op);
  auto weights = c ? dyn_cast<BlockArgument>(c->weights) : BlockArgument();
  auto kernel = op->getParentOfType<kernel::FuncOp>();
  bool isConstant = weights && weights.hasOneUse() && isa<BlockArgument>(c->image) &&
                    kernel.isConstant(weights.getArgNumber() - kernel.getNumSizes());
  return isConstant ? weights : BlockArgument();
}

/// A kernel that names a way is computed in that one.
std::optional<Choice> CpuTransformWeightsPass::choose(kernel::FuncOp kernel) {
  Target target = Target::get(kernel.getTargetDescription());
  if (!target.emitsProducts)
    return std::nullopt;
  StringRef way = kernel::scheduleOf(kernel).way;
  for (auto op : kernel.getBody().getOps<linalg::GenericOp>()) {
    if (!transformableWeights(op))
      continue;
    if (!way.empty() && !way.starts_with(kWinogradWay))
      continue;
    std::optional<ImageConvolution> tiled = chooseTiles(target, *matchConvolution(op), way);
    if (tiled && (!way.empty() || isWinogradFaster(target, *tiled)))
      return Choice{op, *tiled};
  }
  return std::nullopt;
}

void CpuTransformWeightsPass::rewrite(kernel::FuncOp kernel, const Choice &choice,
                                      ArrayRef<dfg::LaunchOp> launches) {
  auto weights = cast<BlockArgument>(choice.convolution.weights);
  unsigned tensor = weights.getArgNumber() - kernel.getNumSizes();
  llvm::MapVector<dfg::ConstantOp, ElementsAttr> constants;
  for (dfg::LaunchOp launch : launches) {
    auto constant = launch.getInputs()[tensor].getDefiningOp<dfg::ConstantOp>();
    ElementsAttr &value = constants[constant];
    if (!value)
      value = transformWeights(choice.convolution, constant.getValue());
    if (!value)
      return;
  }
  auto type = cast<RankedTensorType>(weights.getType());
  type = type.clone(choice.convolution.transformedShape());
  for (auto &[constant, value] : constants) {
    constant.setValueAttr(value);
    constant.getResult().setType(type);
  }
  weights.setType(type);
  kernel.setFunctionType(FunctionType::get(
      kernel.getContext(), kernel.getBody().front().getArgumentTypes(), kernel.getResultTypes()));
  linalg::GenericOp op = choice.op;
  OpBuilder b(op);
  op.getDpsInputOperand(1)->set(recoverWeights(b, op.getLoc(), choice.convolution, weights));
}
