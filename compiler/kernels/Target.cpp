//===- Target.cpp - Descriptions of targets -------------------------------===//
//
// Creates the description of a target from the name of a processor, and verifies descriptions. Only
// this file of the compiler looks at the machine on which it runs; the stages read the description.
//
//===----------------------------------------------------------------------===//

#include "compiler/kernels/Target.h"
#include "compiler/kernels/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include <unistd.h>

using namespace llvm;
using namespace tfc;
using namespace tfc::kernels;

namespace tfc::kernels {
#define GEN_PASS_DEF_ATTACHTARGET
#include "compiler/kernels/Passes.h.inc"
} // namespace tfc::kernels

static LogicalResult reportProcessor(mlir::ModuleOp module, StringRef name) {
  return module.emitError() << "'" << name << "' is not a 64-bit processor that LLVM supports";
}

static LogicalResult reportTriple(mlir::ModuleOp module, StringRef name) {
  return module.emitError() << "there is no code generator for '" << name << "'";
}

//===----------------------------------------------------------------------===//
// Triples
//===----------------------------------------------------------------------===//

static Triple hostTriple() { return Triple(sys::getDefaultTargetTriple()); }

/// Returns true if this machine runs code for the triple.
static bool isOfHost(const Triple &triple) {
  Triple host = hostTriple();
  return triple.getArch() == host.getArch() && triple.getOS() == host.getOS() &&
         triple.getEnvironment() == host.getEnvironment();
}

std::optional<Triple> kernels::findTriple(StringRef name) {
  if (name.empty())
    return hostTriple();
  Triple triple(Triple::normalize(name));
  if (isOfHost(triple))
    return triple;
  if (triple.getEnvironment() == Triple::UnknownEnvironment)
    triple.setEnvironment(Triple::GNU);
  bool isKnown = triple.getArch() == Triple::x86_64 || triple.getArch() == Triple::aarch64;
  if (!isKnown || !triple.isOSLinux() || triple.getEnvironment() != Triple::GNU)
    return std::nullopt;
  return triple;
}

//===----------------------------------------------------------------------===//
// Processors
//===----------------------------------------------------------------------===//

static Processor nativeProcessor() {
  std::vector<std::string> features;
  for (auto &feature : sys::getHostCPUFeatures())
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(features);
  return {sys::getHostCPUName().str(), join(features, ",")};
}

using Subtarget = std::unique_ptr<MCSubtargetInfo>;

/// Returns null if there is no code generator for the triple.
static Subtarget findSubtarget(const Triple &triple, StringRef processor, StringRef features) {
  InitializeAllTargets();
  InitializeAllTargetMCs();
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  return Subtarget(target ? target->createMCSubtargetInfo(triple, processor, features) : nullptr);
}

static bool isNative(StringRef name, const Triple &triple) {
  return isOfHost(triple) && (name.empty() || name == "native");
}

std::optional<Processor> kernels::findProcessor(StringRef name, const Triple &triple) {
  if (isNative(name, triple))
    return nativeProcessor();
  if (name.empty())
    name = triple.isX86() ? "x86-64" : "generic";
  Subtarget any = findSubtarget(triple, "", "");
  if (!any || !any->isCPUStringValid(name))
    return std::nullopt;
  Subtarget info = findSubtarget(triple, name, "");
  // LLVM aborts on processors that only run 32-bit code.
  if (triple.isX86() && triple.isArch64Bit() && !info->checkFeatures("+64bit"))
    return std::nullopt;
  std::vector<std::string> features;
  for (const SubtargetFeatureKV &feature : info->getEnabledProcessorFeatures())
    features.push_back(std::string("+") + feature.Key);
  return Processor{name.str(), join(features, ",")};
}

/// Returns the size of a cache of this machine in bytes, or a typical size.
static int64_t cacheBytes(bool isNative, int name, int64_t typical) {
  long bytes = isNative ? sysconf(name) : 0;
  return bytes > 0 ? bytes : typical;
}

/// Removes the products of bf16 of AArch64, which round sums of two products to odd numbers.
static std::string withoutRoughProducts(StringRef features, const Triple &triple) {
  SmallVector<StringRef> all;
  features.split(all, ',');
  if (triple.isAArch64())
    erase(all, "+bf16");
  return join(all, ",");
}

kernel::TargetAttr kernels::findTarget(mlir::MLIRContext *context, StringRef name,
                                       const Triple &triple, bool emitsProducts, bool isStrict) {
  std::optional<Processor> processor = findProcessor(name, triple);
  if (!processor)
    return {};
  bool native = isNative(name, triple);
  if (isStrict)
    processor->features = withoutRoughProducts(processor->features, triple);
  return kernel::TargetAttr::get(context, triple.str(), processor->name, processor->features,
                                 triple.computeDataLayout(),
                                 cacheBytes(native, _SC_LEVEL1_DCACHE_SIZE, 32 << 10),
                                 cacheBytes(native, _SC_LEVEL2_CACHE_SIZE, 512 << 10),
                                 emitsProducts ? mlir::UnitAttr() : mlir::UnitAttr::get(context),
                                 /*factors=*/{});
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Verifies that the features exist and leave what every 64-bit processor has, on which LLVM
/// relies.
static LogicalResult verifyFeatures(mlir::ModuleOp module, const Triple &triple,
                                    kernel::TargetAttr target) {
  Subtarget any = findSubtarget(triple, "", "");
  SmallVector<StringRef> features;
  target.getFeatures().split(features, ',', -1, /*KeepEmpty=*/false);
  for (StringRef feature : features) {
    bool isSigned = feature.starts_with("+") || feature.starts_with("-");
    auto isKnown = [&](const SubtargetFeatureKV &known) {
      return feature.drop_front() == known.Key;
    };
    if (!isSigned || !any_of(any->getAllProcessorFeatures(), isKnown))
      return module.emitError() << "'" << feature << "' is not a feature that LLVM supports";
  }
  if (!triple.isX86())
    return mlir::success();
  Subtarget all = findSubtarget(triple, target.getProcessor(), target.getFeatures());
  for (StringRef feature : {"64bit", "x87", "cmov", "sse2"})
    if (!all->checkFeatures(("+" + feature).str()))
      return module.emitError() << "the target lacks '" << feature
                                << "', which every 64-bit processor has";
  return mlir::success();
}

LogicalResult kernels::verifyTarget(mlir::ModuleOp module, kernel::TargetAttr target) {
  std::optional<Triple> known = findTriple(target.getTriple());
  if (!known || !findSubtarget(*known, "", ""))
    return reportTriple(module, target.getTriple());
  Triple triple(target.getTriple());
  if (!findProcessor(target.getProcessor(), triple))
    return reportProcessor(module, target.getProcessor());
  if (failed(verifyFeatures(module, triple, target)))
    return mlir::failure();
  std::string layout = triple.computeDataLayout();
  if (target.getLayout() == layout)
    return mlir::success();
  return module.emitError() << "expected the data layout of '" << target.getTriple() << "', '"
                            << layout << "', but got '" << target.getLayout() << "'";
}

namespace {

/// Preserves all analyses if the description does not change.
struct AttachTargetPass : kernels::impl::AttachTargetBase<AttachTargetPass> {
  using Base::Base;

  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    std::optional<Triple> known = findTriple(triple);
    if (!known) {
      (void)reportTriple(module, triple);
      return signalPassFailure();
    }
    kernel::TargetAttr target = findTarget(&getContext(), processor, *known, products, strict);
    if (!target) {
      (void)reportProcessor(module, processor);
      return signalPassFailure();
    }
    mlir::NamedAttrList targets(kernel::getTargets(module));
    if (targets.set(kernel::kDefaultTarget, target) == target)
      return markAllAnalysesPreserved();
    kernel::setTargets(module, targets.getDictionary(&getContext()));
  }
};

} // namespace
