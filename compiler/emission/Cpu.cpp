#include "compiler/emission/Cpu.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace tfc;

static CpuName nativeCpu() {
  std::vector<std::string> features;
  for (auto &feature : sys::getHostCPUFeatures())
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(features);
  return {sys::getHostCPUName().str(), join(features, ",")};
}

std::optional<CpuName> tfc::findCpu(StringRef name) {
  if (name.empty() || name == "native")
    return nativeCpu();
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
  // LLVM ends the process where it meets one that has only 32 bits.
  if (triple.isX86() && triple.isArch64Bit() && !info->checkFeatures("+64bit"))
    return std::nullopt;
  std::vector<std::string> features;
  for (const SubtargetFeatureKV &feature : info->getEnabledProcessorFeatures())
    features.push_back(std::string("+") + feature.Key);
  return CpuName{name.str(), join(features, ",")};
}
