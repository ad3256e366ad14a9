// Records kernels, messages and waits. It knows of each step what to call it, and nothing of how it
// is built.

#include "compiler/host/Tracing.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/MessageOps.h"
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

void Tracing::build(Operation *step, llvm::function_ref<void()> build) {
  std::optional<rt::TraceKind> kind = isOn ? kindOf(step) : std::nullopt;
  if (!kind)
    return build();
  Value begin = rt::TraceBeginOp::create(context.b, context.loc, context.b.getI64Type());
  build();
  int32_t slot = slotOf(step).value_or(-1);
  rt::TraceEndOp::create(context.b, context.loc, context.frame, begin, *kind, slot, nameOf(step));
}
