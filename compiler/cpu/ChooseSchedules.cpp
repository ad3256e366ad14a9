//===- ChooseSchedules.cpp - Schedules that measurements found ------------===//
//
// Lets kernels be computed in the ways that a file of schedules has for them, or in one that is to
// be measured. Kernels are found by what they compute, since their names and numbers change with
// the model. Runs before the weights are transformed and packed, which depends on the choice.
//
//===----------------------------------------------------------------------===//

#include "compiler/cpu/KernelPlan.h"
#include "compiler/cpu/Passes.h"
#include "compiler/kernels/Prepare.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

namespace tfc::cpu {
#define GEN_PASS_DEF_CPUCHOOSESCHEDULESPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc::cpu

using namespace mlir;
using namespace tfc;
using namespace tfc::cpu;

/// Hashes the text of a kernel without its name.
static std::string hashOf(kernel::FuncOp kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  kernel->print(os, OpPrintingFlags().useLocalScope().printGenericOpForm(false));
  StringRef body = StringRef(text).drop_until([](char c) { return c == '('; });
  return llvm::utohexstr(llvm::xxh3_64bits(body), /*LowerCase=*/true, /*Width=*/16);
}

/// Returns the ways of the only product of a kernel.
static SmallVector<std::string> waysOf(kernel::FuncOp kernel, bool winograd) {
  KernelPlan plan(kernel);
  SmallVector<linalg::GenericOp> products;
  if (!plan.failed())
    for (const Nest &nest : plan.getSchedule().nests())
      if (plan.productOf(nest))
        products.push_back(nest.sweeps.front().product->op);
  if (products.size() != 1)
    return {};
  return waysOf(plan.getShapes(), plan.getTarget(), products.front(), winograd);
}

namespace {

struct CpuChooseSchedulesPass : tfc::cpu::impl::CpuChooseSchedulesPassBase<CpuChooseSchedulesPass> {
  using CpuChooseSchedulesPassBase::CpuChooseSchedulesPassBase;

  void runOnOperation() override {
    auto kernels = kernels::findKernels(getOperation(), isForCpu);
    if (failed(kernels))
      return signalPassFailure();
    llvm::StringMap<StringRef> chosen;
    for (const std::string &choice : choices) {
      auto [hash, way] = StringRef(choice).split('=');
      chosen[hash] = way;
    }
    size_t unknown = 0;
    for (kernel::FuncOp kernel : *kernels)
      if (candidate >= 0)
        nameCandidate(kernel);
      else if (!chosen.empty())
        unknown += !nameChoice(kernel, chosen);
    if (unknown > 0)
      getOperation().emitWarning() << unknown << " of the measured schedules are none that kernels "
                                   << "can have, and are ignored: measure again";
  }

private:
  void nameCandidate(kernel::FuncOp kernel);
  /// Returns false if the kernel cannot be computed in the way that is chosen for its hash.
  bool nameChoice(kernel::FuncOp kernel, const llvm::StringMap<StringRef> &chosen);
};

} // namespace

void CpuChooseSchedulesPass::nameCandidate(kernel::FuncOp kernel) {
  SmallVector<std::string> ways = ::waysOf(kernel, winograd);
  if (ways.size() < 2)
    return;
  kernel::setSchedule(kernel, {ways[candidate < int64_t(ways.size()) ? candidate : 0],
                               hashOf(kernel), int64_t(ways.size())});
}

bool CpuChooseSchedulesPass::nameChoice(kernel::FuncOp kernel,
                                        const llvm::StringMap<StringRef> &chosen) {
  std::string hash = hashOf(kernel);
  auto choice = chosen.find(hash);
  if (choice == chosen.end())
    return true;
  SmallVector<std::string> ways = ::waysOf(kernel, winograd);
  if (!llvm::is_contained(ways, choice->second))
    return false;
  kernel::setSchedule(kernel, {choice->second, hash, int64_t(ways.size())});
  return true;
}
