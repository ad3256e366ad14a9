//===- Memory.h - The memory of an emulated device ------------------------===//
//
// Strict where a device is silent: each access lies in one allocation that is
// still alive, at a multiple of its size, and reads bytes that somebody wrote.
// Addresses are never used twice, so that every late access is found.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "test/gpu/emulator/Bytes.h"
#include <map>
#include <string>

namespace tfc::gpu {

/// As in "0x1f".
std::string inHexadecimal(uint64_t number);
/// As in "4 bytes at 0x1f".
std::string describe(uint64_t size, uint64_t address);

class Memory {
public:
  /// The alignment of allocations: that of cuMemAlloc.
  static constexpr uint64_t kAlignment = 256;
  /// All allocations lie from here on, and below the end.
  static constexpr uint64_t kBase = uint64_t(1) << 36, kEnd = uint64_t(1) << 46;

  Memory() = default;
  Memory(const Memory &) = delete;

  /// Allocates at least one byte and returns its address, or 0 if there is not enough memory.
  /// Threads cannot write to constants.
  uint64_t allocate(uint64_t bytes, bool isConstant = false);
  /// Releases what `allocate` returned. Returns an error, empty if there is none.
  std::string release(uint64_t address);

  /// Copy from and to the device. They return an error, empty if there is none; then nothing has
  /// changed. The accesses of a thread are aligned.
  std::string read(uint64_t address, uint64_t bytes, void *to, bool isAligned) const;
  std::string write(uint64_t address, uint64_t bytes, const void *from, bool isAligned);
  /// Copies on the device, which may take along bytes that nobody wrote: these stay so.
  std::string copy(uint64_t to, uint64_t from, uint64_t bytes);

  /// The bytes of an aligned access of a thread, at most 16, or null if it is refused, for a reason
  /// that `refusal` returns. `toWrite` marks them as written.
  const uint8_t *toRead(uint64_t address, unsigned bytes) const {
    uint64_t offset = address - latest.base;
    bool isFast = offset < latest.size && bytes <= latest.size - offset &&
                  !(address & (bytes - 1)) && latest.bytes->isWritten(offset, bytes);
    return isFast ? latest.bytes->at(offset) : findToRead(address, bytes);
  }
  uint8_t *toWrite(uint64_t address, unsigned bytes) {
    uint64_t offset = address - latest.base;
    if (offset >= latest.size || bytes > latest.size - offset || (address & (bytes - 1)) ||
        latest.isConstant)
      return findToWrite(address, bytes);
    latest.bytes->setWritten(offset, bytes);
    return latest.bytes->at(offset);
  }
  /// The allocation of several accesses of threads, all of which lie in it, or null.
  struct Cover {
    uint64_t base = 0, size = 0;
    Bytes *bytes = nullptr;
    bool isConstant = false;
  };
  const Cover *cover(uint64_t lowest, uint64_t end) const;
  std::string refusal(uint64_t address, unsigned bytes, bool isWrite) const;
  /// Returns true if the address lies in a constant.
  bool isConstant(uint64_t address) const;

  /// Limits what can be allocated from now on, in bytes.
  void setLimit(uint64_t bytes) { limit = bytes; }
  uint64_t getUsed() const { return used; }
  /// The allocations that were never released, as "24 bytes at 0x1000000100", by address.
  std::vector<std::string> getLeaks() const;

private:
  struct Allocation {
    uint64_t size;
    bool isAlive = true, isConstant = false;
    Bytes bytes;
  };
  using Allocations = std::map<uint64_t, Allocation>;
  /// Returns why there is no access to these bytes, empty if there is, and the allocation.
  std::string find(uint64_t address, uint64_t bytes, bool isAligned,
                   Allocations::iterator &found) const;
  const uint8_t *findToRead(uint64_t address, unsigned bytes) const;
  uint8_t *findToWrite(uint64_t address, unsigned bytes);

  mutable Allocations allocations; // by address, with those that were released
  mutable Cover latest;            // the allocation of the last access of a thread
  uint64_t next = kBase, used = 0, limit = uint64_t(1) << 40;
};

} // namespace tfc::gpu
