// Sums up the launches of kernels, and models the least time that each could take.

#include "tools/tfc/Roofline.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace llvm;
using namespace tfc;

SmallVector<KernelTimes, 0> tfc::kernelsOf(const Trace &trace) {
  std::map<std::tuple<size_t, StringRef, StringRef>, KernelTimes> kernels;
  for (const TracedCall &call : trace.calls)
    for (auto [device, steps] : enumerate(call.steps))
      for (const TracedStep &step : steps) {
        if (step.kind != TFC_TRACE_KERNEL)
          continue;
        KernelTimes &kernel = kernels[{device, step.name, step.place}];
        kernel.name = step.name;
        kernel.place = step.place;
        kernel.device = trace.devices[device];
        kernel.time += step.time();
        kernel.flops += step.flops;
        kernel.bytes += step.bytes;
        kernel.held += step.held;
        ++kernel.count;
      }
  SmallVector<KernelTimes, 0> sorted = to_vector<0>(make_second_range(kernels));
  llvm::sort(sorted, [](const KernelTimes &a, const KernelTimes &b) {
    return std::tie(b.time, a.name, a.place, a.device) <
           std::tie(a.time, b.name, b.place, b.device);
  });
  return sorted;
}

/// A kernel that a loop launches counts once: its memory may be the same each time.
Roofline::Roofline(const Trace &trace) : limits(trace.limits) {
  for (const KernelTimes &kernel : kernelsOf(trace))
    bytesPerCall += kernel.bytes / kernel.count;
}

LeastTime Roofline::leastTime(double flops, double bytes, double held) const {
  const MemoryLevel &far = limits.levelOf(bytesPerCall), &near = limits.levelOf(bytes);
  double farTime = held / far.bytesPerSecond, nearTime = (bytes - held) / near.bytesPerSecond;
  return {flops / limits.flops, farTime + nearTime, farTime >= nearTime ? far.name : near.name};
}

LeastTime Roofline::leastTime(const KernelTimes &kernel) const {
  double count = kernel.count;
  LeastTime time = leastTime(kernel.flops / count, kernel.bytes / count, kernel.held / count);
  return {time.compute * count, time.memory * count, time.level};
}
