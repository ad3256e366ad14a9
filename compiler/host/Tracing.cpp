// Records kernels, messages and waits. It knows of each step what to call it, and nothing of how it
// is built.

#include "compiler/host/Tracing.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/MemoryPlan.h"
#include "dialects/dfg/MessageOps.h"
#include "dialects/dfg/Roles.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/rt/Rt.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

/// The kind under which a step is recorded; std::nullopt for steps that take no time.
static std::optional<rt::TraceKind> kindOf(Operation *step) {
  if (step->getNumRegions() > 0)
    return std::nullopt;
  if (isa<LaunchOp>(step))
    return rt::TraceKind::Kernel;
  if (isa<SendOp>(step))
    return rt::TraceKind::Send;
  if (isa<ReceiveOp>(step))
    return rt::TraceKind::Receive;
  return waitsForMessages(step) || usesQueues(step) || readsInput(step)
             ? std::optional(rt::TraceKind::Wait)
             : std::nullopt;
}

/// The places in the graph of the operations in a kernel, without repetition.
static std::string placesOf(Location location) {
  llvm::SmallSetVector<StringRef, 4> places;
  SmallVector<std::string> texts;
  auto fused = dyn_cast<FusedLoc>(location);
  for (Location part : fused ? fused.getLocations() : ArrayRef<Location>(location))
    texts.push_back(siteOf(part));
  for (const std::string &text : texts)
    if (!text.empty())
      places.insert(text);
  return llvm::join(places, ", ");
}

static std::string nameOf(Operation *step) {
  std::string name = step->getName().stripDialect().str();
  if (auto launch = dyn_cast<LaunchOp>(step))
    name = launch.getKernel().str();
  else if (auto send = dyn_cast<SendOp>(step))
    name += " " + toText(send.getValue().getType());
  else if (auto receive = dyn_cast<ReceiveOp>(step))
    name += " " + toText(receive.getValue().getType());
  return name + '\n' + placesOf(step->getLoc());
}

namespace {
struct Work {
  DimExpr flops = 0, bytes = 0, held = 0;
};
} // namespace

/// Returns true if the value is in memory that keeps it between calls: a feed, a variable or a
/// constant.
static bool isHeld(Value value) {
  Value root = rootOf(value);
  if (Operation *op = root.getDefiningOp())
    return op->hasTrait<SourceRole>();
  return isa<EntryOp>(cast<BlockArgument>(root).getOwner()->getParentOp());
}

/// Returns the work of a launch, none if that is unknown.
static Work workOf(LaunchOp launch, AffineMapAttr perKernel) {
  if (!perKernel || perKernel.getValue().getNumResults() !=
                        1 + launch.getInputs().size() + launch.getNumResults())
    return {};
  SmallVector<DimExpr> sizes = launch.getSizes().getExprs(), work;
  for (AffineExpr expr : perKernel.getValue().getResults()) {
    std::optional<DimExpr> size = sizeInLaunch(expr, sizes);
    if (!size)
      return {};
    work.push_back(*size);
  }
  Work sum = {work.front()};
  ArrayRef<DimExpr> bytes = ArrayRef(work).drop_front();
  for (auto [input, read] : llvm::zip(launch.getInputs(), bytes)) {
    sum.bytes = sum.bytes + read;
    if (isHeld(input))
      sum.held = sum.held + read;
  }
  for (auto [i, written] : llvm::enumerate(bytes.drop_front(launch.getInputs().size()))) {
    sum.bytes = sum.bytes + written;
    if (memoryOf(launch, i).getKind() == MemoryKind::Variable)
      sum.held = sum.held + written;
  }
  return sum;
}

void Tracing::build(Operation *step, llvm::function_ref<void()> build) {
  std::optional<rt::TraceKind> kind = isOn ? kindOf(step) : std::nullopt;
  if (!kind)
    return build();
  Value begin = rt::TraceBeginOp::create(context.b, context.loc, context.b.getI64Type());
  build();
  int32_t slot = slotOf(step).value_or(-1);
  Work work;
  if (auto launch = dyn_cast<LaunchOp>(step))
    if (auto code = context.module.getSymbols().lookup<LLVM::LLVMFuncOp>(launch.getKernel()))
      work = workOf(launch, kernel::workOf(code));
  rt::TraceEndOp::create(context.b, context.loc, context.frame, begin, *kind, slot, nameOf(step),
                         sizes.build(work.flops), sizes.build(work.bytes), sizes.build(work.held));
}
