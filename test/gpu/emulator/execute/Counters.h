//===- Counters.h - The work of a launch ----------------------------------===//

#pragma once

#include "test/gpu/emulator/execute/Instruction.h"

namespace tfc::gpu {

/// Counts of a launch. Efficiency is tested by these, where no device is at hand to measure time.
struct Counters {
  uint64_t instructions[kClasses] = {}; // of threads
  uint64_t multiplyAdds = 0;            // of threads, in floating point
  uint64_t globalBytes = 0;             // that threads asked for
  uint64_t globalRequests = 0;          // of warps
  uint64_t globalSectors = 0;           // of 32 bytes that these touch
  uint64_t sharedRequests = 0;          // of warps
  uint64_t sharedPasses = 0; // over the banks that these need: more than requests by conflicts

  Counters &operator+=(const Counters &other) {
    for (unsigned i = 0; i < kClasses; ++i)
      instructions[i] += other.instructions[i];
    multiplyAdds += other.multiplyAdds;
    globalBytes += other.globalBytes;
    globalRequests += other.globalRequests;
    globalSectors += other.globalSectors;
    sharedRequests += other.sharedRequests;
    sharedPasses += other.sharedPasses;
    return *this;
  }

  uint64_t allInstructions() const {
    uint64_t sum = 0;
    for (uint64_t count : instructions)
      sum += count;
    return sum;
  }
};

} // namespace tfc::gpu
