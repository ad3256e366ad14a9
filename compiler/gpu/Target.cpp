//===- Target.cpp - The description of GPUs -------------------------------===//
//
// Describes the target of kernels on GPUs. All use of LLVM's names for GPUs is in this file.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/Target.h"
#include "compiler/gpu/Passes.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

namespace tfc::gpu {
#define GEN_PASS_DEF_GPUATTACHTARGETPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc::gpu

using namespace tfc;

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

/// The oldest version of PTX that has what capability 8.0 can do; drivers from CUDA 11.0 on accept
/// it.
static constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda", kProcessor = "sm_80",
                                     kFeatures = "+ptx70";

kernel::TargetAttr gpu::describeTarget(mlir::MLIRContext *context, bool emitsProducts,
                                       mlir::Type factors) {
  llvm::Triple triple(kTriple);
  // Caches of a multiprocessor and of the device; those of capability 8.0 are the smallest.
  constexpr int64_t kL1 = 128 << 10, kL2 = 40 << 20;
  return kernel::TargetAttr::get(
      context, kTriple, kProcessor, kFeatures, triple.computeDataLayout(), kL1, kL2,
      emitsProducts ? mlir::UnitAttr() : mlir::UnitAttr::get(context), factors);
}

std::unique_ptr<llvm::TargetMachine> gpu::makeTargetMachine(kernel::TargetAttr description,
                                                            std::string &error) {
  // Once for all threads: LLVM's list of targets is not locked.
  [[maybe_unused]] static const bool isRegistered = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  llvm::Triple triple(description.getTriple());
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, description.getProcessor(), description.getFeatures(),
                                  llvm::TargetOptions(), std::nullopt));
}

namespace {

/// Preserves all analyses if the description does not change.
struct GpuAttachTargetPass : gpu::impl::GpuAttachTargetPassBase<GpuAttachTargetPass> {
  using GpuAttachTargetPassBase::GpuAttachTargetPassBase;

  void runOnOperation() override {
    auto isForGpu = [](kernel::FuncOp kernel) { return kernel.getTarget() == gpu::kTargetName; };
    if (llvm::none_of(getOperation().getOps<kernel::FuncOp>(), isForGpu))
      return markAllAnalysesPreserved();
    mlir::Attribute target = gpu::describeTarget(&getContext(), products, factorType());
    mlir::NamedAttrList targets(kernel::getTargets(getOperation()));
    if (targets.set(gpu::kTargetName, target) == target)
      return markAllAnalysesPreserved();
    kernel::setTargets(getOperation(), targets.getDictionary(&getContext()));
  }

private:
  mlir::Type factorType() {
    switch (precision) {
    case gpu::Precision::F32:
      return {};
    case gpu::Precision::TF32:
      return mlir::FloatTF32Type::get(&getContext());
    case gpu::Precision::BF16:
      return mlir::BFloat16Type::get(&getContext());
    }
  }
};

} // namespace
