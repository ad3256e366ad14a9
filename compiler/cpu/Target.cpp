#include "compiler/cpu/Target.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include <unistd.h>

using namespace tfc::cpu;

/// The features of the processor that runs the compiler, or of an x86 processor by name.
static llvm::StringMap<bool> featuresOf(llvm::StringRef cpu, bool native) {
  if (native)
    return llvm::sys::getHostCPUFeatures();
  llvm::SmallVector<llvm::StringRef> names;
  llvm::X86::getFeaturesForCPU(cpu, names);
  llvm::StringMap<bool> features;
  for (llvm::StringRef name : names) {
    features[name] = true;
    llvm::X86::updateImpliedFeatures(name, true, features);
  }
  return features;
}

/// `key=value` features in a fixed order, so that equal targets print equally.
static std::string featureString(const llvm::StringMap<bool> &features) {
  llvm::SmallVector<std::string> parts;
  for (const auto &feature : features)
    parts.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(parts);
  return llvm::join(parts, ",");
}

Target Target::get(llvm::StringRef cpu) {
  bool native = cpu.empty() || cpu == "native";
  Target target;
  target.cpu = native ? llvm::sys::getHostCPUName().str() : cpu.str();
  llvm::SmallVector<llvm::StringRef> known;
  llvm::X86::fillValidCPUArchList(known, /*Only64Bit=*/true);
  if (!native && !llvm::is_contained(known, cpu))
    return target;
  llvm::StringMap<bool> features = featuresOf(cpu, native);
  target.features = featureString(features);
  auto has = [&](llvm::StringRef name) { return features.lookup(name); };
  bool avx512 = has("avx512f") && has("avx512bw") && has("avx512vl") && has("avx512dq");
  target.vectorBits = avx512 ? 512 : has("avx") ? 256 : 128;
  target.vectorRegisters = avx512 ? 32 : 16;
  target.hasMaskedMemory = has("avx");
  target.hasMaskRegisters = avx512;
  target.hasFma = has("fma");
  if (native) {
    if (long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE); bytes > 0)
      target.l1Bytes = bytes;
    if (long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0)
      target.l2Bytes = bytes;
  }
  return target;
}
