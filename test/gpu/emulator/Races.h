//===- Races.h - Accesses that nothing orders -----------------------------===//
//
// A GPU does not notice that two threads access one byte in an order that is
// left to chance. Here each access of a launch is compared with the earlier ones
// of its bytes, and two by different threads, one of which writes, must have a
// barrier between them (PTX ISA, 8.5 and 9.7.13).
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace tfc::gpu {

/// A thread of a launch at a moment.
struct Moment {
  uint32_t block = 0;        // of the grid
  uint32_t thread = 0;       // of the block
  uint32_t barriers = 0;     // of the block that the thread has passed
  uint32_t warpBarriers = 0; // of its warp

  bool isSameThread(const Moment &other) const {
    return block == other.block && thread == other.thread;
  }
  bool isSameWarp(const Moment &other) const {
    return block == other.block && thread / 32 == other.thread / 32;
  }
  /// Returns true if a barrier that both threads wait for lies between.
  bool isBarrierBefore(const Moment &later) const {
    return block == later.block &&
           (barriers < later.barriers || (isSameWarp(later) && warpBarriers < later.warpBarriers));
  }
};

/// Atomic operations do not race with each other.
enum class Access { Read, Write, Atomic };

/// An earlier access that nothing orders before a later one.
struct Race {
  uint64_t address;
  Access access;
  Moment moment; // one of them, if there are several

  /// As in "races with a write of byte 0x10 by thread 3 of block 0".
  std::string str() const;
};

/// The accesses of a launch, by byte.
class Races {
public:
  /// Adds an access of `size` bytes; returns a race with an earlier one, if there is one.
  std::optional<Race> add(uint64_t address, uint64_t size, Access access, const Moment &moment);

  /// Checks a read that does not race with atomic operations; it is not added.
  std::optional<Race> checkStrongRead(uint64_t address, uint64_t size, const Moment &moment);
  /// Adds a read of bytes that nothing may write during the whole launch.
  std::optional<Race> addReadOnly(uint64_t address, uint64_t size, const Moment &moment);

  /// Forgets everything: the launch has ended.
  void clear() {
    pages.clear();
    latestNumber = UINT64_MAX;
  }

private:
  /// Accesses of one kind that nothing later replaces: one, or several of a warp, a block or a
  /// grid.
  class Latest {
  public:
    /// Returns an access that is not ordered before `later`.
    const Moment *findUnordered(const Moment &later) const;
    void add(const Moment &moment);
    /// Any access, ordered or not.
    const Moment *any() const { return extent == Extent::None ? nullptr : &moment; }
    /// Adds one that nothing is ordered after.
    void addForever(const Moment &added) {
      moment = added;
      extent = Extent::Grid;
    }

  private:
    enum class Extent : uint8_t { None, Thread, Warp, Block, Grid };

    Moment moment; // of the last one; all have passed the same barriers
    Extent extent = Extent::None;
  };

  /// Of a byte, or of the bytes of a word while all accesses are of whole words.
  struct History {
    Latest reads, writes, atomics;
  };
  static constexpr uint64_t kWordBytes = 4;
  struct Word {
    History whole;
    std::unique_ptr<History[]> bytes; // if there were accesses of some of them
  };
  static constexpr uint64_t kPageBytes = 1024;
  struct Page {
    Word words[kPageBytes / kWordBytes];
  };

  Word &find(uint64_t address);
  /// Calls `visit(history, address)` for the words or bytes of an access, until it returns a race.
  template <typename Visit>
  std::optional<Race> forEach(uint64_t address, uint64_t size, Visit visit);

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages; // by address / kPageBytes
  uint64_t latestNumber = UINT64_MAX;                        // of the page of the last access
  Page *latest = nullptr;
};

} // namespace tfc::gpu
