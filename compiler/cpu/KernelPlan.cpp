//===- KernelPlan.cpp - How the CPU computes a kernel ---------------------===//
//
// Makes the decisions about a kernel once, for the pass that annotates it and the one that
// generates its code, which run before and after the memory plan.
//
//===----------------------------------------------------------------------===//

#include "compiler/cpu/KernelPlan.h"

using namespace mlir;
using namespace tfc::cpu;
namespace kernel = tfc::kernel;

/// Products read transformed weights themselves.
static ScheduleOptions optionsFor(const Target &target) {
  ScheduleOptions options;
  options.emitsProducts = target.emitsProducts;
  if (options.emitsProducts)
    options.isReadByProducts = recoversWeights;
  options.takesAttention = takesAttention;
  return options;
}

KernelPlan::KernelPlan(Operation *op)
    : name(cast<kernel::FuncOp>(op).getName()),
      target(Target::get(cast<kernel::FuncOp>(op).getTargetDescription())),
      shapes(cast<kernel::FuncOp>(op)), schedule(shapes, optionsFor(target)) {
  if (!schedule.failed() && schedule.isAttention())
    attention.emplace(target, *schedule.nests().front().sweeps.front().attention);
  for (const Nest &nest : schedule.nests())
    if (!nest.sweeps.empty() && nest.sweeps.front().product)
      products[&nest] = planContraction(shapes, target, nest.sweeps.front().product->op);
}

const ContractionPlan *KernelPlan::productOf(const Nest &nest) const {
  auto product = products.find(&nest);
  return product == products.end() ? nullptr : &product->second;
}
