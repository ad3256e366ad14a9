//===- KernelPlan.h - How the CPU computes a kernel -----------------------===//
//
// The decisions that both the annotation of kernels and code generation depend on. The pass manager
// preserves them between the two passes.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "compiler/cpu/AttentionPlan.h"
#include "compiler/cpu/Contraction.h"
#include "compiler/kernels/Schedule.h"
#include "mlir/Pass/AnalysisManager.h"

namespace tfc::cpu {

/// The analysis of a prepared `kernel.func`: its schedule, and how its products are tiled.
class KernelPlan {
public:
  explicit KernelPlan(mlir::Operation *kernel);
  KernelPlan(const KernelPlan &) = delete;

  bool isInvalidated(const mlir::AnalysisManager::PreservedAnalyses &preserved) const {
    return !preserved.isPreserved<kernel::BodyAnalyses>();
  }

  /// Returns true if the kernel could not be scheduled; the error has been reported.
  bool failed() const { return schedule.failed(); }

  /// The kernel that the plan was made for.
  mlir::StringRef getKernel() const { return name; }
  const Target &getTarget() const { return target; }
  KernelShapes &getShapes() { return shapes; }
  const Schedule &getSchedule() const { return schedule; }
  /// Returns how the product computed by a nest is tiled; null for other nests.
  const ContractionPlan *productOf(const Nest &nest) const;
  /// Returns the blocks of an attention kernel; null for other kernels.
  const AttentionPlan *getAttention() const { return attention ? &*attention : nullptr; }

private:
  std::string name;
  Target target;
  KernelShapes shapes;
  Schedule schedule;
  llvm::DenseMap<const Nest *, ContractionPlan> products;
  std::optional<AttentionPlan> attention;
};

/// Returns true if a target is a CPU.
inline bool isForCpu(kernel::TargetAttr target) { return !target.isGpu(); }

} // namespace tfc::cpu
