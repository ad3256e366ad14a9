//===- Shrink.cpp - Small programs that fail ------------------------------===//
//
// Tries edits, each on a copy, and keeps those after which the program still
// fails. Values that an edit leaves unused are removed with it.
//
//===----------------------------------------------------------------------===//

#include "Compare.h"
#include "Edit.h"
#include "dialects/dfg/SizeOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

/// Names of data-dependent sizes.
static llvm::StringSet<> foundSizes(ModuleOp module) {
  llvm::StringSet<> names;
  module.walk([&](BindSizeOp op) { names.insert(op.getName()); });
  return names;
}

/// Returns true if a feed has one of the sizes.
static bool feedsName(ModuleOp module, const llvm::StringSet<> &sizes) {
  SmallVector<std::string> names;
  for (auto entry : module.getOps<EntryOp>())
    for (Type type : entry.getArgumentTypes())
      for (const DimExpr &size : shapeOf(type))
        size.collectSymbols(names);
  return llvm::any_of(names, [&](StringRef name) { return sizes.contains(name); });
}

namespace {

class Shrinker {
public:
  Shrinker(Program &program, llvm::function_ref<bool(const Program &)> fails)
      : program(program), fails(fails), found(foundSizes(*program.module)) {}

  void run() {
    shrinkCalls();
    shrinkDevices();
    for (bool hasProgress = true; hasProgress;) {
      hasProgress = shrinkEntries();
      hasProgress |= shrinkOperations();
      hasProgress |= shrinkSizes();
      hasProgress |= shrinkDevices();
      hasProgress |= shrinkCalls();
    }
  }

private:
  /// Keeps the changes of `edit` if the program still fails; `edit` returns true if it changed
  /// anything.
  bool attempt(llvm::function_ref<bool(Program &)> edit) {
    Program trial = program.clone();
    ScopedDiagnosticHandler quiet(trial.module->getContext(),
                                  [](Diagnostic &) { return success(); });
    if (!edit(trial))
      return false;
    removeUnused(*trial.module);
    if (failed(verify(*trial.module)) || feedsName(*trial.module, found) || !fails(trial))
      return false;
    program = std::move(trial);
    return true;
  }

  bool shrinkCalls();
  bool shrinkDevices();
  bool shrinkEntries();
  bool shrinkOperations();
  bool shrinkSizes();

  Program &program;
  llvm::function_ref<bool(const Program &)> fails;
  llvm::StringSet<> found; // data-dependent sizes, which no feed determines
};

} // namespace

bool Shrinker::shrinkCalls() {
  bool hasProgress = false;
  for (const CallPlan &call : std::vector(program.calls))
    hasProgress |= attempt([&](Program &trial) {
      llvm::erase_if(trial.calls, [&](const CallPlan &other) { return other.entry != call.entry; });
      return trial.calls.size() < program.calls.size() && removeUncalled(trial);
    });
  for (size_t i = program.calls.size(); i-- > 0 && program.calls.size() > 1;)
    hasProgress |= attempt([&](Program &trial) {
      trial.calls.erase(trial.calls.begin() + i);
      return true;
    });
  for (size_t i = 0; i < program.calls.size(); ++i)
    for (const auto &[name, size] : std::map(program.calls[i].sizes))
      for (int64_t smaller : {int64_t(1), size / 2, size - 1})
        if (smaller >= 0 && smaller < program.calls[i].sizes[name] && attempt([&](Program &trial) {
              trial.calls[i].sizes[name] = smaller;
              return true;
            })) {
          hasProgress = true;
          break;
        }
  return hasProgress;
}

bool Shrinker::shrinkEntries() {
  bool hasProgress = attempt([](Program &trial) { return removeUncalled(trial); });
  for (const CallPlan &call : std::vector(program.calls)) {
    size_t count = countFetches(*program.module, call.entry);
    // One of them is enough, most of the time.
    for (size_t i = 0; i < count && count > 1; ++i)
      if (attempt([&](Program &trial) { return keepFetch(*trial.module, call.entry, i); })) {
        count = 1;
        hasProgress = true;
      }
    for (size_t i = count; i-- > 0 && count > 1;)
      hasProgress |=
          attempt([&](Program &trial) { return dropFetch(*trial.module, call.entry, i); });
  }
  return hasProgress;
}

/// Drops names of devices: half of those that are left at once, then single ones.
bool Shrinker::shrinkDevices() {
  bool hasProgress = attempt([](Program &trial) { return joinDevices(*trial.module); });
  size_t count = placedOperationsOf(*program.module).size();
  for (size_t length = count / 2; length > 0; length /= 2)
    for (size_t end = placedOperationsOf(*program.module).size(); end > 0;) {
      size_t begin = end - std::min(end, length);
      hasProgress |=
          attempt([&](Program &trial) { return dropDevices(*trial.module, begin, end); });
      end = begin;
    }
  return hasProgress;
}

bool Shrinker::shrinkOperations() {
  bool hasProgress = false;
  // From the end, so that values that only the last ones use are removed too.
  for (size_t i = operationsOf(*program.module).size(); i-- > 0;)
    for (unsigned way = 0; way < kWaysToRemove; ++way) {
      if (i >= operationsOf(*program.module).size())
        break;
      if (attempt([&](Program &trial) {
            return removeOperation(operationsOf(*trial.module)[i], way);
          })) {
        hasProgress = true;
        break;
      }
    }
  hasProgress |= attempt([](Program &trial) { return canonicalize(*trial.module); });
  return hasProgress;
}

bool Shrinker::shrinkSizes() {
  bool hasProgress = false;
  std::vector<int64_t> sizes = sizesOf(*program.module);
  for (int64_t size : sizes)
    for (int64_t smaller : {int64_t(1), int64_t(2), size / 2, size - 1})
      if (smaller > 0 && smaller < size &&
          attempt([&](Program &trial) { return replaceSize(trial.module, size, smaller); })) {
        hasProgress = true;
        break;
      }
  return hasProgress;
}

void shrink(Program &program, llvm::function_ref<bool(const Program &)> fails) {
  Shrinker(program, fails).run();
}

} // namespace tfc::random
