//===- Counters.h - How much work a launch was ----------------------------===//

#pragma once

#include "test/gpu/emulator/execute/Instruction.h"

namespace tfc::gpu {

/// Counts of a launch, to be compared between versions of a kernel where time cannot be.
struct Counters {
  uint64_t instructions[kClasses] = {}; // of threads
  uint64_t warpInstructions = 0;
  /// Accesses of global memory: instructions of warps, bytes of threads, and the sectors of 32
  /// bytes that an instruction touches.
  uint64_t globalRequests = 0, globalBytesRead = 0, globalBytesWritten = 0, globalSectors = 0;
  /// Accesses of shared memory: instructions of warps, and the passes that they take beyond those
  /// of one without bank conflicts.
  uint64_t sharedRequests = 0, sharedConflicts = 0;
  /// Multiplications with an addition, by lanes and by tensor instructions.
  uint64_t multiplyAdds = 0, tensorMultiplyAdds = 0;
  uint64_t barriers = 0; // of blocks

  uint64_t of(Class group) const { return instructions[static_cast<int>(group)]; }
  /// The instructions of all classes.
  uint64_t total() const {
    uint64_t sum = 0;
    for (uint64_t count : instructions)
      sum += count;
    return sum;
  }
};

} // namespace tfc::gpu
