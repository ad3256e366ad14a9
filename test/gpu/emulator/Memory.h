//===- Memory.h - The memory of an emulated device ------------------------===//
//
// Strict where a device is silent: each access lies in one allocation that is
// still alive, at a multiple of its size, and reads bytes that somebody wrote.
// Addresses are never used twice, so that every late access is found.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tfc::gpu {

class Memory {
public:
  /// The alignment of allocations: that of cuMemAlloc.
  static constexpr uint64_t kAlignment = 256;

  /// Allocates at least one byte and returns its address, or 0 if there is not enough memory.
  uint64_t allocate(uint64_t bytes);
  /// Releases what `allocate` returned. Returns an error, empty if there is none.
  std::string release(uint64_t address);

  /// Copy from and to the device. They return an error, empty if there is none; then nothing has
  /// changed. The accesses of a thread are aligned.
  std::string read(uint64_t address, uint64_t bytes, void *to, bool isAligned) const;
  std::string write(uint64_t address, uint64_t bytes, const void *from, bool isAligned);

  /// Limits what can be allocated from now on, in bytes.
  void setLimit(uint64_t bytes) { limit = bytes; }
  uint64_t getUsed() const { return used; }
  /// The allocations that were never released, as "24 bytes at 0x1000000100", by address.
  std::vector<std::string> getLeaks() const;

private:
  struct Allocation {
    uint64_t size;
    bool isAlive = true;
    std::vector<uint8_t> data;
    std::vector<bool> isWritten; // by byte
  };
  using Allocations = std::map<uint64_t, Allocation>;

  /// Returns why there is no access to these bytes, empty if there is, and the allocation.
  std::string find(uint64_t address, uint64_t bytes, bool isAligned,
                   Allocations::const_iterator &found) const;

  Allocations allocations; // by address, with those that were released
  uint64_t next = uint64_t(1) << 36, used = 0, limit = uint64_t(1) << 40;
};

} // namespace tfc::gpu
