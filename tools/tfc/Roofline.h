// Kernels beside the limits of the machine.
#pragma once

#include "tools/tfc/Trace.h"
#include "llvm/ADT/SmallVector.h"

namespace tfc {

/// All launches of a kernel from one place of the graph, on one device.
struct KernelTimes {
  llvm::StringRef name, place, device;
  int64_t time = 0, count = 0;
  double flops = 0, bytes = 0, held = 0; // of all launches
};

/// The kernels of all devices, the most expensive first.
llvm::SmallVector<KernelTimes, 0> kernelsOf(const Trace &trace);

/// The least time in seconds that the limits allow for a kernel.
struct LeastTime {
  double compute = 0, memory = 0;
  llvm::StringRef level; // which takes most of the time of memory

  llvm::StringRef bound() const { return compute >= memory ? "compute" : level; }
};

/// The limits for the kernels of an entry.
///
/// Feeds, variables and constants have left the caches that are smaller than all that a call
/// touches. Other values have been computed in the same call: they are in the first cache that
/// holds what the kernel itself touches.
class Roofline {
public:
  explicit Roofline(const Trace &trace);

  /// Returns no time for a kernel whose work is unknown.
  LeastTime leastTime(double flops, double bytes, double held) const;
  LeastTime leastTime(const TracedStep &step) const {
    return leastTime(step.flops, step.bytes, step.held);
  }
  /// The same for all launches of a kernel.
  LeastTime leastTime(const KernelTimes &kernel) const;

private:
  const MachineLimits &limits;
  double bytesPerCall = 0; // of launches from different places of the graph
};

} // namespace tfc
