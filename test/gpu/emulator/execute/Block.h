//===- Block.h - The threads that share memory and barriers ---------------===//

#pragma once

#include "test/gpu/emulator/execute/Warp.h"

namespace tfc::gpu {

/// Where generic addresses point to shared memory, the memory of a thread, and the parameters of
/// the kernel (5.1). They lie above all allocations.
constexpr uint64_t kSharedWindow = uint64_t(1) << 48, kLocalWindow = uint64_t(1) << 49,
                   kParameterWindow = uint64_t(1) << 50, kWindowBytes = uint64_t(1) << 32;
/// The first addresses of shared and local memory are never valid, so that null is not either.
constexpr uint64_t kSharedBegin = 1024, kLocalBegin = 16;

/// A barrier of a block (9.7.13.1).
struct Barrier {
  uint32_t expected = 0, arrived = 0; // threads
  uint32_t count = 0;                 // threads whose predicate holds, for reductions
  uint32_t passed = 0;                // the most barriers that one has passed that does not wait
  std::vector<uint32_t> lanes;        // that wait, by warp
};

/// Executes the blocks of a launch, one after the other.
class Block {
public:
  Block(const Program &program, const Code &kernel, const Launch &launch, Memory &memory,
        Counters &counters);

  /// Runs a block to its end, or an error.
  void run(uint32_t number);

  bool hasFailed() const { return !error.empty(); }
  const std::string &getError() const { return error; }
  /// Keeps the first error.
  void fail(uint32_t thread, int line, const std::string &message);
  /// Counts executed instructions. Returns false if there are more than the budget allows.
  bool count(Class group, unsigned lanes) {
    counters.instructions[static_cast<int>(group)] += lanes;
    ++counters.warpInstructions;
    return counters.warpInstructions <= budget || failBudget();
  }
  /// The position of a block in the grid.
  Dimensions position(uint32_t number) const;
  /// The name of a register in the function at a place.
  std::string nameOf(uint32_t place, Row row) const;
  uint64_t localBytes() const { return program.localBytes; }
  /// Returns true if these bytes are static or dynamic shared memory.
  bool isShared(uint64_t address, uint64_t bytes) const {
    return (address >= kSharedBegin && address + bytes <= staticEnd && bytes <= address + bytes) ||
           (address >= dynamicBegin && address + bytes <= shared.size() &&
            bytes <= address + bytes);
  }
  const std::vector<Call> &getCalls() const { return program.calls; }
  const std::vector<Code> &getFunctions() const { return program.functions; }
  const std::vector<uint32_t> &getTargets(uint32_t list) const { return program.targets[list]; }

  const Program &program;
  const Code &kernel;
  const Launch &launch;
  Memory &memory;
  Counters &counters;
  Races globalRaces, sharedRaces;
  Bytes shared;
  static constexpr unsigned kBarriers = 16;
  Barrier barriers[kBarriers];
  std::vector<std::unique_ptr<Warp>> warps;

private:
  friend class Warp;

  bool failBudget();
  void failStuck();

  uint32_t number = 0;
  uint64_t budget;
  uint64_t staticEnd, dynamicBegin; // of shared memory
  std::string error;
};

} // namespace tfc::gpu
