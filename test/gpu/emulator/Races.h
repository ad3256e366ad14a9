//===- Races.h - Accesses that nothing orders -----------------------------===//
//
// A GPU does not notice that two threads access one byte in an order that is
// left to chance. Here each access of a launch is compared with the earlier ones
// of its bytes, and two by different threads, one of which writes, must have a
// barrier between them (PTX ISA, 8.5 and 9.7.13).
//
//===----------------------------------------------------------------------===//

#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

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

/// Atomic operations do not race with each other. Constant reads race with every write of the
/// launch, even if a barrier lies between (ld.global.nc, 9.7.8.9).
enum class Access { Read, Write, Atomic, ConstantRead };

/// An earlier access that nothing orders before a later one.
struct Race {
  uint64_t address;
  Access access;
  Moment moment; // one of them, if there are several

  /// As in "races with a write of byte 0x10 by thread 3 of block 0".
  std::string str() const;
};

/// The accesses of a launch. They are kept for granules of 1 to 16 bytes: a page begins with the
/// size of its first access, and is split for smaller ones.
class Races {
public:
  /// Adds an access of `size` bytes; returns a race with an earlier one, if there is one.
  std::optional<Race> add(uint64_t address, uint64_t size, Access access, const Moment &moment);

  /// Sets the moment for `tryAdd`, without the lane.
  void enter(const Moment &moment) {
    if (!isNow(moment))
      enterNew(moment);
  }
  /// The same as `add` for the common case: the access of one granule of a page that was accessed
  /// lately, by a lane at the moment that was entered. Returns true if it was added and has no
  /// race; otherwise nothing has changed, and `add` knows more.
  bool tryAdd(uint64_t address, unsigned size, Access access, uint8_t lane) {
    const Recent &entry = recent[address / kPageBytes % kRecent];
    return entry.number == address / kPageBytes && size == entry.size &&
           tryAdd(entry.granules[address % kPageBytes / size], access, lane);
  }
  /// The same for several lanes, which need not all be added if it returns false.
  bool tryAddAll(const uint64_t *addresses, uint32_t lanes, unsigned size, Access access) {
    bool isGood = true;
    for (; isGood && lanes != 0; lanes &= lanes - 1) {
      auto lane = static_cast<uint8_t>(std::countr_zero(lanes));
      isGood = tryAdd(addresses[lane], size, access, lane);
    }
    return isGood;
  }

  /// A new block begins, whose accesses are ordered by barriers of its own.
  void beginBlock() { orderedBegin = orderedEnd = static_cast<uint32_t>(moments.size()); }
  /// All threads of the block wait for a barrier: it orders what they did before.
  void passBarrier() {
    orderedEnd = static_cast<uint32_t>(moments.size());
    current = 0;
  }

  /// Forgets everything: the launch has ended.
  void clear();

private:
  /// Accesses of one kind that nothing later replaces: one, or several of a warp, a block or a
  /// grid. All of them have passed the same barriers.
  struct Latest {
    enum Extent : uint8_t { Thread, Warp, Block, Grid };

    uint32_t moment = 0; // the number of the last one
    uint8_t lane = 0;
    Extent extent = Thread;
  };
  static constexpr unsigned kKinds = 4;
  struct Granule {
    Latest latest[kKinds]; // by Access
  };
  static constexpr uint64_t kPageBytes = 1024;
  static constexpr unsigned kMaxShift = 4;
  struct Page {
    unsigned shift; // a granule has 2^shift bytes
    std::vector<Granule> granules;
  };

  /// Returns true if there are no such accesses, or all are ordered before the current moment of
  /// a lane.
  bool isOrdered(const Latest &latest, uint8_t lane) const {
    if (latest.moment < first)
      return true;
    if (latest.moment - orderedBegin < orderedEnd - orderedBegin)
      return latest.extent != Latest::Grid;
    if (latest.moment == current)
      return latest.extent == Latest::Thread && latest.lane == lane;
    const Moment &earlier = moments[latest.moment];
    if (earlier.block == now.block && earlier.barriers < now.barriers)
      return latest.extent != Latest::Grid;
    return isOrderedInWarp(latest, earlier, lane);
  }
  bool isOrderedInWarp(const Latest &latest, const Moment &earlier, uint8_t lane) const;
  bool isNow(const Moment &moment) const {
    return current != 0 && now.block == moment.block && now.barriers == moment.barriers &&
           now.warpBarriers == moment.warpBarriers && now.thread == (moment.thread & ~31u);
  }
  /// Adds an access of a granule if that is simple.
  bool tryAdd(Granule &granule, Access access, uint8_t lane) const {
    auto &[reads, writes, atomics, constants] = granule.latest;
    switch (access) {
    case Access::Read:
      return isOrdered(writes, lane) && isOrdered(atomics, lane) && tryAdd(reads, lane);
    case Access::Write:
      return isOrdered(writes, lane) && isOrdered(atomics, lane) && isOrdered(reads, lane) &&
             constants.moment < first && tryAdd(writes, lane);
    case Access::Atomic:
      return isOrdered(writes, lane) && isOrdered(reads, lane) && constants.moment < first &&
             tryAdd(atomics, lane);
    case Access::ConstantRead:
      return writes.moment < first && atomics.moment < first && tryAdd(constants, lane);
    }
    return false;
  }
  /// Adds an access to the latest ones if that is simple.
  bool tryAdd(Latest &latest, uint8_t lane) const {
    if (latest.moment == current) {
      if (latest.extent == Latest::Thread && latest.lane != lane)
        latest.extent = Latest::Warp;
      latest.lane = lane;
      return true;
    }
    if (!isOrdered(latest, lane))
      return false;
    latest = {current, lane, Latest::Thread};
    return true;
  }
  const Latest *findRace(const Granule &granule, Access access, uint8_t lane) const;
  void add(Latest &latest, uint8_t lane) const;
  void enterNew(const Moment &moment);
  Page &findPage(uint64_t number, unsigned shift);
  static void split(Page &page, unsigned shift);
  Race describe(const Latest &latest, uint64_t address, Access access) const;

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages; // by address / kPageBytes
  /// The pages that were accessed last, by the lowest bits of their number.
  static constexpr unsigned kRecent = 64;
  struct Recent {
    uint64_t number = ~uint64_t(0);
    Page *page = nullptr;
    Granule *granules = nullptr;
    unsigned size = 0; // of a granule
  };
  Recent recent[kRecent];
  /// Moments by number, without the lane of the thread. Those below `first` are of earlier
  /// launches; 0 stands for none.
  std::vector<Moment> moments = std::vector<Moment>(1);
  uint32_t first = 1, current = 0;
  Moment now;                                // that of `current`
  uint32_t orderedBegin = 1, orderedEnd = 1; // moments that are ordered before all that follow
};

} // namespace tfc::gpu
