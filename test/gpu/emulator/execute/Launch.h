//===- Launch.h - Executes kernels ----------------------------------------===//

#pragma once

#include "test/gpu/emulator/execute/Counters.h"
#include "test/gpu/emulator/execute/Program.h"

namespace tfc::gpu {

struct Extent {
  uint32_t x = 1, y = 1, z = 1;

  uint64_t count() const { return uint64_t(x) * y * z; }
};

struct Launch {
  static constexpr uint32_t kMostThreads = 1024, kMostSharedBytes = 227 * 1024;

  const Kernel &kernel;
  Extent grid, block;
  uint32_t dynamicSharedBytes = 0;
  std::vector<uint8_t> parameters;
  uint64_t limit = uint64_t(1) << 40; // of instructions of threads
  uint64_t seed = 0;                  // of errors of approximations
};

/// Executes all blocks, one after the other, and adds to the counters. Returns the first error,
/// empty if there is none:
///
///   kernel 'k', line 12, thread (3, 0, 0) of block (0, 0, 0): reads %r1, which has no value
///
/// Instructions have the meaning that the PTX ISA 8.x gives them. An execution that it leaves
/// undefined is an error: undefined registers and memory, races, divisions by zero, warps and
/// blocks that wait for threads that never come.
std::string run(const Launch &launch, Memory &memory, Counters &counters);

} // namespace tfc::gpu
