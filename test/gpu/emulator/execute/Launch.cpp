//===- Launch.cpp - Executes kernels --------------------------------------===//
//
// Runs the blocks of a grid one after the other, and the warps of a block in turns, each until it
// waits for the others.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/execute/Launch.h"
#include "test/gpu/emulator/execute/Warp.h"

namespace tfc::gpu {

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Checks that all threads of the block are at one barrier, and lets them pass.
static std::string passBarrier(Block &block, std::vector<std::unique_ptr<Warp>> &warps) {
  uint64_t waiting = 0;
  for (const auto &warp : warps)
    waiting += std::popcount(warp->getAtBarrier());
  for (const auto &warp : warps) {
    if (warp->getAtBarrier() == 0)
      continue;
    if (waiting != block.launch.block.count())
      warp->failAtBarrier("waits at a barrier that only " + std::to_string(waiting) + " of " +
                          std::to_string(block.launch.block.count()) + " threads reach");
    else if (warp->isDivergedAtBarrier())
      warp->failAtBarrier("waits at a barrier that lanes of its warp reach by different "
                          "instructions, which .aligned forbids");
    else if (warp->barrierOf() != warps.front()->barrierOf())
      warp->failAtBarrier("waits at another barrier than the first warp");
    if (warp->hasFailed())
      return warp->getError();
  }
  ++block.barriers;
  for (const auto &warp : warps)
    warp->passBarrier();
  return {};
}

static std::string runBlock(Block &block, std::vector<std::unique_ptr<Warp>> &warps) {
  for (const auto &warp : warps)
    warp->begin();
  for (;;) {
    bool isWaiting = false;
    for (const auto &warp : warps) {
      warp->run();
      if (warp->hasFailed())
        return warp->getError();
      isWaiting |= !warp->hasEnded();
    }
    if (!isWaiting)
      return {};
    if (std::string error = passBarrier(block, warps); !error.empty())
      return error;
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Returns why the launch is not possible, empty if it is.
static std::string check(const Launch &launch) {
  const Kernel &kernel = launch.kernel;
  uint64_t threads = launch.block.count();
  if (launch.grid.count() == 0 || threads == 0)
    return "there are no threads";
  if (threads > Launch::kMostThreads || launch.block.z > 64)
    return "a block has at most 1024 threads, of which 64 in z";
  if (launch.grid.x > INT32_MAX || launch.grid.y > UINT16_MAX || launch.grid.z > UINT16_MAX)
    return "a grid has at most 2147483647 blocks in x, and 65535 in y and z";
  if (launch.parameters.size() != kernel.parameterBytes)
    return "the parameters have " + std::to_string(launch.parameters.size()) +
           " bytes, but the kernel takes " + std::to_string(kernel.parameterBytes);
  if (kernel.sharedBytes + launch.dynamicSharedBytes > Launch::kMostSharedBytes)
    return "a block has too much shared memory";
  const uint32_t sizes[3] = {launch.block.x, launch.block.y, launch.block.z};
  for (int i = 0; i < 3; ++i)
    if (kernel.requiredThreads[i] != 0 && kernel.requiredThreads[i] != sizes[i])
      return "the block is not that of .reqntid";
  const int64_t *most = kernel.maxThreads;
  if (most[0] != 0 && threads > uint64_t(most[0] * most[1] * most[2]))
    return "the block has more threads than .maxntid";
  return {};
}

std::string run(const Launch &launch, Memory &memory, Counters &counters) {
  if (std::string error = check(launch); !error.empty())
    return "kernel '" + launch.kernel.name + "': " + error;
  Counters own;
  Block block(launch, memory, own);
  std::vector<std::unique_ptr<Warp>> warps;
  for (uint64_t i = 0; i * kLanes < launch.block.count(); ++i)
    warps.push_back(std::make_unique<Warp>(block, i));
  for (uint64_t i = 0; i < launch.grid.count(); ++i) {
    block.begin(static_cast<uint32_t>(i));
    if (std::string error = runBlock(block, warps); !error.empty())
      return error;
  }
  counters += own;
  return {};
}

} // namespace tfc::gpu
