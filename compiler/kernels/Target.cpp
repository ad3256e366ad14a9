//===- Target.cpp - Descriptions of targets -------------------------------===//

#include "compiler/kernels/Target.h"
#include "compiler/kernels/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <unistd.h>

using namespace llvm;
using namespace tfc;
using namespace tfc::kernels;

namespace tfc::kernels {
#define GEN_PASS_DEF_ATTACHTARGET
#include "compiler/kernels/Passes.h.inc"
} // namespace tfc::kernels

static bool isNative(StringRef name) { return name.empty() || name == "native"; }

static Processor nativeProcessor() {
  std::vector<std::string> features;
  for (auto &feature : sys::getHostCPUFeatures())
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(features);
  return {sys::getHostCPUName().str(), join(features, ",")};
}

std::optional<Processor> kernels::findProcessor(StringRef name) {
  if (isNative(name))
    return nativeProcessor();
  InitializeNativeTarget();
  Triple triple(sys::getDefaultTargetTriple());
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return std::nullopt;
  std::unique_ptr<MCSubtargetInfo> any(target->createMCSubtargetInfo(triple, "", ""));
  if (!any || !any->isCPUStringValid(name))
    return std::nullopt;
  std::unique_ptr<MCSubtargetInfo> info(target->createMCSubtargetInfo(triple, name, ""));
  // LLVM aborts on processors that only run 32-bit code.
  if (triple.isX86() && triple.isArch64Bit() && !info->checkFeatures("+64bit"))
    return std::nullopt;
  std::vector<std::string> features;
  for (const SubtargetFeatureKV &feature : info->getEnabledProcessorFeatures())
    features.push_back(std::string("+") + feature.Key);
  return Processor{name.str(), join(features, ",")};
}

/// Returns the size of a cache of this machine in bytes, or a typical size.
static int64_t cacheBytes(StringRef processor, int name, int64_t typical) {
  long bytes = isNative(processor) ? sysconf(name) : 0;
  return bytes > 0 ? bytes : typical;
}

kernel::TargetAttr kernels::findTarget(mlir::MLIRContext *context, StringRef name,
                                       bool emitsProducts) {
  std::optional<Processor> processor = findProcessor(name);
  if (!processor)
    return {};
  Triple triple(sys::getDefaultTargetTriple());
  return kernel::TargetAttr::get(context, triple.str(), processor->name, processor->features,
                                 triple.computeDataLayout(),
                                 cacheBytes(name, _SC_LEVEL1_DCACHE_SIZE, 32 << 10),
                                 cacheBytes(name, _SC_LEVEL2_CACHE_SIZE, 512 << 10),
                                 emitsProducts ? mlir::UnitAttr() : mlir::UnitAttr::get(context));
}

namespace {

/// Preserves all analyses if the description does not change.
struct AttachTargetPass : kernels::impl::AttachTargetBase<AttachTargetPass> {
  using Base::Base;

  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    kernel::TargetAttr target = findTarget(&getContext(), processor, products);
    if (!target) {
      module.emitError() << "'" << processor << "' is not a 64-bit processor that LLVM supports";
      return signalPassFailure();
    }
    mlir::NamedAttrList targets(kernel::getTargets(module));
    if (targets.set(kernel::kDefaultTarget, target) == target)
      return markAllAnalysesPreserved();
    kernel::setTargets(module, targets.getDictionary(&getContext()));
  }
};

} // namespace
