//===- Accesses.cpp - Accesses of a warp to memory ------------------------===//
//
// Checks each lane, and counts what a device would do for all lanes together.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/execute/Accesses.h"
#include <algorithm>

namespace tfc::gpu {

using ptx::Space;

Access accessOf(const AccessForm &form, bool isWrite) {
  if (form.isReadOnly)
    return Access::ConstantRead;
  return form.isStrong ? Access::Atomic : isWrite ? Access::Write : Access::Read;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static std::nullptr_t refuse(Warp &warp, unsigned lane, const std::string &message) {
  warp.fail(lane, message);
  return nullptr;
}

static bool deny(Warp &warp, unsigned lane, const std::string &message) {
  warp.fail(lane, message);
  return false;
}

bool checkRace(Warp &warp, unsigned lane, Races &races, uint64_t address, unsigned bytes,
               Access access) {
  std::optional<Race> race = races.add(address, bytes, access, warp.momentOf(lane));
  if (!race)
    return true;
  static constexpr const char *kNames[] = {"a read of ", "a write of ", "an atomic operation on ",
                                           "a read as constant of "};
  warp.fail(lane, kNames[static_cast<int>(access)] + describe(bytes, address) + " " + race->str());
  return false;
}

bool checkShared(Warp &warp, unsigned lane, uint64_t address, unsigned bytes) {
  if (address & (bytes - 1))
    return deny(warp, lane, describe(bytes, address) + " of shared memory are not aligned");
  if (warp.block.isShared(address, bytes))
    return true;
  return deny(warp, lane, describe(bytes, address) + " are not in the shared memory of the block");
}

static bool checkLocal(Warp &warp, unsigned lane, uint64_t address, unsigned bytes) {
  if (address & (bytes - 1))
    return deny(warp, lane, describe(bytes, address) + " of local memory are not aligned");
  uint64_t size = warp.block.localBytes();
  if (address >= kLocalBegin && address <= size && bytes <= size - address)
    return true;
  return deny(warp, lane, describe(bytes, address) + " are not in the local memory of the thread");
}

/// Fails if one of these bytes was never written.
static bool checkWritten(Warp &warp, unsigned lane, const Bytes &bytes, uint64_t address,
                         unsigned count, const char *space) {
  if (bytes.isWritten(address, count))
    return true;
  return deny(warp, lane,
              "byte " + inHexadecimal(*bytes.findUnwritten(address, count)) + " of " +
                  describe(count, address) + " of " + space + " memory was never written");
}

static const uint8_t *readGlobal(Warp &warp, unsigned lane, uint64_t address, unsigned bytes,
                                 Access access) {
  Block &block = warp.block;
  const uint8_t *from = block.memory.toRead(address, bytes);
  if (!from)
    return refuse(warp, lane, block.memory.refusal(address, bytes, false));
  return checkRace(warp, lane, block.globalRaces, address, bytes, access) ? from : nullptr;
}

static const uint8_t *readConstant(Warp &warp, unsigned lane, uint64_t address, unsigned bytes) {
  Memory &memory = warp.block.memory;
  const uint8_t *from = memory.toRead(address, bytes);
  if (!from)
    return refuse(warp, lane, memory.refusal(address, bytes, false));
  if (!memory.isConstant(address))
    return refuse(warp, lane, describe(bytes, address) + " are not constant");
  return from;
}

static const uint8_t *readParameter(Warp &warp, unsigned lane, uint64_t address, unsigned bytes) {
  const std::vector<uint8_t> &parameters = warp.block.launch.parameters;
  if (address & (bytes - 1))
    return refuse(warp, lane, describe(bytes, address) + " of the parameters are not aligned");
  if (address > parameters.size() || bytes > parameters.size() - address)
    return refuse(warp, lane, describe(bytes, address) + " are not in the parameters");
  return parameters.data() + address;
}

const uint8_t *toReadSlow(Warp &warp, unsigned lane, Space space, uint64_t address, unsigned bytes,
                          Access access, bool isOfCall) {
  switch (space) {
  case Space::Global:
    return readGlobal(warp, lane, address, bytes, access);
  case Space::Shared: {
    Block &block = warp.block;
    bool isGood = checkShared(warp, lane, address, bytes) &&
                  checkRace(warp, lane, block.sharedRaces, address, bytes, access) &&
                  checkWritten(warp, lane, block.shared, address, bytes, "shared");
    return isGood ? block.shared.at(address) : nullptr;
  }
  case Space::Local: {
    Bytes &local = warp.bytes[lane];
    if (!isOfCall && !checkLocal(warp, lane, address, bytes))
      return nullptr;
    // Compilers widen loads to bytes after an array, and drop these.
    bool isGood = (!isOfCall && local.isAnyWritten(address, bytes)) ||
                  checkWritten(warp, lane, local, address, bytes, isOfCall ? "parameter" : "local");
    return isGood ? local.at(address) : nullptr;
  }
  case Space::Constant:
    return readConstant(warp, lane, address, bytes);
  case Space::Parameter:
    return readParameter(warp, lane, address, bytes);
  default:
    return refuse(warp, lane, "no space of memory");
  }
}

uint8_t *toWriteSlow(Warp &warp, unsigned lane, Space space, uint64_t address, unsigned bytes,
                     Access access, bool isOfCall) {
  Block &block = warp.block;
  switch (space) {
  case Space::Global: {
    uint8_t *to = block.memory.toWrite(address, bytes);
    if (!to)
      return refuse(warp, lane, block.memory.refusal(address, bytes, true));
    return checkRace(warp, lane, block.globalRaces, address, bytes, access) ? to : nullptr;
  }
  case Space::Shared:
    if (!checkShared(warp, lane, address, bytes) ||
        !checkRace(warp, lane, block.sharedRaces, address, bytes, access))
      return nullptr;
    block.shared.setWritten(address, bytes);
    return block.shared.at(address);
  case Space::Local:
    if (!isOfCall && !checkLocal(warp, lane, address, bytes))
      return nullptr;
    warp.bytes[lane].setWritten(address, bytes);
    return warp.bytes[lane].at(address);
  default:
    return refuse(warp, lane, describe(bytes, address) + " are constant");
  }
}

uint8_t *toUpdate(Warp &warp, unsigned lane, Space space, uint64_t address, unsigned bytes,
                  bool isFast) {
  if (!toRead(warp, lane, space, address, bytes, Access::Atomic, isFast))
    return nullptr;
  Block &block = warp.block;
  if (space == Space::Shared)
    return block.shared.at(address);
  uint8_t *to = space == Space::Global ? block.memory.toWrite(address, bytes) : nullptr;
  return to ? to : toWriteSlow(warp, lane, space, address, bytes, Access::Atomic, false);
}

uint8_t *toAccessTogether(Warp &warp, const LaneAddresses &addresses, uint32_t active,
                          unsigned bytes, Access access, bool isWrite, uint64_t &origin) {
  bool isGlobal = addresses.global == active;
  if (!isGlobal && addresses.shared != active)
    return nullptr;
  Block &block = warp.block;
  uint64_t lowest = ~uint64_t(0), highest = 0, all = 0;
  forEachLane(active, [&](unsigned lane) {
    uint64_t address = addresses.of[lane];
    lowest = std::min(lowest, address);
    highest = std::max(highest, address);
    all |= address;
  });
  if (all & (bytes - 1) || highest - lowest > UINT32_MAX)
    return nullptr;
  Bytes *memory = &block.shared;
  origin = 0;
  if (isGlobal) {
    const Memory::Cover *cover = block.memory.cover(lowest, highest + bytes);
    if (!cover || (isWrite && cover->isConstant))
      return nullptr;
    memory = cover->bytes;
    origin = cover->base;
  } else if (!block.isShared(lowest, highest + bytes - lowest)) {
    return nullptr;
  }
  bool isWritten = true;
  if (!isWrite)
    forEachLane(active, [&](unsigned lane) {
      isWritten &= memory->isWritten(addresses.of[lane] - origin, bytes);
    });
  Races &races = isGlobal ? block.globalRaces : block.sharedRaces;
  if (!isWritten || !races.tryAddAll(addresses.of, active, bytes, access))
    return nullptr;
  if (isWrite)
    forEachLane(active,
                [&](unsigned lane) { memory->setWritten(addresses.of[lane] - origin, bytes); });
  return memory->at(0);
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

unsigned countSectors(const uint64_t *addresses, uint32_t lanes, unsigned bytes) {
  uint64_t lowest = ~uint64_t(0), highest = 0;
  forEachLane(lanes, [&](unsigned lane) {
    lowest = std::min(lowest, addresses[lane] / 32);
    highest = std::max(highest, addresses[lane] / 32);
  });
  if (highest - lowest < 64) { // an access of up to 16 bytes is in one sector
    uint64_t sectors = 0;
    forEachLane(lanes,
                [&](unsigned lane) { sectors |= uint64_t(1) << (addresses[lane] / 32 - lowest); });
    return std::popcount(sectors);
  }
  uint64_t sectors[kLanes], *end = sectors;
  forEachLane(lanes, [&](unsigned lane) { *end++ = addresses[lane] / 32; });
  std::sort(sectors, end);
  return static_cast<unsigned>(std::unique(sectors, end) - sectors);
}

/// Returns true if no bank has to give two words. Most accesses are so.
static bool hasOneWordPerBank(const uint64_t *addresses, uint32_t lanes, unsigned bytes) {
  uint64_t words[32];
  uint32_t used = 0;
  bool isGood = true;
  forEachLane(lanes, [&](unsigned lane) {
    for (uint64_t at = addresses[lane]; at < addresses[lane] + bytes; at += 4) {
      uint64_t word = at / 4;
      unsigned bank = word % 32;
      isGood &= !(used >> bank & 1) || words[bank] == word;
      used |= 1u << bank;
      words[bank] = word;
    }
  });
  return isGood;
}

/// The passes for a part of a warp: the most words of one of the 32 banks.
static unsigned countPasses(const uint64_t *addresses, uint32_t lanes, unsigned bytes) {
  constexpr unsigned kBanks = 32;
  if (hasOneWordPerBank(addresses, lanes, bytes))
    return 1;
  uint64_t words[kBanks][kLanes];
  unsigned counts[kBanks] = {}, most = 0;
  forEachLane(lanes, [&](unsigned lane) {
    uint64_t first = addresses[lane] / 4, last = (addresses[lane] + bytes - 1) / 4;
    for (uint64_t word = first; word <= last; ++word) {
      unsigned bank = word % kBanks;
      uint64_t *end = words[bank] + counts[bank];
      if (std::find(words[bank], end, word) != end)
        continue;
      *end = word;
      most = std::max(most, ++counts[bank]);
    }
  });
  return most;
}

/// Accesses of 8 and 16 bytes are made for halves and quarters of a warp.
unsigned countConflicts(const uint64_t *addresses, uint32_t lanes, unsigned bytes) {
  unsigned parts = bytes <= 4 ? 1 : bytes / 4, lanesOfPart = kLanes / parts, conflicts = 0;
  for (unsigned part = 0; part < parts; ++part) {
    uint32_t mask = (lanesOfPart == kLanes ? kAllLanes : (1u << lanesOfPart) - 1)
                    << (part * lanesOfPart % kLanes);
    if (lanes & mask)
      conflicts += countPasses(addresses, lanes & mask, bytes) - 1;
  }
  return conflicts;
}

void countAccesses(Counters &counters, const LaneAddresses &addresses, unsigned bytes,
                   bool isWrite) {
  if (uint32_t lanes = addresses.global) {
    ++counters.globalRequests;
    uint64_t total = uint64_t(bytes) * std::popcount(lanes);
    (isWrite ? counters.globalBytesWritten : counters.globalBytesRead) += total;
    counters.globalSectors += countSectors(addresses.of, lanes, bytes);
  }
  if (uint32_t lanes = addresses.shared) {
    ++counters.sharedRequests;
    counters.sharedConflicts += countConflicts(addresses.of, lanes, bytes);
  }
}

} // namespace tfc::gpu
