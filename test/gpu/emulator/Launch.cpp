//===- Launch.cpp - Launches a kernel -------------------------------------===//
//
// Checks the shape of a launch, as a driver would, and runs its blocks in order.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/execute/Block.h"
#include <cfenv>

namespace tfc::gpu {

/// The largest block, and its shared memory, of compute capability 8.0.
static constexpr uint64_t kMaxThreads = 1024, kMaxSharedBytes = 163 * 1024;

static std::string str(const Dimensions &d) {
  return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
}

/// Returns what is wrong with the shape of a launch.
static std::string check(const Code &kernel, const Launch &launch) {
  const Dimensions &block = launch.block;
  if (launch.grid.count() == 0 || launch.grid.count() > UINT32_MAX || block.count() == 0)
    return "a grid of " + str(launch.grid) + " blocks of " + str(block) + " threads";
  if (block.x > kMaxThreads || block.y > kMaxThreads || block.count() > kMaxThreads || block.z > 64)
    return "a block of " + str(block) + " threads is too large";
  const int64_t *max = kernel.maxThreads, *required = kernel.requiredThreads;
  if (max[0] != 0 && block.count() > static_cast<uint64_t>(max[0] * max[1] * max[2]))
    return "a block of " + str(block) + " threads, but .maxntid allows " +
           std::to_string(max[0] * max[1] * max[2]);
  if (required[0] != 0 &&
      (block.x != required[0] || block.y != required[1] || block.z != required[2]))
    return "a block of " + str(block) + " threads is not that of .reqntid";
  if (launch.parameters.size() != kernel.parameterBytes)
    return "expected " + std::to_string(kernel.parameterBytes) + " bytes of parameters, but got " +
           std::to_string(launch.parameters.size());
  if (kernel.staticSharedBytes + launch.dynamicSharedBytes > kMaxSharedBytes)
    return "more shared memory than " + std::to_string(kMaxSharedBytes) + " bytes";
  return {};
}

namespace {

/// The floating-point environment of a program that has changed nothing. The caller's may flush
/// denormals, which the calculations of instructions must not.
class DefaultEnvironment {
public:
  DefaultEnvironment() {
    fegetenv(&callers);
    fesetenv(FE_DFL_ENV);
  }
  ~DefaultEnvironment() { fesetenv(&callers); }

private:
  fenv_t callers;
};

} // namespace

std::string launch(const Program &program, const Launch &launch, Memory &memory,
                   Counters &counters) {
  const Code *kernel = program.findKernel(launch.kernel);
  if (!kernel)
    return "there is no kernel '" + launch.kernel + "'";
  if (std::string error = check(*kernel, launch); !error.empty())
    return kernel->name + ": " + error;
  DefaultEnvironment environment;
  Block block(program, *kernel, launch, memory, counters);
  for (uint64_t i = 0; i < launch.grid.count() && !block.hasFailed(); ++i)
    block.run(static_cast<uint32_t>(i));
  return block.getError();
}

} // namespace tfc::gpu
