//===- Block.h - The block of threads that is executed --------------------===//

#pragma once

#include "test/gpu/emulator/Races.h"
#include "test/gpu/emulator/execute/Launch.h"

namespace tfc::gpu {

/// The memory that the warps of a block share, and their access to all memory.
class Block {
public:
  Block(const Launch &launch, Memory &memory, Counters &counters);

  /// Begins another block: with fresh shared and local memory.
  void begin(uint32_t number);

  /// Where the windows of shared and local memory begin in the generic address space.
  static constexpr uint64_t kSharedWindow = uint64_t(1) << 47, kLocalWindow = uint64_t(3) << 46;
  static constexpr uint64_t kWindowBytes = uint64_t(1) << 32;

  /// The space of a generic address, and its address there. Other addresses stay as they are.
  static ptx::Space resolve(ptx::Space space, uint64_t &address);

  /// Strong accesses do not race with atomic operations; atomic ones read and write.
  enum class Kind { Read, ReadOnly, StrongRead, Write, StrongWrite, Atomic };
  /// The bytes for an access of a thread, at most 16 at a multiple of the size, null if it is not
  /// allowed; then there is an error. Written bytes count as such.
  uint8_t *access(ptx::Space space, uint64_t address, unsigned bytes, Kind kind, Moment moment);

  /// Why the last access was refused.
  std::string error;

  const Launch &launch;
  Memory &memory;
  Counters &counters;
  uint32_t number = 0;   // of the block in the grid
  uint32_t barriers = 0; // that all threads have passed

private:
  uint8_t *fail(std::string message) {
    error = std::move(message);
    return nullptr;
  }
  uint8_t *accessOwn(Bytes &memory, const char *name, uint64_t address, unsigned bytes, Kind kind);
  uint8_t *accessGlobal(uint64_t address, unsigned bytes, Kind kind);

  Bytes shared, parameters;
  std::vector<Bytes> locals; // by thread
  Races globalRaces, sharedRaces;
};

} // namespace tfc::gpu
